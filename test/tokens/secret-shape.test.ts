import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { redact } from "../../src/log.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
	type SecretType,
} from "../../src/tokens/secret.ts";
import { anyUnicode } from "../support/any-unicode.ts";

const TYPES: SecretType[] = ["pat", "dev", "enr", "enk", "inv", "set", "rst"];
const ALPHABET =
	"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

describe("a new secret", () => {
	test.each(
		TYPES,
	)("of the type %s is well-formed only for this type", (type) => {
		for (let i = 0; i < 500; i++) {
			const secret = makeSecret(type);
			expect(secret).toMatch(new RegExp(`^asy_${type}_[0-9A-Za-z]{46}$`));
			expect(TYPES.filter((t) => isWellFormedSecret(t, secret))).toEqual([
				type,
			]);
		}
	});

	test("never occurs twice, and every position can have every character", () => {
		const secrets = Array.from({ length: 5000 }, () =>
			makeSecret("dev").slice(8, 48),
		);
		expect(new Set(secrets).size).toBe(5000);
		for (let place = 0; place < 40; place++) {
			const used = new Set(secrets.map((secret) => secret[place]));
			expect(used.size).toBe(62);
		}
	});
});

describe("the checksum", () => {
	test("detects every change of a single character", () => {
		const passed = [];
		for (const type of TYPES) {
			const secret = makeSecret(type);
			for (let at = 0; at < secret.length; at++) {
				for (const other of `${ALPHABET}_- `) {
					if (other === secret[at]) continue;
					const changed = secret.slice(0, at) + other + secret.slice(at + 1);
					if (TYPES.some((t) => isWellFormedSecret(t, changed))) {
						passed.push(changed);
					}
				}
			}
		}
		expect(passed).toEqual([]);
	});

	test("detects every swap of two neighbouring characters", () => {
		for (let i = 0; i < 20; i++) {
			const secret = makeSecret("dev");
			for (let at = 0; at + 1 < secret.length; at++) {
				const [a, b] = [secret[at], secret[at + 1]];
				if (a === b) continue;
				const changed = `${secret.slice(0, at)}${b}${a}${secret.slice(at + 2)}`;
				expect(isWellFormedSecret("dev", changed)).toBe(false);
			}
		}
	});

	test("depends on the type, so that no secret passes as another type by its prefix", () => {
		const secret = makeSecret("enr");
		const renamed = secret.replace("_enr_", "_dev_");
		expect(isWellFormedSecret("dev", renamed)).toBe(false);
	});
});

describe("malformed secrets", () => {
	const secret = makeSecret("dev");
	test.each([
		["empty", ""],
		["shorter", secret.slice(0, -1)],
		["longer", `${secret}0`],
		["with a space before", ` ${secret}`],
		["with a line end", `${secret}\n`],
		["in capitals", secret.toUpperCase()],
		["its random part alone", secret.slice(8)],
		["of an unknown type", secret.replace("_dev_", "_abc_")],
		["another product's", `ghp_${secret.slice(8)}`],
		["twice", secret + secret],
	])("%s", (_, text) => {
		expect(isWellFormedSecret("dev", text)).toBe(false);
	});

	test("random text is never well-formed for any type and never throws", () => {
		const text = fc.oneof(
			anyUnicode(),
			fc
				.array(fc.constantFrom(...ALPHABET), { minLength: 46, maxLength: 46 })
				.map((letters) => `asy_dev_${letters.join("")}`),
		);
		fc.assert(
			fc.property(text, (input) => {
				for (const type of TYPES) {
					expect(isWellFormedSecret(type, input)).toBe(false);
				}
			}),
			{ numRuns: 1000 },
		);
	});
});

test("a secret's hash is its SHA-256", () => {
	const secret = makeSecret("pat");
	const expected = createHash("sha256").update(secret, "utf8").digest("hex");
	expect(hashSecret(secret)).toEqual(expected);
});

describe("redaction", () => {
	test("removes every secret from any text and does not change the rest", () => {
		const plain = fc.string().filter((text) => !/[0-9A-Za-z]$|asy_/.test(text));
		fc.assert(
			fc.property(
				plain,
				fc.constantFrom(...TYPES),
				plain,
				(before, type, after) => {
					fc.pre(/^[^0-9A-Za-z_%]/.test(after));
					const secret = makeSecret(type);
					expect(redact(`${before}${secret}${after}${secret}`)).toBe(
						`${before}asy_${type}_[redacted]${after}asy_${type}_[redacted]`,
					);
				},
			),
		);
	});

	test("removes a secret that was cut off or written twice", () => {
		const secret = makeSecret("dev");
		const core = secret.slice(8, 20);
		for (const line of [secret.slice(0, 30), secret + secret, `x${secret}y`]) {
			expect(redact(line)).not.toContain(core);
		}
	});

	test("removes a secret that is written with percent signs, as in a URL", () => {
		const secret = makeSecret("dev");
		const line = redact(`/enroll?token=${secret.replaceAll("_", "%5F")}`);
		expect(line).not.toContain(secret.slice(8));
	});
});
