/**
 * Texts of settings files, and the value of `A` that systemd reads from each.
 * `npm run verify:release` compares them with a real systemd.
 */
export const ENVIRONMENT_SAMPLES: readonly (readonly [string, string])[] = [
	["A=b", "b"],
	["A = b c \t", "b c"],
	["A=b # c", "b # c"],
	["A=pa$$w#rd'x\"y", "pa$$w#rd'x\"y"],
	['A="b c"', "b c"],
	["A='b \\n \"c\"'", 'b \\n "c"'],
	['A="b \\" \\$ \\\\ \\n"', 'b " $ \\ \\n'],
	["A=\"b\"'c' d", "bcd"],
	["A=b\\ c\\\\", "b c\\"],
	["A=b\\\nc", "bc"],
	['A="b\nc"', "b\nc"],
	["A=b\\ ", "b "],
	["A=", ""],
	["A=b\r\nB=c\r\n", "b"],
	["A=b\nA=c", "c"],
	["# A=1 \\\nA=2\nA=b", "b"],
];
