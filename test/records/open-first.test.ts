import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { listingOf } from "../../src/records/record-filters.ts";
import { recordKinds } from "../../src/registers/all.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import { inputOf, makeReferences } from "../support/record-values.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const work = recordKinds.flatMap((kind) =>
	kind.due ? [{ ...kind, due: kind.due }] : [],
);

test("the four registers of work have the order, and no other register has it", () => {
	expect(work.map(({ table }) => table).sort()).toEqual([
		"continual_improvements",
		"nonconformities",
		"obligations",
		"tasks",
	]);
	const having = recordKinds.filter(
		(kind) => "open_first" in listingOf(kind).orders,
	);
	expect(having).toHaveLength(work.length);
});

describe.each(work)("open_first of $nouns", ({
	kind,
	tool,
	key,
	due,
	table,
}) => {
	const { date, done } = due;
	const order_by = { field: "open_first" };

	beforeAll(async () => {
		const sample = samples.find((one) => one.kind === kind);
		if (!sample) throw new Error(`no sample of ${kind}`);
		const references = await makeReferences(calls, organization_id);
		const input = inputOf(sample, references, "required");
		for (const [day, isDone] of [
			["2026-05-01", true],
			["2026-04-01", false],
			[null, false],
			["2020-01-01", true],
			["9999-12-31", false],
			["2024-02-29", false],
			[null, true],
		] as const) {
			await calls.call(`add${tool.one}`, {
				...input,
				organization_id,
				[date]: day,
				...(isDone && { [done.field]: done.value }),
			});
		}
	});

	async function readAll(input: object) {
		const found: string[] = [];
		let cursor: string | null = null;
		do {
			const page = await calls.call(`list${tool.many}`, {
				organization_id,
				size: 2,
				cursor,
				...input,
			});
			for (const record of page[key.many]) {
				const isDone = record[done.field] === done.value;
				found.push(isDone ? "done" : String(record[date]));
			}
			cursor = page.next_cursor;
		} while (cursor);
		return found;
	}

	const ordered = [
		"2024-02-29",
		"2026-04-01",
		...["9999-12-31", "null"],
		...["done", "done", "done"],
	];

	test("its pages have open records by due date, then those without one, then what is done", async () => {
		const found = await readAll({ order_by });
		// The last day that a date can have stands beside the records without a date.
		expect(found.slice(2, 4).sort()).toEqual(ordered.slice(2, 4));
		expect(found.toSpliced(2, 2)).toEqual(ordered.toSpliced(2, 2));
		const descending = await readAll({
			order_by: { ...order_by, direction: "DESC" },
		});
		expect(descending).toEqual(found.toReversed());
		const as_of = await timeBetweenChanges(calls.database);
		expect(await readAll({ order_by, as_of })).toEqual(found);
	});

	test("each filter by state or due date finds the same records as in the usual order", async () => {
		const choices = (all: string[]) => ({ [done.field]: all });
		const others = ["TODO", "OPEN", "IN_PROGRESS", "NON_COMPLIANT"];
		const found = await calls.call(`list${tool.many}`, { organization_id });
		const open = found[key.many].find((record: Record<string, unknown>) =>
			others.includes(String(record[done.field])),
		)[done.field];
		for (const filter of [
			{ is_open: true },
			{ is_open: false },
			{ [done.field]: done.value },
			{ [done.field]: open },
			choices([done.value]),
			choices([open]),
			choices([open, done.value]),
			{ is_open: true, [done.field]: done.value },
			{ is_open: false, [done.field]: open },
			{ due_from: "2024-03-01" },
			{ due_until: "2024-03-01" },
			{ due_from: "2020-01-01", due_until: "2026-04-01", is_open: true },
			{ [`${date}_from`]: "2026-04-02", is_open: false },
		]) {
			const usual = await readAll({ filter });
			for (const direction of ["ASC", "DESC"]) {
				const given = { filter, order_by: { ...order_by, direction } };
				const label = JSON.stringify(given);
				expect((await readAll(given)).sort(), label).toEqual(usual.sort());
			}
		}
	});

	test("PostgreSQL reads each page from the index, behind row-level security too", async () => {
		const { expression } = listingOf(
			recordKinds.find((one) => one.kind === kind) as never,
		).orders.open_first as { expression: string };
		const client = await calls.database.pool.connect();
		try {
			await client.query("begin");
			await client.query("set local enable_sort = off");
			await client.query("set local enable_seqscan = off");
			await client.query(
				"select set_config('assay.organization_id', $1, true)",
				[organization_id],
			);
			const { rows } = await client.query<{ "QUERY PLAN": string }>(
				`explain select t.id from ${table} t
				where t.organization_id = '${organization_id}'
					and (${expression}, t.id) > ('2026-01-01'::date, '')
				order by ${expression}, t.id limit 3`,
			);
			const plan = rows.map((row) => row["QUERY PLAN"]).join("\n");
			expect(plan).toContain(`using ${table}_open_first`);
			expect(plan).toMatch(/Index Cond: .*ROW\(CASE/);
			expect(plan).not.toMatch(/Sort|Filter: .*ROW/);
		} finally {
			await client.query("rollback");
			client.release();
		}
	});
});
