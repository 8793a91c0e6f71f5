import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
	ID_KINDS,
	type IdKind,
	makeId,
	makeIdWithoutTenant,
	makeOrganizationId,
	NO_TENANT_PREFIX,
	parseId,
} from "../src/id.ts";
import { anyUnicode } from "./support/any-unicode.ts";

const KINDS = Object.keys(ID_KINDS) as IdKind[];
const anyKind = fc.constantFrom(...KINDS);
const anyBytes = fc.uint8Array({ minLength: 24, maxLength: 24 });

test("the kinds that agents and clients rely on have fixed numbers", () => {
	expect(ID_KINDS).toMatchObject({
		organization: 0,
		framework: 1,
		measure: 2,
		task: 3,
		vendor: 7,
		document: 10,
		control: 14,
		risk: 15,
		asset: 18,
		datum: 19,
		audit: 20,
		obligation: 29,
		device: 107,
		device_posture: 108,
		enrollment_token: 109,
		device_posture_report: 110,
	});
});

test("every kind has its own number, which is small enough not to change the tenant's prefix", () => {
	const numbers = Object.values(ID_KINDS);
	expect(new Set(numbers).size).toBe(numbers.length);
	expect(Math.max(...numbers)).toBeLessThan(16_384);
});

describe("a new id", () => {
	test("is 8 bytes of tenant, 2 of kind, 8 of Unix milliseconds and 6 random ones", () => {
		const organization = Buffer.from(makeOrganizationId(), "base64url");
		const before = BigInt(Date.now());
		const text = makeId(organization.toString("base64url"), "device");
		const after = BigInt(Date.now());
		expect(text).toMatch(/^[A-Za-z0-9_-]{32}$/);
		const bytes = Buffer.from(text, "base64url");
		expect(bytes).toHaveLength(24);
		expect(bytes.subarray(0, 8)).toEqual(organization.subarray(0, 8));
		expect(bytes.readUInt16BE(8)).toBe(107);
		expect(bytes.readBigUInt64BE(10)).toBeGreaterThanOrEqual(before);
		expect(bytes.readBigUInt64BE(10)).toBeLessThanOrEqual(after);
	});

	test("can be parsed into its parts, for any kind and organization", () => {
		fc.assert(
			fc.property(anyKind, (kind) => {
				const organization = makeOrganizationId();
				const tenant = parseId(organization)?.tenant;
				expect(parseId(organization)).toMatchObject({ kind: "organization" });
				expect(parseId(makeId(organization, kind))).toMatchObject({
					kind,
					tenant,
					prefix: organization.slice(0, 11),
				});
				// Any id of the tenant can stand for the organization.
				const sibling = makeId(makeId(organization, "risk"), kind);
				expect(parseId(sibling)?.tenant).toBe(tenant);
			}),
		);
	});

	test("is unique, even if many are generated in one millisecond", () => {
		const organization = makeOrganizationId();
		const ids = new Set(
			Array.from({ length: 20_000 }, () => makeId(organization, "device")),
		);
		expect(ids.size).toBe(20_000);
	});

	test("does not begin with a hyphen, which a command takes for an option", () => {
		const ids = Array.from({ length: 2_000 }, makeOrganizationId);
		expect(ids.filter((id) => id.startsWith("-"))).toEqual([]);
	});

	test("without a tenant has a prefix that no organization has", () => {
		const id = makeIdWithoutTenant("device_posture_report");
		expect(parseId(id)).toMatchObject({
			prefix: NO_TENANT_PREFIX,
			tenant: "0".repeat(16),
		});
		for (let i = 0; i < 1000; i++) {
			expect(makeOrganizationId().slice(0, 11)).not.toBe(NO_TENANT_PREFIX);
		}
	});
});

describe("parsing", () => {
	test("accepts every tenant, known kind, time and random part, and loses nothing", () => {
		fc.assert(
			fc.property(anyBytes, anyKind, (raw, kind) => {
				const bytes = Buffer.from(raw);
				bytes.writeUInt16BE(ID_KINDS[kind], 8);
				const text = bytes.toString("base64url");
				expect(parseId(text)).toEqual({
					tenant: bytes.toString("hex", 0, 8),
					kind,
					madeAtMs: Number(bytes.readBigUInt64BE(10)),
					prefix: text.slice(0, 11),
				});
			}),
		);
	});

	test("rejects every unknown kind", () => {
		const known = new Set<number>(Object.values(ID_KINDS));
		const bytes = Buffer.from(makeOrganizationId(), "base64url");
		const wrong = [];
		for (let kind = 0; kind < 65_536; kind++) {
			bytes.writeUInt16BE(kind, 8);
			const parsed = parseId(bytes.toString("base64url"));
			if ((parsed !== undefined) !== known.has(kind)) wrong.push(kind);
		}
		expect(wrong).toEqual([]);
	});

	test("rejects any other length and any other character", () => {
		const id = makeId(makeOrganizationId(), "device");
		for (const text of [
			"",
			id.slice(1),
			id.slice(0, -1),
			`${id}A`,
			` ${id}`,
			`${id}\n`,
			`${id.slice(0, -1)}\n`,
			`${id}=`,
			`${id.slice(0, -1)}=`,
			`${id.slice(0, -1)}+`,
			`${id.slice(0, -1)}/`,
			`${id.slice(0, -1)} `,
			`${id.slice(0, -1)}é`,
			`${id.slice(0, -2)}😀`,
		]) {
			expect(parseId(text), JSON.stringify(text)).toBeUndefined();
		}
	});

	test("never throws, and accepts only one spelling of each id", () => {
		const text = fc.oneof(
			anyUnicode(),
			fc.string({ minLength: 32, maxLength: 32 }),
			fc.base64String({ minLength: 32, maxLength: 32 }),
		);
		fc.assert(
			fc.property(text, (input) => {
				if (parseId(input) === undefined) return;
				expect(Buffer.from(input, "base64url").toString("base64url")).toBe(
					input,
				);
			}),
			{ numRuns: 500 },
		);
	});
});
