import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import type { Principal } from "../../src/principal.ts";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
let by: Principal;
/** The ids of the people, records and vendors by their names. */
const ids: Record<string, string> = {};

beforeAll(async () => {
	calls = await shareCalls();
	organization_id = await createOrganization(calls.database.pool, "Acme");
	by = calls.principal("admin", organization_id);
	await addPerson("Omar Haddad", "o.haddad@example.com");
	await addPerson("Ümit Verhoeven", "uv@example.com");
	await add("Vendor", "vendor", { name: "Cloud" });
	await add("Datum", "datum", {
		name: "Payroll",
		data_classification: "SECRET",
		vendor_ids: [ids.Cloud],
		owner_id: ids["Omar Haddad"],
	});
	await addMeasure("Backup", "IT", "IMPLEMENTED", "Omar Haddad");
	await addMeasure("Training", "People", "IN_PROGRESS", "Ümit Verhoeven");
	await addMeasure("Locks", "Sites", "NOT_STARTED");
	for (const [name, score] of [
		["Fire", 2],
		["Theft", 4],
	] as const) {
		await add("Risk", "risk", {
			name,
			category: "Endpoint",
			treatment: "MITIGATED",
			inherent_likelihood: score,
			inherent_impact: score,
			description: "d".repeat(300),
			owner_id: score === 4 ? ids["Omar Haddad"] : null,
		});
	}
	await calls.call(
		"linkRecords",
		{ record_id: ids.Fire, linked_record_id: ids.Backup },
		by,
	);
	for (const [name, deadline] of [
		["early", "2026-01-31"],
		["late", "2026-03-01"],
		["never", null],
	] as const) {
		await add("Task", "task", {
			name,
			deadline,
			assigned_to_id: ids["Ümit Verhoeven"],
			description: "text ".repeat(100),
		});
	}
});
afterAll(() => calls.close());

async function add(one: string, key: string, input: object): Promise<void> {
	const { [key]: added } = await calls.call(
		`add${one}`,
		{ organization_id, ...input },
		by,
	);
	ids[added.name ?? added.full_name] = added.id;
}

const addPerson = (full_name: string, primary_email_address: string) =>
	add("People", "people", {
		full_name,
		primary_email_address,
		kind: "EMPLOYEE",
		position: "Backup operator",
	});

const addMeasure = (
	name: string,
	category: string,
	state: string,
	owner?: string,
) =>
	add("Measure", "measure", {
		name,
		category,
		state,
		owner_id: owner ? ids[owner] : null,
	});

// biome-ignore lint/suspicious/noExplicitAny: the fields of a row depend on the list.
type Row = any;

const list = (many: string, input: object = {}) =>
	calls.call(`list${many}`, { organization_id, ...input }, by);

async function names(many: string, filter: object): Promise<string[]> {
	const [rows] = Object.values(await list(many, { filter })) as [Row[]];
	return rows.map(({ name }) => name).sort();
}

const refusal = (many: string, filter: object) =>
	calls.refusal(`list${many}`, { organization_id, filter }, by);

test("a record has the names of the records that it refers to", async () => {
	const { datum } = await calls.call("getDatum", { id: ids.Payroll }, by);
	expect(datum).toMatchObject({
		owner_name: "Omar Haddad",
		vendor_names: ["Cloud"],
	});
	const { tasks } = await list("Tasks", { size: 1 });
	expect(tasks[0].assigned_to_name).toBe("Ümit Verhoeven");
});

test("a brief row has the fields that people decide by, and cuts long texts", async () => {
	const { risks } = await list("Risks", { detail: "brief", size: 1 });
	expect(risks[0]).toEqual({
		id: ids.Theft,
		name: "Theft",
		category: "Endpoint",
		treatment: "MITIGATED",
		is_undecided: false,
		inherent_risk_score: 16,
		residual_risk_score: 16,
		owner_id: ids["Omar Haddad"],
		owner_name: "Omar Haddad",
		next_review_date: null,
	});
	await calls.call(
		"addObligation",
		{ organization_id, requirement: `${"r".repeat(199)}ab` },
		by,
	);
	const { obligations } = await list("Obligations", { detail: "brief" });
	expect(obligations[0].requirement).toBe(`${"r".repeat(199)}…`);
	const full = await list("Obligations", { detail: "full" });
	expect(full.obligations[0].requirement).toHaveLength(201);
});

