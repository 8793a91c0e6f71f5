import { Readable } from "node:stream";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
	fromLocalTime,
	toLocalTime,
} from "../../console/src/pages/registers/local-time.ts";
import { lastDays } from "../../console/src/parts/days.ts";
import { columnsFor } from "../../src/csv/columns.ts";
import { readFile } from "../../src/csv/import-file.ts";
import { planImport } from "../../src/csv/import-plan.ts";
import { readTable } from "../../src/csv/read-table.ts";
import { invoke, type Services } from "../../src/invoke.ts";
import { makeLogger } from "../../src/log.ts";
import {
	choice,
	optionalDateTime,
	optionalReference,
	requiredName,
} from "../../src/records/field.ts";
import { recordKind } from "../../src/records/kind.ts";
import { byDateTime, byText } from "../../src/records/list-pages.ts";
import { recordOperations } from "../../src/records/operations.ts";
import { type Calls, makeCalls } from "../support/calls.ts";

/**
 * A register that exists only in this file. It shows what any register can do with times.
 */
const mishap = recordKind({
	kind: "document",
	table: "mishaps",
	tool: { one: "Mishap", many: "Mishaps" },
	key: { one: "mishap", many: "mishaps" },
	noun: "mishap",
	nouns: "mishaps",
	help: "A mishap is something that happened.",
	title: "name",
	fields: {
		name: requiredName("Mishap in a few words"),
		occurred_at: optionalDateTime("Time at which it happened"),
		status: choice(["OPEN", "CLOSED"], "Progress", "OPEN"),
		owner_id: optionalReference("people", "Accountable person"),
	},
	brief: ["name", "occurred_at", "status", "owner_id"],
	orders: { name: byText("name"), occurred_at: byDateTime("occurred_at") },
	filters: ["status", "owner_id"],
});
// The module is imported through a variable, because the types of the console (React's) would hide
// those of the DOM in this project.
const CONSOLE = "../../console/describe-kind.ts";
const { describeKind } = await import(CONSOLE);
const [list, get, add, update, remove] = recordOperations(mishap);

let calls: Calls;
let services: Services;
beforeAll(async () => {
	calls = await makeCalls();
	services = {
		pool: calls.database.pool,
		log: makeLogger("silent"),
		baseUrl: "http://localhost:8080",
	};
	await calls.database.owner.query(`
		create table mishaps (
			organization_id typed_id not null references organizations,
			id typed_id not null,
			name text not null check (name <> ''),
			occurred_at timestamptz,
			status text not null default 'OPEN' check (status in ('OPEN', 'CLOSED')),
			owner_id typed_id,
			created_at timestamptz not null default now(),
			updated_at timestamptz not null default now(),
			search_text text not null generated always as (search_text(name)) stored,
			name_key text collate "C" generated always as (sort_key(name)) stored,
			primary key (organization_id, id),
			foreign key (organization_id, owner_id) references people
		);
		select make_register('mishaps');
	`);
});
afterAll(() => calls.close());

type Output = Awaited<ReturnType<typeof addMishap>>;
const addMishap = async (name: string, occurred_at: string | null) => {
	const { mishap: added } = await invoke(
		services,
		calls.principal("member"),
		add,
		{ organization_id: calls.organizationId, name, occurred_at },
	);
	return added;
};
const read = async ({ id }: Output) =>
	(await invoke(services, calls.principal("viewer"), get, { id })).mishap;
const listed = async (input: object) => {
	const page = await invoke(services, calls.principal("viewer"), list, {
		organization_id: calls.organizationId,
		...input,
	});
	return page.mishaps.map(({ name }) => name);
};

/** Returns the definition of each index of the table, in the order of their names. */
async function readIndexes(): Promise<string[]> {
	const { rows } = await calls.database.owner.query<{ indexdef: string }>(
		"select indexdef from pg_indexes where tablename = 'mishaps' order by indexname",
	);
	return rows.map(({ indexdef }) =>
		indexdef.replace(/\s+/g, " ").replace(/^.* USING /, ""),
	);
}

