import { expect, test } from "vitest";
import { deviceWords } from "../../src/sign-in/browser-words.ts";

test("a session shows its browser and system, whatever other browsers the user agent mentions", () => {
	const mac = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
	const webkit = "AppleWebKit/537.36 (KHTML, like Gecko)";
	for (const [userAgent, words] of [
		[`${mac} ${webkit} Chrome/149.0 Safari/537.36`, "Chrome on macOS"],
		[`${mac} ${webkit} Version/19.0 Safari/605.1.15`, "Safari on macOS"],
		[
			`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${webkit} Chrome/149.0 Safari/537.36 Edg/149.0`,
			"Edge on Windows",
		],
		[
			"Mozilla/5.0 (X11; Linux x86_64; rv:150.0) Gecko/20100101 Firefox/150.0",
			"Firefox on Linux",
		],
		[
			`Mozilla/5.0 (Linux; Android 16; Pixel 9) ${webkit} Chrome/149.0 Mobile Safari/537.36`,
			"Chrome on Android",
		],
		[
			`Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) ${webkit} CriOS/149.0 Mobile Safari/604.1`,
			"Chrome on iPhone",
		],
		["curl/8.5.0", "curl"],
		["something else", "something else"],
		[null, "Unknown browser"],
	] as const) {
		expect(deviceWords(userAgent)).toBe(words);
	}
});
