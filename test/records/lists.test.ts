import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	isNullable,
	makeReferences,
	type References,
	sampleValue,
	typeOf,
} from "../support/record-values.ts";

// This file reads the list of every register page by page.

const COUNT = 36;

let calls: Calls;
beforeAll(async () => {
	calls = await shareCalls();
});
afterAll(() => calls.close());

// biome-ignore lint/suspicious/noExplicitAny: a record's fields depend on its kind.
type Answer = any;

test("the samples contain every filter and every order of every kind", () => {
	for (const sample of samples) {
		const known = recordKinds.find(({ kind }) => kind === sample.kind);
		expect(known?.filters, sample.kind).toEqual(sample.filters);
		expect(Object.keys(known?.otherFilters ?? {}), sample.kind).toEqual(
			sample.otherFilters ?? [],
		);
		expect(Object.keys(known?.orders ?? {}), sample.kind).toEqual(
			sample.orders,
		);
	}
});

const NAMES = [
	"Émile",
	"emile",
	"Zoë",
	"zoe b",
	"apple",
	"Apple",
	"100%",
	"_x",
	"10",
	"9",
];
const DAYS = ["2026-01-31", null, "2024-02-29", "2026-12-31"];

/**
 * Returns the value of the nth record. Values occur more than once, so that orders and filters have
 * ties.
 */
function nth(
	sample: (typeof samples)[number],
	field: string,
	n: number,
	references: References,
): unknown {
	const type = typeOf(sample, field);
	if (Array.isArray(type)) return type[n % type.length];
	if (type === "1-5") return 1 + (n % 5);
	if (type === "amount") return n % 7;
	if (type === "reference id")
		return `${NAMES[n % NAMES.length]} ${n % 3} ${n}`;
	if (type === "email") return `user-${n % 4}@example.com`;
	if (type === "end date") return DAYS[n % DAYS.length];
	if (type === "start date" || (isNullable(sample, field) && n % 3 === 0))
		return null;
	if (type === "name" || type === "required text")
		return NAMES[n % NAMES.length];
	return sampleValue(sample, field, references, n % 2 === 0 ? 0 : 1);
}

/**
 * Returns a text by which values have the service's order: without case and accents, by code point,
 * with numbers by their value.
 */
const fold = (text: string) =>
	text
		.normalize("NFD")
		.replace(/\p{M}/gu, "")
		.toLowerCase()
		.replace(/\d+/g, (digits) => digits.padStart(10, "0"));

function compare(a: unknown, b: unknown): number {
	// A missing date comes after all other dates.
	const [x, y] = [a, b].map((value) =>
		value === null
			? "9999-99"
			: typeof value === "string"
				? fold(value)
				: value,
	) as [string, string];
	return x < y ? -1 : x > y ? 1 : 0;
}