test("a list without detail has full rows, also after brief rows on the same connection", async () => {
	await list("Risks", { detail: "brief" });
	const { risks } = await list("Risks");
	expect(risks[0].description).toHaveLength(300);
});

describe("the total", () => {
	test("is the number of matching records, on each page", async () => {
		const first = await list("Tasks", { size: 2 });
		expect(first).toMatchObject({ total: 3, total_is_exact: true });
		const last = await list("Tasks", { size: 2, cursor: first.next_cursor });
		expect(last).toMatchObject({ total: 3, total_is_exact: true });
		expect(last.next_cursor).toBeNull();
	});

	test("counts the records that the filters and the search find", async () => {
		expect(
			await list("Tasks", {
				size: 1,
				filter: { deadline_until: "2026-12-31" },
			}),
		).toMatchObject({ total: 2 });
		expect(
			await list("Tasks", { size: 1, filter: { query: "text ate" } }),
		).toMatchObject({ total: 1 });
		expect(
			await list("Tasks", { size: 1, filter: { query: "verhoeven" } }),
		).toMatchObject({ total: 3 });
	});

	test("ends at 10,000, and is exact up to there without archived records, with words and filters", async () => {
		const many = await createOrganization(calls.database.pool, "Many");
		const { owner } = calls.database;
		const prefix = makeId(many, "asset").slice(0, 24);
		const insert = (from: number, until: number, type: string) =>
			owner.query(
				`insert into assets (organization_id, id, name, asset_type)
				select $1, $2 || lpad(to_hex(n), 8, '0'), 'asset', $3
				from generate_series($4::int, $5::int) n`,
				[many, prefix, type, from, until],
			);
		const change = (text: string, count: number) =>
			owner.query(
				`${text} where ctid = any(array(
					select ctid from assets
					where organization_id = $1 and archived_at is null and asset_type = 'VIRTUAL' limit $2
				))`,
				[many, count],
			);
		const principal = calls.principal("viewer", many);
		const total = async (filter = {}) => {
			const input = { organization_id: many, size: 1, filter };
			const page = await calls.call("listAssets", input, principal);
			return [page.total, page.total_is_exact];
		};
		await insert(1, 10_001, "VIRTUAL");
		expect(await total()).toEqual([10_000, false]);
		expect(await total({ query: "asset" })).toEqual([10_000, false]);
		await change("delete from assets", 1);
		expect(await total()).toEqual([10_000, true]);
		expect(await total({ query: "asset" })).toEqual([10_000, true]);
		await change("update assets set archived_at = now()", 2);
		expect(await total()).toEqual([9_998, true]);
		expect(await total({ archived: true })).toEqual([2, true]);
		await insert(10_002, 10_005, "PHYSICAL");
		expect(await total()).toEqual([10_000, false]);
		const physical = { query: "asset", asset_type: "PHYSICAL" };
		expect(await total(physical)).toEqual([4, true]);
		// Too many are archived to subtract them from all.
		await change("update assets set archived_at = now()", 1_002);
		expect(await total()).toEqual([9_000, true]);
		expect(await total({ query: "asset" })).toEqual([9_000, true]);
		expect(await total(physical)).toEqual([4, true]);
	});
});

describe("without a direction", () => {
	test("scores and times come in descending order", async () => {
		const { risks } = await list("Risks", {
			order_by: { field: "residual_risk_score" },
		});
		expect(risks.map(({ name }: Row) => name)).toEqual(["Theft", "Fire"]);
		const { tasks } = await list("Tasks", {
			order_by: { field: "created_at" },
		});
		expect(tasks[0].name).toBe("never");
	});

	test("names and deadlines come in ascending order", async () => {
		const { tasks } = await list("Tasks", { order_by: { field: "deadline" } });
		expect(tasks.map(({ name }: Row) => name)).toEqual([
			"early",
			"late",
			"never",
		]);
		const { risks } = await list("Risks", { order_by: { field: "name" } });
		expect(risks[0].name).toBe("Fire");
	});
});

