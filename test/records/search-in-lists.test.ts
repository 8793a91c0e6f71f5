import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";

// A search first reads some hundred rows of the list, and then asks the index of texts. So these
// lists are longer than that.

const OTHERS = 400;
const ZEBRAS = 30;
const A_CALL = 50;

let calls: Calls;
let ada: string;
beforeAll(async () => {
	calls = await shareCalls();
	ada = (
		await calls.call("addPeople", {
			full_name: "Ada Socrates",
			primary_email_address: "ada@example.com",
			kind: "EMPLOYEE",
		})
	).people.id;
	const risk = (name: string, owner_id: string | null) => ({
		name,
		owner_id,
		category: "Animals",
		treatment: "ACCEPTED",
		inherent_likelihood: 1,
		inherent_impact: 1,
	});
	const records = [
		...Array.from({ length: ZEBRAS }, (_, n) => risk(`Zebra ${n}`, ada)),
		risk("Zebra without an owner", null),
		risk("Zebra on socks", null),
		...Array.from({ length: OTHERS }, (_, n) => risk(`Horse ${n}`, ada)),
	];
	for (let at = 0; at < records.length; at += A_CALL) {
		await calls.call("addRecords", {
			kind: "risk",
			records: records.slice(at, at + A_CALL),
		});
	}
});
afterAll(() => calls.close());

async function allPages(query: string, field: string, direction: string) {
	const names: string[] = [];
	const totals: number[] = [];
	let cursor: string | null = null;
	do {
		const page = await calls.call("listRisks", {
			cursor,
			order_by: { field, direction },
			filter: { query },
		});
		names.push(...page.risks.map(({ name }: { name: string }) => name));
		totals.push(page.total);
		cursor = page.next_cursor;
	} while (cursor);
	return { names, totals: new Set(totals) };
}

test.each([
	["created_at", "ASC"],
	["created_at", "DESC"],
	["name", "ASC"],
	["name", "DESC"],
])("one word in the text and one in the owner's name are found together, by %s %s", async (field, direction) => {
	const { names, totals } = await allPages("zebra soc", field, direction);
	expect(names.toSorted()).toEqual(
		[
			...Array.from({ length: ZEBRAS }, (_, n) => `Zebra ${n}`),
			"Zebra on socks",
		].toSorted(),
	);
	expect(totals).toEqual(new Set([ZEBRAS + 1]));
});

test("words of the owner's name alone find all records of the owner", async () => {
	const { names, totals } = await allPages("ada", "name", "DESC");
	expect(names).toHaveLength(OTHERS + ZEBRAS);
	expect(totals).toEqual(new Set([OTHERS + ZEBRAS]));
});

test("a word that no record has finds nothing, also beside the owner's name", async () => {
	expect((await allPages("unicorn soc", "name", "ASC")).names).toEqual([]);
	expect((await allPages("unicorn", "name", "ASC")).names).toEqual([]);
});
