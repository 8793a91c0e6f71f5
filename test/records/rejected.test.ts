import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	makeReferences,
	REFERENCED,
	type References,
	sampleValue,
	typeOf,
} from "../support/record-values.ts";

// This file tests values that no field accepts, when adding and when updating. A rejected call
// writes nothing.

let calls: Calls;
let foreign: References;
beforeAll(async () => {
	calls = await shareCalls();
	foreign = await makeReferences(calls, calls.organizationId);
});
afterAll(() => calls.close());

const CONTROL = [
	"a\u0000b",
	"escape \u001b[31m",
	"delete \u007f",
	"next \u0085 line",
];
const SURROGATES = ["\ud800", "a\udfffb"];
const WRONG: Record<string, unknown[]> = {
	name: [
		"",
		"   ",
		"x".repeat(1001),
		"two\nlines",
		...CONTROL,
		...SURROGATES,
		5,
		{},
	],
	check: ["", 5, ["SCREEN_LOCK"], "x".repeat(201), "NO_SUCH_CHECK"],
	percent: [0, 101, 1.5, "50"],
	months: [0, 121, 1.5, "12"],
	checks: ["SCREEN_LOCK", [""], [5], ["x".repeat(201)], ["NO_SUCH_CHECK"]],
	text: ["x".repeat(5001), ...CONTROL, ...SURROGATES, 5, []],
	"required text": ["", " \n ", "x".repeat(5001), ...CONTROL, ...SURROGATES],
	url: [
		"javascript:alert(1)",
		"JavaScript:alert(1)",
		"data:text/html,x",
		"ftp://example.com",
		"example.com",
		"//example.com",
		"https://",
		"https:///e.com",
		"https:e.com",
		"https:/e.com",
		"https:\\\\e.com",
		" https://e.com",
		"https://e.com ",
		"https://e.com/a b",
		"https://e.com/\u00a0",
		"https://?q",
		"https://[",
		"",
		`https://example.com/${"x".repeat(2048)}`,
		"https://example.com/\u0000",
		"https://example.com/\n",
		...SURROGATES,
	],
	email: [
		"",
		"ada",
		"ada@example",
		"@example.com",
		"a da@example.com",
		"a@b@example.com",
		"a@example.com\u0000",
		"Ada <ada@example.com>",
		"\ud800@example.com",
	],
	"start date": [
		"2026-02-30",
		"2025-02-29",
		"2026-13-01",
		"2026-00-10",
		"2026-1-1",
		"26-01-01",
		"2026-01-01T00:00:00Z",
		"0000-01-01",
		"today",
		"",
		20260101,
	],
	"end date": ["2026-02-30", "2026-04-31", "infinity", "2026-12-32", ""],
	datetime: [
		"2026-01-01",
		"2026-01-01T10:00:00",
		"2026-02-30T10:00:00Z",
		"",
		0,
	],
	"1-5": [0, 6, -1, 2.5, "3", 1e9, true],
	amount: [-1, 1.5, 2_147_483_648, "1", Number.MAX_SAFE_INTEGER],
	"reference id": ["", " ", "x".repeat(101), "a\nb", "\u0000", "\ud800"],
	names: [
		[""],
		["x".repeat(201)],
		["a", "a"],
		["a\u0000"],
		["\ud800"],
		"a",
		Array.from({ length: 101 }, String),
		[5],
	],
	emails: [
		["ada"],
		["a@example.com", "a@example.com"],
		["a@example.com\n"],
		"a@example.com",
	],
	countries: [["de"], ["XX"], ["UK"], ["DE", "DE"], ["Germany"], [""], "DE"],
};