describe("a filter whose value cannot match", () => {
	test("names the categories that there are", async () => {
		const error = await refusal("Measures", { category: "Networks" });
		expect(error).toMatchObject({
			code: "bad_request",
			fields: ["filter.category"],
		});
		expect(error.message).toBe(
			'filter.category: no measures have the category "Networks"; there are "IT", "People", "Sites"',
		);
	});

	test("finds a category in any case", async () => {
		expect(await names("Measures", { category: "it" })).toEqual(["Backup"]);
		expect(
			await names("Measures", { category: "IT", state: "NOT_STARTED" }),
		).toEqual([]);
	});

	test("is an empty list in a register without categories", async () => {
		const empty = await createOrganization(calls.database.pool, "Empty");
		const { measures } = await calls.call(
			"listMeasures",
			{ organization_id: empty, filter: { category: "Networks" } },
			calls.principal("viewer", empty),
		);
		expect(measures).toEqual([]);
	});

	test("names an id and a person that do not exist", async () => {
		const owner_id = makeId(organization_id, "people");
		expect((await refusal("Risks", { owner_id })).message).toBe(
			"filter.owner_id: is the id of a person that this organization does not have",
		);
		expect((await refusal("Risks", { owner: "Nobody" })).message).toBe(
			'filter.owner: nobody\'s name or address contains "Nobody"; listPeople lists the people',
		);
	});
});

describe("people", () => {
	test("can be used as a filter, by name or address in any case", async () => {
		expect(await names("Measures", { owner: "omar" })).toEqual(["Backup"]);
		expect(await names("Measures", { owner: "uv@EXAMPLE" })).toEqual([
			"Training",
		]);
		expect(await names("Tasks", { assigned_to: "umit verhoeven" })).toEqual([
			"early",
			"late",
			"never",
		]);
		expect(await names("Risks", { owner: "verhoeven" })).toEqual([]);
	});

	test("are found by a search, by their name but not by their position", async () => {
		expect(await names("Measures", { query: "haddad" })).toEqual(["Backup"]);
		expect(await names("Measures", { query: "back haddad" })).toEqual([
			"Backup",
		]);
		expect(await names("Measures", { query: "operator" })).toEqual([]);
	});
});

test("a filter by a choice takes several values", async () => {
	expect(
		await names("Measures", { state: ["NOT_STARTED", "IN_PROGRESS"] }),
	).toEqual(["Locks", "Training"]);
	expect((await refusal("Measures", { state: [] })).fields).toEqual([
		"filter.state",
	]);
	for (const state of ["OPEN", ["IN_PROGRESS", "OPEN"]]) {
		expect((await refusal("Measures", { state })).message).toBe(
			'filter.state: must be one of NOT_STARTED, IN_PROGRESS, IMPLEMENTED, NOT_APPLICABLE, not "OPEN"',
		);
	}
});

test("dates can be filtered by a first and a last day, both included", async () => {
	expect(await names("Tasks", { deadline_from: "2026-03-01" })).toEqual([
		"late",
	]);
	expect(await names("Tasks", { deadline_until: "2026-01-31" })).toEqual([
		"early",
	]);
});

test("records without a link to a kind of record are found", async () => {
	expect(await names("Risks", { without_linked: "measure" })).toEqual([
		"Theft",
	]);
	expect(await names("Measures", { without_linked: "risk" })).toEqual([
		"Locks",
		"Training",
	]);
});

test("records with an empty field are found, and a wrong field is an error that names the fields", async () => {
	expect(await names("Tasks", { empty: "deadline" })).toEqual(["never"]);
	expect(await names("Risks", { empty: "owner_id" })).toEqual(["Fire"]);
	expect(await names("Risks", { empty: "description" })).toEqual([]);
	expect(await names("Vendors", { empty: "dpa_url" })).toEqual(["Cloud"]);
	expect(await names("Data", { empty: "vendor_ids" })).toEqual([]);
	expect((await refusal("Tasks", { empty: "title" })).message).toBe(
		"filter.empty: must be a field that can be empty: description, measure_id, assigned_to_id, deadline",
	);
});
