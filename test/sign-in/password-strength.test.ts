import { readFile } from "node:fs/promises";
import { expect, test } from "vitest";
import {
	COMMON_PASSWORDS_FILE,
	DIGEST_BYTES,
} from "../../src/sign-in/common-passwords.ts";
import { weaknessOf } from "../../src/sign-in/password-strength.ts";

const ABOUT = [
	"ada.lovelace@example.com",
	"Ada Lovelace",
	"Analytical Engines",
];

test("a password that a guesser tries first is rejected", () => {
	for (const password of [
		"aaaaaaaaaaaa",
		"ababababababab",
		"123456789012",
		"987654321098",
		"qwertyuiop12",
		"1qaz2wsx3edc",
		"qwerty123456",
		"abcdefghijkl",
		"password1234",
		"Password2026!",
		"P@ssw0rd1234",
		"welcome-12345",
		"passwordpassword",
		"changemechangeme",
		"Summer2026!!!",
		"iloveyou12345",
		"administrator1",
		"assay-assay-1",
		"adalovelace1815",
		"AnalyticalEngines1",
		"lovelace@example",
		// These words are in the list of the most used passwords.
		"unbelievable",
		"Intelligence",
		"supernatural2026",
		"123qweasdzxc",
		"ghbdtnrfrltkf",
		"needforspeed",
		"PeanutButter!",
		// These passwords contain letters in another form, which hashing turns into ordinary ones.
		"ｐａｓｓｗｏｒｄ１２３４",
		"𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝𝟏𝟐𝟑𝟒",
		"ⓟassword1234",
		"Ａｄａlovelace1815",
		// These passwords contain invisible characters: a zero-width space, a soft hyphen, a variation
		// selector and a filler.
		"p\u200Bassword1234",
		"pa\u00ADssword1234",
		"passw\uFE0Ford1234",
		"pass\u3164word1234",
	]) {
		expect(weaknessOf(password, ABOUT), password).toBeTypeOf("string");
	}
});

test("a password that a user has invented is accepted, even if it contains common words", () => {
	for (const password of [
		"correct horse battery",
		"the first password",
		"another long password",
		"vV8$kq2!mPz0",
		"kein Regen im Mai",
		"ma grand-mère danse",
		"пароль из трёх слов",
		"x7Kp-Qm2w-9Tzd",
	]) {
		expect(weaknessOf(password, ABOUT), password).toBeUndefined();
	}
});

test("the list contains the 10,000 most used passwords of permitted length, sorted and without duplicates", async () => {
	const known = await readFile(COMMON_PASSWORDS_FILE);
	const digests = Array.from({ length: known.length / DIGEST_BYTES }, (_, at) =>
		known.toString("hex", at * DIGEST_BYTES, (at + 1) * DIGEST_BYTES),
	);
	expect(new Set(digests).size).toBe(10_000);
	expect(digests).toEqual(digests.toSorted());
});
