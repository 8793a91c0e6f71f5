import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, makeCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await makeCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const moment = () => timeBetweenChanges(calls.database);

async function addRisk(fields: object = {}) {
	const { risk } = await calls.call("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 4,
		inherent_impact: 5,
		...fields,
	});
	return risk;
}

const namesOf = ({ risks }: { risks: { name: string }[] }) =>
	risks.map(({ name }) => name);

test("a record is read as it was before and after each change, and before and after its deletion", async () => {
	const before = await moment();
	const added = await addRisk({ note: "first" });
	const first = await moment();
	await calls.call("updateRisk", { id: added.id, name: "Burglary" });
	await calls.call("updateRisk", { id: added.id, residual_impact: 1 });
	const second = await moment();
	await calls.call("deleteRisk", { id: added.id });
	const third = await moment();
	const at = async (as_of: string) =>
		(await calls.call("getRisk", { id: added.id, as_of })).risk;

	expect(
		await calls.refusal("getRisk", { id: added.id, as_of: before }),
	).toMatchObject({ code: "not_found" });
	expect(await at(first)).toEqual(added);
	expect(await at(second)).toMatchObject({
		name: "Burglary",
		note: "first",
		residual_impact: 1,
		residual_risk_score: 4,
		created_at: added.created_at,
	});
	expect(
		await calls.refusal("getRisk", { id: added.id, as_of: third }),
	).toMatchObject({ code: "not_found" });
});

test("a list as of a moment has the records, values, order and count of that moment", async () => {
	const category = "As of";
	const filter = { category };
	const ids: string[] = [];
	for (const name of ["Alpha", "Beta", "Gamma"]) {
		ids.push((await addRisk({ name, category })).id);
	}
	const then = await moment();
	await calls.call("updateRisk", { id: ids[0], name: "Zulu" });
	await calls.call("updateRisk", { id: ids[1], category: "Other" });
	await calls.call("deleteRisk", { id: ids[2] });
	await addRisk({ name: "Delta", category });
	const order_by = { field: "name" };
	const now = await calls.call("listRisks", {
		organization_id,
		filter,
		order_by,
	});
	expect(namesOf(now)).toEqual(["Delta", "Zulu"]);
	const past = await calls.call("listRisks", {
		organization_id,
		filter,
		order_by,
		as_of: then,
	});
	expect(namesOf(past)).toEqual(["Alpha", "Beta", "Gamma"]);
	expect(past).toMatchObject({ total: 3, total_is_exact: true });

	const first = await calls.call("listRisks", {
		organization_id,
		filter,
		order_by,
		as_of: then,
		size: 2,
	});
	expect(namesOf(first)).toEqual(["Alpha", "Beta"]);
	const next = { organization_id, filter, order_by, cursor: first.next_cursor };
	expect(
		namesOf(await calls.call("listRisks", { ...next, as_of: then, size: 2 })),
	).toEqual(["Gamma"]);
	expect(await calls.refusal("listRisks", next)).toMatchObject({
		code: "bad_request",
		fields: ["cursor"],
	});

	const words = { ...filter, query: "gamma" };
	expect(
		namesOf(
			await calls.call("listRisks", {
				organization_id,
				filter: words,
				as_of: then,
			}),
		),
	).toEqual(["Gamma"]);
	const counted = {
		organization_id,
		kind: "risk",
		filter,
		group_by: "category",
	};
	expect(
		await calls.call("countRecords", { ...counted, as_of: then }),
	).toMatchObject({ total: 3 });
	expect(await calls.call("countRecords", counted)).toMatchObject({ total: 2 });
});

test("the results of device checks in a framework are those of the day", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "Our own",
	});
	await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "1",
		name: "Disks are encrypted",
		tested_by_checks: ["DISK_ENCRYPTION"],
	});
	const { owner } = calls.database;
	await owner.query("set session_replication_role = replica");
	for (const sql of [
		"update organizations set records_known_since = now() - interval '40 days' where id = $1",
		"update frameworks set updated_at = now() - interval '40 days' where organization_id = $1",
		"update controls set updated_at = now() - interval '40 days' where organization_id = $1",
		`insert into check_count_days (organization_id, day, counts, compliance) values
			($1, (now() at time zone 'UTC')::date - 20, '{"DISK_ENCRYPTION": {"PASSING": 1, "FAILING": 3}}', '{}'),
			($1, (now() at time zone 'UTC')::date, '{"DISK_ENCRYPTION": {"PASSING": 4}}', '{}')`,
	]) {
		await owner.query(sql, [organization_id]);
	}
	await owner.query("set session_replication_role = origin");
	const percent = async (daysAgo?: number) => {
		const as_of =
			daysAgo === undefined
				? undefined
				: `${new Date(Date.now() - daysAgo * 86_400_000).toISOString().slice(0, 10)}T23:59:59Z`;
		const { checks, checks_counted_at } = await calls.call(
			"getFrameworkCoverage",
			{ id: framework.id, as_of },
		);
		return [
			checks[0].pass_percent,
			as_of ? checks_counted_at === as_of : checks_counted_at !== null,
		];
	};
	expect(await percent()).toEqual([100, true]);
	expect(await percent(20)).toEqual([25, true]);
	expect(await percent(21)).toEqual([null, false]);
	await owner.query(
		"update organizations set records_known_since = created_at where id = $1",
		[organization_id],
	);
});

