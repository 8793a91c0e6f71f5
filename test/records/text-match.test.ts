import { afterAll, beforeAll, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

/**
 * The number of records is large enough for all three ways of finding words: reading on in the
 * list, using the index, and reading everything.
 */
const RISKS = 1_800;

let calls: Calls;
beforeAll(async () => {
	calls = await shareCalls();
	const ids = Array.from({ length: RISKS }, () =>
		makeId(calls.organizationId, "risk"),
	);
	await calls.database.owner.query(
		`insert into risks (organization_id, id, name, category, treatment,
			inherent_likelihood, inherent_impact, residual_likelihood, residual_impact)
		select $1, id, 'everywhere ' || n
			|| case when n % 4 = 0 then ' sometimes' else '' end
			|| case when n > 500 then ' late' else '' end
			|| case when n = 1700 then ' onlyonce' else '' end,
			'Test', 'ACCEPTED', 1, 1, 1, 1
		from unnest($2::text[]) with ordinality u (id, n)`,
		[calls.organizationId, ids],
	);
});
afterAll(() => calls.close());

/** Returns the numbers of the risks that are found, read page by page. */
async function find(
	query: string,
	order_by: object = { field: "created_at" },
): Promise<number[]> {
	const found: number[] = [];
	let cursor: string | null = null;
	do {
		const page: { risks: { name: string }[]; next_cursor: string | null } =
			await calls.call("listRisks", {
				organization_id: calls.organizationId,
				size: 100,
				cursor,
				filter: { query },
				order_by,
			});
		found.push(...page.risks.map(({ name }) => Number(name.split(" ")[1])));
		cursor = page.next_cursor;
	} while (cursor);
	return found;
}

const all = Array.from({ length: RISKS }, (_, index) => index + 1);

test.each([
	["in every record", "everywhere", () => true],
	["in every fourth record", "sometimes", (n: number) => n % 4 === 0],
	["in most, but none of those read first", "late", (n: number) => n > 500],
	["in a single one", "onlyonce", (n: number) => n === 1700],
	["in none", "nowhere", () => false],
	["two, each common", "late some", (n: number) => n > 500 && n % 4 === 0],
])("a search for words (%s) finds every record that contains them, page by page", async (_, query, has) => {
	const found = await find(query);
	expect(found.sort((a, b) => a - b)).toEqual(all.filter(has));
});

test.each([
	{ field: "name", direction: "DESC" },
	{ field: "inherent_risk_score" },
	{ field: "updated_at", direction: "DESC" },
])("a search keeps the order of the list %j", async (order) => {
	const listed = await find("", order);
	for (const [query, has] of [
		["sometimes", (n: number) => n % 4 === 0],
		["late", (n: number) => n > 500],
		["late 7", (n: number) => n > 500 && /7/.test(String(n))],
	] as const) {
		expect(await find(query, order)).toEqual(listed.filter(has));
	}
});