describe("a register whose migration only creates a table and calls make_register", () => {
	test("has the indexes of its orders and filters, row-level security and the grants of every role", async () => {
		const { owner } = calls.database;
		expect(await readIndexes()).toEqual([
			"btree (organization_id, created_at, id, status)",
			"btree (organization_id, name_key, id, status)",
			"btree (organization_id, ( CASE WHEN (occurred_at IS NULL) THEN 'infinity'::timestamp with time zone ELSE occurred_at END), id, occurred_at, status)",
			"btree (organization_id, owner_id, status)",
			"btree (organization_id, id)",
			"gin (organization_id, search_text gin_trgm_ops)",
			"btree (organization_id, status, created_at, id)",
			"btree (organization_id, updated_at, id, status, owner_id)",
		]);
		const policiesOf = async (table: string) =>
			(
				await owner.query(
					"select policyname, roles, cmd, qual from pg_policies where tablename = $1 order by 1",
					[table],
				)
			).rows;
		const grantsOf = async (table: string) =>
			(
				await owner.query(
					`select grantee, privilege_type, string_agg(distinct column_name, ' ' order by column_name)
						filter (where column_name in ('organization_id', 'id', 'search_text', 'name')) as columns
					from information_schema.column_privileges
					where table_name = $1 and grantee <> current_user
					group by 1, 2 order by 1, 2`,
					[table],
				)
			).rows;
		// The new register must have the same as one that the first migrations created.
		expect(await policiesOf("mishaps")).toEqual(await policiesOf("frameworks"));
		expect(await grantsOf("mishaps")).toEqual(await grantsOf("frameworks"));
	});

	test("is found by the search, names the field of a missing reference, and removes links when a record is deleted", async () => {
		const added = await addMishap("Fire in the archive", null);
		expect(await listed({ filter: { query: "ARCHIVE" } })).toEqual([
			"Fire in the archive",
		]);
		await expect(
			invoke(services, calls.principal("member"), update, {
				id: added.id,
				owner_id: added.id.replace(/.{6}$/, "AAAAAA"),
			}),
		).rejects.toMatchObject({ fields: [{ field: "owner_id" }] });
		await invoke(services, calls.principal("admin"), remove, { id: added.id });
		await expect(read(added)).rejects.toMatchObject({ code: "not_found" });
	});
});