test("the coverage of a framework is that of the moment", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.5",
		name: "Policies",
	});
	const { measure } = await calls.call("addMeasure", {
		organization_id,
		name: "Sprinklers",
		category: "Premises",
		state: "IMPLEMENTED",
		linked_record_ids: [control.id],
	});
	const then = await moment();
	await calls.call("updateMeasure", { id: measure.id, state: "IN_PROGRESS" });
	const coverage = async (as_of?: string) =>
		(await calls.call("getFramework", { id: framework.id, as_of })).framework;
	const percent = async (as_of?: string) =>
		await calls.call("getFrameworkCoverage", { id: framework.id, as_of });
	expect(await coverage(then)).toMatchObject({ name: "ISO 27001" });
	expect(await percent(then)).toMatchObject({
		coverage: { coverage_percent: 100 },
		controls: [{ implemented_measures: 1 }],
	});
	expect(await percent()).toMatchObject({
		coverage: { coverage_percent: 0 },
		controls: [{ implemented_measures: 0, started_measures: 1 }],
	});
	const implementation = async (as_of?: string) =>
		(await calls.call("getControl", { id: control.id, as_of })).coverage
			.implementation;
	expect(await implementation(then)).toBe("IMPLEMENTED");
	expect(await implementation()).toBe("IN_PROGRESS");
});

test("a moment before the first kept state, or in the future, is an error that names the bound", async () => {
	const { rows } = await calls.database.owner.query(
		"select records_known_since as since from organizations where id = $1",
		[organization_id],
	);
	const since = new Date(rows[0].since).toISOString();
	for (const [tool, input] of [
		["listRisks", {}],
		["countRecords", { kind: "risk" }],
	] as const) {
		const error = await calls.refusal(tool, {
			organization_id,
			...input,
			as_of: "2020-01-01T00:00:00Z",
		});
		expect(error).toMatchObject({ code: "bad_request", fields: ["as_of"] });
		expect(error.message).toContain(`must not be before ${since}`);
		expect(
			await calls.refusal(tool, {
				organization_id,
				...input,
				as_of: "2999-01-01T00:00:00Z",
			}),
		).toMatchObject({ code: "bad_request", fields: ["as_of"] });
	}
});

test("a change that began before the previous one, but was made after it, follows it", async () => {
	const { id } = await addRisk({ name: "First" });
	await moment();
	const { pool } = calls.database;
	const early = await pool.connect();
	await early.query("begin");
	await early.query("select set_config('assay.organization_id', $1, true)", [
		organization_id,
	]);
	await moment();
	await calls.call("updateRisk", { id, name: "Second" });
	const second = await moment();
	await early.query(
		"update risks set name = 'Third', updated_at = now() where id = $1",
		[id],
	);
	await early.query("commit");
	early.release();
	const { rows } = await calls.database.owner.query(
		"select v.fields ->> 'name' as name, v.valid_to <= t.updated_at as ends from record_versions v join risks t on t.id = v.record_id where v.record_id = $1 order by v.valid_from",
		[id],
	);
	expect(rows).toEqual([
		{ name: "First", ends: true },
		{ name: "Second", ends: true },
	]);
	expect((await calls.call("getRisk", { id })).risk.updated_at <= second).toBe(
		true,
	);
});

test("a viewer reads the past, and nobody reads that of another organization", async () => {
	const { id } = await addRisk();
	const then = await moment();
	await calls.call("updateRisk", { id, name: "Changed" });
	const viewer = calls.principal("viewer");
	expect(
		(await calls.call("getRisk", { id, as_of: then }, viewer)).risk.name,
	).toBe("Theft");
	const other = await createOrganization(calls.database.pool, "Other");
	const stranger = calls.principal("admin", other);
	expect(
		await calls.refusal("getRisk", { id, as_of: then }, stranger),
	).toMatchObject({ code: "not_found" });
});
