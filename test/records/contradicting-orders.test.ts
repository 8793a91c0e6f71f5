import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { AnyRecordKind } from "../../src/records/kind.ts";
import { listingOf } from "../../src/records/record-filters.ts";
import { nonconformity } from "../../src/registers/nonconformity.ts";
import { vendor } from "../../src/registers/vendor.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import {
	countedCalls,
	type PlannedCalls,
	rowsLookedUp,
} from "../support/plans.ts";

/** Lists that are filtered by one date and ordered by another. */

const RECORDS = 150;
const FILTERS = 6;
const SIZE = 20;

type Row = Record<string, unknown>;

let calls: Calls;
let plans: PlannedCalls;
beforeAll(async () => {
	calls = await makeCalls();
	plans = countedCalls(calls);
});
afterAll(async () => {
	await plans?.close();
	await calls?.close();
});

/** Returns numbers below `limit` that look random, the same ones in each run. */
function makeRandom() {
	let state = 7;
	return (limit: number) => {
		state = (state * 48_271) % 2_147_483_647;
		return state % limit;
	};
}
const random = makeRandom();
const oneOf = <Value>(values: readonly Value[]) =>
	values[random(values.length)] as Value;
const dayOf = (number: number) =>
	new Date(Date.UTC(2026, 0, 1 + number)).toISOString().slice(0, 10);

async function insert(
	organization: string,
	{ kind, table }: Pick<AnyRecordKind, "kind" | "table">,
	rows: Row[],
): Promise<void> {
	const columns = Object.keys(rows[0] ?? {});
	await calls.database.owner.query(
		`insert into ${table} (organization_id, id, ${columns.join(", ")})
		select $1, r.id, ${columns.map((name) => `r.${name}`).join(", ")}
		from json_populate_recordset(null::${table}, $2) r`,
		[
			organization,
			JSON.stringify(
				rows.map((row) => ({ ...row, id: makeId(organization, kind) })),
			),
		],
	);
}

const timestamps = () => ({
	created_at: `${dayOf(random(40))}T08:00:00Z`,
	updated_at: `${dayOf(40 + random(40))}T08:00:00Z`,
});
const dateOrNone = () => (random(4) > 0 ? dayOf(random(60)) : null);

const makeVendor = (n: number): Row => {
	const start = random(40);
	return {
		...timestamps(),
		name: `Vendor ${(n * 37) % 11}`,
		category: oneOf(["IT", "FINANCE"]),
		archived_at: random(5) > 0 ? null : "2026-03-01T08:00:00Z",
		contract_start_date: oneOf([dayOf(start), null]),
		contract_end_date: oneOf([dayOf(start + random(20)), null]),
		renewal_notice_date: dateOrNone(),
		agreement_status: oneOf(["NONE", "SIGNED"]),
		agreement_signed_on: dateOrNone(),
		risk_rating: "LOW",
		last_review_date: dateOrNone(),
		next_review_date: dateOrNone(),
		certifications: [],
		countries: [],
		services: [],
		data_categories: [],
		subprocessors: [],
		contacts: [],
	};
};
const makeNonconformity = (n: number): Row => ({
	...timestamps(),
	reference_id: `NC-${n}`,
	description: "",
	date_identified: dateOrNone(),
	due_date: dateOrNone(),
	status: oneOf(["OPEN", "IN_PROGRESS", "CLOSED"]),
	severity: oneOf(["MINOR", "MAJOR"]),
});