describe.for(samples)("$kind", (sample) => {
	const { one, key } = sample;
	let organization_id: string;
	let references: References;
	let by: Principal;
	beforeAll(async () => {
		organization_id = await createOrganization(calls.database.pool, one);
		references = await makeReferences(calls, organization_id);
		by = calls.principal("admin", organization_id);
	});

	/** Returns everything in the organization that a call could change. */
	async function written(): Promise<unknown> {
		const { rows } = await calls.database.owner.query(
			`select
				(select count(*) from ${sample.table} where organization_id = $1) as records,
				(select max(updated_at) from ${sample.table} where organization_id = $1) as last,
				(select count(*) from audit_entries where organization_id = $1) as entries`,
			[organization_id],
		);
		return rows[0];
	}

	/**
	 * Tries the values for a field when adding and when updating. Each must be rejected with an error
	 * that names the field.
	 */
	async function refuses(
		field: string,
		values: unknown[],
		message?: string,
	): Promise<void> {
		const input = inputOf(sample, references, "all");
		const { id } = (
			await calls.call(`add${one}`, { organization_id, ...input }, by)
		)[key];
		const before = await written();
		for (const value of values) {
			for (const [name, rest] of [
				[
					`add${one}`,
					{ organization_id, ...inputOf(sample, references, "all") },
				],
				[`update${one}`, { id }],
			] as const) {
				const refused = await calls.refusal(
					name,
					{ ...rest, [field]: value },
					by,
				);
				const what = `${name} ${field} ${JSON.stringify(value).slice(0, 60)}`;
				expect(refused.code, what).toBe("bad_request");
				expect(refused.fields.length, what).toBeGreaterThan(0);
				for (const named of refused.fields) {
					expect(named.replace(/\[\d+\]$|\.\d+$/, ""), what).toBe(field);
				}
				if (message) expect(refused.message, what).toContain(message);
			}
		}
		expect(await written()).toEqual(before);
	}

	for (const field of Object.keys(sample.fields)) {
		const type = typeOf(sample, field);
		if (Array.isArray(type)) {
			test(`${field}: a value that is not in the enum, and the error lists the permitted ones`, () =>
				refuses(
					field,
					["NONSENSE", "", String(type[0]).toLowerCase(), 1, [type[0]]],
					type.join(", ").slice(0, 60),
				));
		} else if (type === "vendors" || type === "several people") {
			const kind = type === "vendors" ? "vendor" : "people";
			const noun = kind === "people" ? "person" : kind;
			test(`${field}: malformed ids, and ids of another kind, of missing records or of another organization`, async () => {
				const [one] = references[kind];
				const missing = makeId(organization_id, kind);
				await refuses(field, [["nonsense"], [one, one], one]);
				await refuses(
					field,
					[[references.framework[0]]],
					`must be the id of a ${noun}`,
				);
				await refuses(
					field,
					[[one, missing]],
					`there is no ${noun} ${missing}`,
				);
				await refuses(
					field,
					[[foreign[kind][0]]],
					`there is no ${noun} ${foreign[kind][0]}`,
				);
			});
		} else if (REFERENCED.some((kind) => kind === type)) {
			const kind = type as (typeof REFERENCED)[number];
			const noun = kind === "people" ? "person" : kind;
			const other = kind === "vendor" ? "people" : "vendor";
			test(`${field}: a malformed id, and one of another kind, of a missing record or of another organization`, async () => {
				const missing = makeId(organization_id, kind);
				await refuses(field, ["nonsense", "", 5, "\u0000", `${missing}A`]);
				await refuses(
					field,
					[references[other][0], organization_id],
					`must be the id of a${kind === "audit" ? "n" : ""} ${noun}`,
				);
				await refuses(field, [missing], `there is no ${noun} ${missing}`);
				await refuses(
					field,
					[foreign[kind][0]],
					`there is no ${noun} ${foreign[kind][0]}`,
				);
			});
		} else {
			test(`${field}: values that are not of type ${type}`, () => {
				const wrong = WRONG[type];
				if (!wrong) throw new Error(`no wrong values of ${type}`);
				return refuses(field, wrong);
			});
		}
	}

	test("a member may add and change but not delete, a viewer may do neither, and both may read", async () => {
		const member = calls.principal("member", organization_id);
		const viewer = calls.principal("viewer", organization_id);
		const input = () => ({
			organization_id,
			...inputOf(sample, references, "all"),
		});
		const record = (await calls.call(`add${one}`, input(), member))[key];
		const { id } = record;
		const [field] = Object.keys(sample.fields) as [string];
		const change = { id, [field]: sampleValue(sample, field, references, 1) };
		const changed = (await calls.call(`update${one}`, change, member))[key];
		expect(changed[field]).toEqual(change[field]);
		for (const [name, given, who] of [
			[`delete${one}`, { id }, member],
			[`delete${one}`, { id }, viewer],
			[`add${one}`, input(), viewer],
			[`update${one}`, { id, [field]: record[field] }, viewer],
		] as const) {
			expect((await calls.refusal(name, given, who)).code, name).toBe(
				"forbidden",
			);
		}
		for (const who of [member, viewer]) {
			expect((await calls.call(`get${one}`, { id }, who))[key]).toEqual(
				changed,
			);
		}
	});

	test("an id of another organization is not found, with the same message as a missing one", async () => {
		const { id } = (
			await calls.call(
				`add${one}`,
				{ organization_id, ...inputOf(sample, references, "all") },
				by,
			)
		)[key];
		const stranger = calls.principal("admin");
		const missing = makeId(calls.organizationId, sample.kind as "risk");
		const nowhere = makeId(
			calls.organizationId.replace(/^.{10}/, "0123456789"),
			sample.kind as "risk",
		);
		const before = await written();
		for (const verb of ["get", "update", "delete"]) {
			const answers = [];
			for (const tried of [id, missing, nowhere]) {
				const refused = await calls.refusal(
					`${verb}${one}`,
					{ id: tried },
					stranger,
				);
				answers.push({
					...refused,
					message: refused.message.replace(tried, "…"),
				});
			}
			expect(answers[0]).toMatchObject({ code: "not_found" });
			expect(
				new Set(answers.map((answer) => JSON.stringify(answer))).size,
				verb,
			).toBe(1);
		}
		expect(
			(await calls.refusal(`list${sample.many}`, { organization_id }, stranger))
				.code,
		).toBe("forbidden");
		expect(
			(await calls.refusal(`add${one}`, { organization_id }, stranger)).code,
		).toBe("forbidden");
		expect(await written()).toEqual(before);
	});
});