describe.for(samples)("$kind", (sample) => {
	const { one, many, keys } = sample;
	const tool = `list${many}`;
	let organization_id: string;
	let references: References;
	let by: Principal;
	let all: Answer[];
	const list = (input: object) =>
		calls.call(tool, { organization_id, ...input }, by);

	beforeAll(async () => {
		organization_id = await createOrganization(calls.database.pool, one);
		references = await makeReferences(calls, organization_id);
		by = calls.principal("admin", organization_id);
		const { [keys]: before } = await list({ size: 100 });
		for (let n = before.length; n < COUNT; n++) {
			const input = Object.fromEntries(
				Object.keys(sample.fields).map((field) => [
					field,
					nth(sample, field, n, references),
				]),
			);
			if (sample.kind === "control")
				input.exclusion_justification = "none of ours";
			await calls.call(`add${one}`, { organization_id, ...input }, by);
		}
		({ [keys]: all } = await list({ size: 100 }));
		expect(all).toHaveLength(COUNT);
	});

	async function readAll(input: object, size = 8): Promise<Answer[]> {
		const records = [];
		let cursor: string | null = null;
		do {
			const page: Answer = await list({ ...input, size, cursor });
			expect(page[keys].length).toBeLessThanOrEqual(size);
			records.push(...page[keys]);
			cursor = page.next_cursor;
		} while (cursor);
		return records;
	}

	const orders = ["created_at", "updated_at", ...sample.orders];
	for (const field of orders) {
		for (const direction of ["ASC", "DESC"] as const) {
			test(`the pages by ${field} ${direction} contain all ${COUNT} records in order, each once`, async () => {
				const records = await readAll({ order_by: { field, direction } });
				expect(new Set(records.map(({ id }) => id)).size).toBe(COUNT);
				expect(records).toHaveLength(COUNT);
				const sign = direction === "ASC" ? 1 : -1;
				for (const [index, record] of records.slice(1).entries()) {
					const before = records[index];
					const order = sign * compare(before[field], record[field]);
					expect(
						order,
						`${before[field]} then ${record[field]}`,
					).toBeLessThanOrEqual(0);
					// Times are returned in milliseconds but ordered by microseconds.
					if (order === 0 && !field.endsWith("_at")) {
						expect(sign * (before.id < record.id ? -1 : 1)).toBe(-1);
					}
				}
			});
		}
	}

	test("a page contains the 20 newest records by default, and all pages together contain every record", async () => {
		const { [keys]: page, next_cursor } = await list({});
		expect(page).toEqual(all.slice(0, 20));
		expect(next_cursor).toEqual(expect.any(String));
		expect(await readAll({}, 7)).toEqual(all);
		expect((await list({ size: COUNT })).next_cursor).toBeNull();
		expect((await list({ size: COUNT - 1 })).next_cursor).not.toBeNull();
	});

	for (const field of sample.filters) {
		test(`the filter ${field} keeps the records with that value${isNullable(sample, field) ? ", null included" : ""}`, async () => {
			const values = new Set(all.map((record) => record[field]));
			expect(values.size).toBeGreaterThan(1);
			expect(values.has(null)).toBe(isNullable(sample, field));
			for (const value of values) {
				const found = await readAll({ filter: { [field]: value } });
				const isSame = (other: unknown) =>
					typeof value === "string" && typeOf(sample, field) === "name"
						? fold(String(other)) === fold(value)
						: other === value;
				expect(found).toEqual(all.filter((record) => isSame(record[field])));
			}
			if (!isNullable(sample, field)) {
				const refused = await calls.refusal(
					tool,
					{ organization_id, filter: { [field]: null } },
					by,
				);
				expect(refused.fields).toEqual([`filter.${field}`]);
			}
			const refused = await calls.refusal(
				tool,
				{ organization_id, filter: { [field]: 7 } },
				by,
			);
			expect(refused.fields).toEqual([`filter.${field}`]);
		});
	}

	test("several filters keep the records that match all of them, in any order", async () => {
		const given = Object.fromEntries(
			sample.filters.map((field) => [field, all[3][field]]),
		);
		const found = await readAll(
			{ filter: given, order_by: { field: orders.at(-1), direction: "ASC" } },
			3,
		);
		const expected = all.filter((record) =>
			sample.filters.every((field) => record[field] === given[field]),
		);
		expect(found.map(({ id }) => id).sort()).toEqual(
			expected.map(({ id }) => id).sort(),
		);
	});

	test("the pages neither lose nor repeat a record when others are added or deleted in between", async () => {
		const first = await list({ size: 10 });
		const { id } = (
			await calls.call(
				`add${one}`,
				{ organization_id, ...inputOf(sample, references, "required") },
				by,
			)
		)[sample.key];
		const second = await list({ size: 10, cursor: first.next_cursor });
		expect(second[keys]).toEqual(all.slice(10, 20));
		await calls.call(`delete${one}`, { id }, by);
	});
});

test("numbers in titles are ordered by value: A.5.2 comes before A.5.10", async () => {
	const organization_id = await createOrganization(calls.database.pool, "Acme");
	const by = calls.principal("admin", organization_id);
	const { framework } = await calls.call(
		"addFramework",
		{ organization_id, name: "ISO 27001" },
		by,
	);
	for (const section_title of ["A.5.10", "A.5.2", "a.12", "A.5.1", "Annex"]) {
		const control = { framework_id: framework.id, section_title, name: "x" };
		await calls.call("addControl", { organization_id, ...control }, by);
	}
	const { controls } = await calls.call(
		"listControls",
		{
			organization_id,
			filter: { framework_id: framework.id },
			order_by: { field: "section_title" },
		},
		by,
	);
	expect(controls.map((control: Answer) => control.section_title)).toEqual([
		"A.5.1",
		"A.5.2",
		"A.5.10",
		"a.12",
		"Annex",
	]);
});
