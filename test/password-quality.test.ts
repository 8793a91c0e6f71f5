import { expect, test } from "vitest";
import { weaknessOf } from "../src/access/password-quality.ts";

const ABOUT = [
	"ada.lovelace@example.com",
	"Ada Lovelace",
	"Analytical Engines",
];

test("a password that a guesser tries first is refused", () => {
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
	]) {
		expect(weaknessOf(password, ABOUT), password).toBeTypeOf("string");
	}
});

test("a password that somebody has thought of is taken, also with common words in it", () => {
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