describe.each([
	{ kind: vendor as AnyRecordKind, make: makeVendor },
	{ kind: nonconformity as AnyRecordKind, make: makeNonconformity },
])("lists of $kind.nouns", ({ kind, make }) => {
	const { orders } = listingOf(kind);
	const dates = Object.keys(kind.fields).filter(
		(name) => kind.fields[name]?.type === "date",
	);
	const choices = Object.keys(kind.fields).filter(
		(name) => kind.fields[name]?.type === "choice",
	);
	let organization_id: string;
	beforeAll(async () => {
		const { pool } = calls.database;
		organization_id = await createOrganization(pool, "Acme");
		const rows = Array.from({ length: RECORDS }, (_, n) => make(n));
		await insert(organization_id, kind, rows);
	});

	/** Reads all pages, and returns the records and the total. */
	async function readAll(input: object) {
		const records: Row[] = [];
		let cursor: string | null = null;
		let total = 0;
		do {
			const by = calls.principal("admin", organization_id);
			const page = await calls.call(
				`list${kind.tool.many}`,
				{ organization_id, size: SIZE, detail: "full", cursor, ...input },
				by,
			);
			records.push(...page[kind.key.many]);
			({ next_cursor: cursor, total } = page);
			expect(page.total_is_exact).toBe(true);
		} while (cursor !== null);
		return { records, total };
	}

	/** Returns a filter by one or two dates, sometimes with a choice or an owner. */
	function makeFilter() {
		const filter: Row = {};
		const tests: ((row: Row) => boolean)[] = [];
		const add = (name: string, value: unknown, has: (row: Row) => boolean) => {
			if (name in filter) return;
			filter[name] = value;
			tests.push(has);
		};
		for (let n = random(2); n < 2; n++) {
			const date = oneOf(dates);
			const day = dayOf(random(50));
			if (random(2) > 0) {
				add(`${date}_from`, day, (row) => String(row[date] ?? "") >= day);
			} else {
				add(`${date}_until`, day, (row) => String(row[date] ?? "9") <= day);
			}
		}
		if (random(3) === 0) {
			const name = oneOf(choices);
			const value = make(0)[name];
			add(name, value, (row) => row[name] === value);
		}
		if (random(4) === 0) add("owner_id", null, (row) => row.owner_id === null);
		return {
			filter,
			matches: (row: Row) => tests.every((has) => has(row)),
		};
	}

	test.each(
		Object.keys(orders).flatMap((field) =>
			["ASC", "DESC"].map((direction) => ({ field, direction })),
		),
	)("by $field $direction, a filter by dates finds the records of the whole list that match, in its order", async (order_by) => {
		const whole = await readAll({ order_by });
		for (let n = 0; n < FILTERS; n++) {
			const { filter, matches } = makeFilter();
			const label = JSON.stringify(filter);
			const impossible = dates.some(
				(date) =>
					String(filter[`${date}_from`] ?? "") >
					String(filter[`${date}_until`] ?? "9"),
			);
			if (impossible) continue;
			const size = oneOf([2, SIZE]);
			const found = await readAll({ order_by, filter, size });
			const wanted = whole.records.filter(matches);
			expect(
				found.records.map(({ id }) => id),
				label,
			).toEqual(wanted.map(({ id }) => id));
			expect(found.total, label).toBe(wanted.length);
		}
	});
});

describe("in a register whose dates follow each other", () => {
	const ENDED = 5_000;
	const RUNNING = 1_000;
	const filter = { next_review_date_from: "2026-01-01" };
	const order_by = { field: "contract_end_date" };
	let organization_id: string;
	beforeAll(async () => {
		organization_id = calls.organizationId;
		const rows = Array.from({ length: ENDED + RUNNING }, (_, n) => {
			const day = n < ENDED ? n - 6_000 : n - ENDED;
			return {
				...makeVendor(n),
				archived_at: null,
				contract_start_date: dayOf(day),
				next_review_date: dayOf(day + 1),
				contract_end_date: dayOf(day + 2),
			};
		});
		await insert(organization_id, vendor, rows);
		await calls.database.owner.query("vacuum (analyze) vendors");
	});

	const list = async (input: object) => {
		const { answer, planned } = await plans.read("listVendors", {
			organization_id,
			...input,
		});
		return {
			days: (answer.vendors as Row[]).map((row) => row.next_review_date),
			next: answer.next_cursor,
			lookedUp: rowsLookedUp(planned, "vendors"),
		};
	};

	test("the first page of those that match does not look up all that stand before them", async () => {
		const first = await list({ filter, order_by });
		expect(first.days.slice(0, 2)).toEqual(["2026-01-02", "2026-01-03"]);
		expect(first.days).toHaveLength(SIZE);
		expect(first.lookedUp).toBeLessThan(RUNNING);
		const next = await list({ filter, order_by, cursor: first.next });
		expect(next.days[0]).toBe("2026-01-22");
		expect(next.lookedUp).toBeLessThan(3 * SIZE);
	});

	test("a date that cannot be later than the order's begins the order at its place", async () => {
		const { days, lookedUp } = await list({
			filter: { contract_start_date_from: "2026-01-01" },
			order_by,
		});
		expect(days[0]).toBe("2026-01-02");
		expect(lookedUp).toBeLessThan(3 * SIZE);
	});

	test("records that stand first look up no others", async () => {
		const { days, lookedUp } = await list({
			filter,
			order_by: { ...order_by, direction: "DESC" },
		});
		expect(days[0]).toBe(dayOf(RUNNING));
		expect(lookedUp).toBeLessThan(3 * SIZE);
	});
});

test("the database refuses a contract or a result that ends before it begins", async () => {
	const dates = [
		[vendor, "contract_start_date", "contract_end_date"],
		["audits", "valid_from", "valid_until"],
	] as const;
	for (const [kind, first, second] of dates) {
		const table = typeof kind === "string" ? kind : kind.table;
		const { rows } = await calls.database.owner.query(
			`select pg_get_constraintdef(oid) as definition from pg_constraint
			where conrelid = $1::regclass and contype = 'c' and convalidated`,
			[table],
		);
		expect(rows.map(({ definition }) => definition)).toContain(
			`CHECK ((${first} <= ${second}))`,
		);
	}
});