describe("a field of type datetime", () => {
	test("accepts RFC 3339 with an offset and is returned in UTC", async () => {
		const added = await addMishap("Outage", "2026-03-01T10:30:00.5+02:00");
		expect(added.occurred_at).toBe("2026-03-01T08:30:00.500Z");
		expect((await read(added)).occurred_at).toBe("2026-03-01T08:30:00.500Z");
	});

	test.each([
		"2026-03-01",
		"2026-03-01T10:30:00",
		"2026-02-30T10:30:00Z",
		"1899-03-01T10:30:00Z",
		"2026-03-01T10:30:00+15:00",
		"soon",
	])("rejects %s", async (text) => {
		await expect(addMishap("Outage", text)).rejects.toMatchObject({
			code: "bad_request",
			fields: [{ field: "occurred_at" }],
		});
	});

	test("does not change if the same time is given with another offset, and is cleared by null", async () => {
		const added = await addMishap("Theft", "2026-03-01T08:30:00Z");
		const change = (occurred_at: string | null) =>
			invoke(services, calls.principal("member"), update, {
				id: added.id,
				occurred_at,
			});
		const same = await change("2026-03-01T03:30:00-05:00");
		expect(same.mishap.updated_at).toBe(added.updated_at);
		const cleared = await change(null);
		expect(cleared.mishap.occurred_at).toBeNull();
	});

	test("orders a list with missing times at the end, and filters it by a period", async () => {
		await calls.database.owner.query("delete from mishaps");
		await addMishap("late", "2026-05-03T00:00:00Z");
		await addMishap("never", null);
		await addMishap("early", "2026-05-01T00:00:00Z");
		await addMishap("middle", "2026-05-02T00:00:00Z");
		const order_by = { field: "occurred_at", direction: "ASC" };
		expect(await listed({ order_by })).toEqual([
			"early",
			"middle",
			"late",
			"never",
		]);
		const filter = {
			occurred_at_from: "2026-05-02T02:00:00+02:00",
			occurred_at_until: "2026-05-03T00:00:00Z",
		};
		expect(await listed({ filter })).toEqual(["middle"]);
		expect(
			await listed({
				order_by,
				filter: { occurred_at_from: filter.occurred_at_from },
			}),
		).toEqual(["middle", "late"]);
	});

	test("is exported to CSV and imported again without a change", async () => {
		const added = await addMishap("Flood", "2026-06-01T12:00:00Z");
		const columns = columnsFor(["id", "name", "occurred_at"]);
		const row = { ...added };
		const cells = columns.map(({ cell }) => cell(row));
		expect(cells[2]).toBe("2026-06-01T12:00:00.000Z");
		const csv = `${columns.map(({ heading }) => heading).join(",")}\n${cells.join(",")}\n,Storm,2026-06-01T14:00:00+02:00\n,Wind,yesterday\n`;
		const table = await readTable(Readable.from([Buffer.from(csv)]));
		const file = await readFile(mishap, table);
		const plan = await calls.database.pool.connect().then(async (client) => {
			try {
				await client.query(
					"select set_config('assay.organization_id', $1, false)",
					[calls.organizationId],
				);
				return await Array.fromAsync(
					planImport(
						client,
						mishap,
						{ organizationId: calls.organizationId, role: "member" },
						file,
						"id",
						{ lock: false, skipKnownNames: false },
					),
				);
			} finally {
				client.release(true);
			}
		});
		expect(
			plan.map(({ outcome, values, issues }) => ({
				outcome,
				at: values.occurred_at,
				wrong: issues.map(({ field }) => field),
			})),
		).toEqual([
			{ outcome: "UNCHANGED", at: undefined, wrong: [] },
			{ outcome: "ADD", at: "2026-06-01T12:00:00.000Z", wrong: [] },
			{ outcome: "WRONG", at: undefined, wrong: ["occurred_at"] },
		]);
	});

	test("is shown as a local time in a form, and as a period among the console's filters", () => {
		const kind = describeKind(mishap);
		expect(kind.fields[1]).toMatchObject({
			name: "occurred_at",
			label: "Occurred at",
			help: "Time at which it happened",
			isNullable: true,
		});
		expect(kind.filters).toContainEqual({
			name: "occurred_at",
			label: "Occurred at",
			type: "period",
			isNullable: false,
		});
		const local = toLocalTime("2026-06-01T12:00:05.000Z");
		expect(local).toMatch(/^2026-0[56]-\d\dT\d\d:\d\d:05$/);
		expect(fromLocalTime(local)).toBe("2026-06-01T12:00:05.000Z");
		expect(fromLocalTime("")).toBe("");
	});

	test("is found in the last days up to the end of today, and not later", () => {
		const [from, until] = lastDays(7, "2026-03-04");
		expect(new Date(from)).toEqual(new Date(2026, 1, 25));
		expect(new Date(until)).toEqual(new Date(2026, 2, 5));
	});
});

test("a choice that is added later gets into the indexes of its register, which are made once", async () => {
	const { owner } = calls.database;
	const readIds = async () => {
		const { rows } = await owner.query(
			"select indexrelid from pg_index where indrelid = 'mishaps'::regclass order by 1",
		);
		return rows;
	};
	const before = await readIndexes();
	await owner.query(
		`alter table mishaps add column level text not null default 'LOW' check (level in ('LOW', 'HIGH'));
		select index_register('mishaps');`,
	);
	expect(await readIndexes()).toEqual([
		"btree (organization_id, created_at, id, status, level)",
		"btree (organization_id, level, created_at, id, status)",
		"btree (organization_id, name_key, id, status, level)",
		"btree (organization_id, ( CASE WHEN (occurred_at IS NULL) THEN 'infinity'::timestamp with time zone ELSE occurred_at END), id, occurred_at, status, level)",
		"btree (organization_id, owner_id, status, level)",
		"btree (organization_id, id)",
		"gin (organization_id, search_text gin_trgm_ops)",
		"btree (organization_id, status, created_at, id, level)",
		"btree (organization_id, updated_at, id, status, owner_id, level)",
	]);
	const made = await readIds();
	await owner.query("select index_register('mishaps')");
	expect(await readIds()).toEqual(made);
	// PostgreSQL drops the indexes of a column with it.
	await owner.query(
		"alter table mishaps drop column level; select index_register('mishaps');",
	);
	expect(await readIndexes()).toEqual(before);
});
