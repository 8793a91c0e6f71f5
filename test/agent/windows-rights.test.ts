import { expect, test } from "vitest";
import {
	isTrustedOwner,
	parseSid,
	windowsRights,
} from "../../agent/windows-rights.ts";

const ADA = "S-1-5-21-3623811015-3361044348-30300820-1013";

test.each([
	[`"DESKTOP-1\\ada","${ADA}"\r\n`],
	[`"DESKTOP-1\\S-1-5-18","${ADA}"\r\n`],
	[`${ADA}\r\n`],
])("the SID in %j is found", (text) => {
	expect(parseSid(text)).toBe(ADA);
});

test.each([
	[""],
	["S-1-5-18 or so\r\n"],
	['"ada","Access is denied."'],
])("%j contains no SID, which is an error", (text) => {
	expect(() => parseSid(text)).toThrow(/did not report/);
});

test("the folder may belong to SYSTEM, administrators and the user who installs", () => {
	for (const owner of ["S-1-5-18", "S-1-5-32-544", ADA]) {
		expect(isTrustedOwner(owner, ADA)).toBe(true);
	}
	expect(isTrustedOwner(`${ADA}4`, ADA)).toBe(false);
});

test("earlier rights are removed first, and names of users appear nowhere", () => {
	const folder = "C:\\ProgramData\\Assay Agent";
	const full = (sid: string) => `*${sid}:(OI)(CI)F`;
	expect(windowsRights(folder, ADA)).toEqual([
		[folder, "/reset"],
		[
			folder,
			"/inheritance:r",
			"/grant:r",
			full("S-1-5-18"),
			full("S-1-5-32-544"),
			full(ADA),
		],
	]);
	expect(windowsRights(folder, "S-1-5-18")[1]).toHaveLength(5);
});
