import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { type Calls, shareCalls } from "../support/calls.ts";
import { samples } from "../support/record-samples.ts";
import {
	inputOf,
	makeReferences,
	type References,
} from "../support/record-values.ts";
import { until } from "../support/until.ts";

let calls: Calls;
let organization_id: string;
let references: References;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
	references = await makeReferences(calls, organization_id);
});
afterAll(() => calls.close());

// biome-ignore lint/suspicious/noExplicitAny: an answer's type depends on the name of the call.
type Answer = any;

/** Adds a record of this kind with its required fields and the given ones. */
async function add(kind: string, fields: object = {}): Promise<Answer> {
	const sample = samples.find((known) => known.kind === kind);
	if (!sample) throw new Error(`no samples of ${kind}`);
	const answer = await calls.call(`add${sample.one}`, {
		organization_id,
		...inputOf(sample, references, "required"),
		...fields,
	});
	return answer[sample.key];
}

/** Resolves when a transaction in this database is waiting for another one. */
const someoneWaits = () =>
	until("a lock", async () => {
		const { rowCount } = await calls.database.owner.query(
			`select from pg_stat_activity
			where datname = current_database() and wait_event_type = 'Lock'`,
		);
		return rowCount !== 0;
	});

test.for([
	["people", "People", "contract_start_date", "contract_end_date"],
	["audit", "Audit", "starts_on", "ends_on"],
	["audit", "Audit", "valid_from", "valid_until"],
] as const)("%s: an end before the beginning is rejected, and the same day is accepted", async ([
	kind,
	one,
	first,
	last,
]) => {
	const record = await add(kind, {
		[first]: "2026-05-01",
		[last]: "2026-05-01",
	});
	const refused = [
		await calls.refusal(`update${one}`, {
			id: record.id,
			[last]: "2026-04-30",
		}),
		await calls.refusal(`update${one}`, {
			id: record.id,
			[first]: "2026-05-02",
		}),
		await calls.refusal(`add${one}`, {
			organization_id,
			...inputOf(
				samples.find((known) => known.kind === kind) as never,
				references,
				"required",
			),
			[first]: "2026-05-02",
			[last]: "2026-05-01",
		}),
	];
	for (const { code, fields, message } of refused) {
		expect({ code, fields }).toEqual({ code: "bad_request", fields: [last] });
		expect(message).toContain(first);
	}
	expect(
		(await calls.call(`get${one}`, { id: record.id }))[
			record.framework_id ? "audit" : "people"
		],
	).toEqual(record);
});

test("an excluded control needs a justification, no matter which of the two fields is changed", async () => {
	const { id } = await add("control");
	const refuse = async (name: string, input: object) => {
		const { code, fields } = await calls.refusal(name, input);
		expect({ code, fields }).toEqual({
			code: "bad_request",
			fields: ["exclusion_justification"],
		});
	};
	await refuse("updateControl", { id, status: "EXCLUDED" });
	await refuse("updateControl", {
		id,
		status: "EXCLUDED",
		exclusion_justification: "  ",
	});
	await refuse("addControl", {
		organization_id,
		framework_id: references.framework[0],
		section_title: "A.5",
		name: "Policies",
		status: "EXCLUDED",
	});
	await calls.call("updateControl", {
		id,
		status: "EXCLUDED",
		exclusion_justification: "no cloud",
	});
	await refuse("updateControl", { id, exclusion_justification: null });
	const { control } = await calls.call("updateControl", {
		id,
		status: "INCLUDED",
		exclusion_justification: null,
	});
	expect(control).toMatchObject({
		status: "INCLUDED",
		exclusion_justification: null,
	});
});

test("in every response, a risk's scores are likelihood times impact", async () => {
	let risk = await add("risk", {
		inherent_likelihood: 4,
		inherent_impact: 5,
		residual_impact: 2,
	});
	expect(risk).toMatchObject({
		residual_likelihood: 4,
		inherent_risk_score: 20,
		residual_risk_score: 8,
	});
	const { id } = risk;
	for (const change of [
		{ inherent_likelihood: 1 },
		{ inherent_impact: 3 },
		{ residual_likelihood: 2, residual_impact: 1 },
		{
			inherent_likelihood: 5,
			inherent_impact: 5,
			residual_likelihood: 5,
			residual_impact: 5,
		},
		{ name: "Renamed" },
	]) {
		({ risk } = await calls.call("updateRisk", { id, ...change }));
		const { risks } = await calls.call("listRisks", {
			organization_id,
			size: 100,
		});
		for (const reply of [
			risk,
			(await calls.call("getRisk", { id })).risk,
			risks.find((one: { id: string }) => one.id === id),
		]) {
			expect(reply).toMatchObject({
				inherent_risk_score: reply.inherent_likelihood * reply.inherent_impact,
				residual_risk_score: reply.residual_likelihood * reply.residual_impact,
				...change,
			});
		}
	}
});

test.for([
	["nonconformity", "Nonconformity", "NC"],
	["continual_improvement", "ContinualImprovement", "CI"],
] as const)("%s: 20 records that are added at the same time get different reference ids without a gap, skipping one that was given by hand", async ([
	kind,
	one,
	prefix,
]) => {
	const organization = await createOrganization(calls.database.pool, kind);
	const by = calls.principal("admin", organization);
	const addOne = async (fields: object = {}) =>
		(
			await calls.call(
				`add${one}`,
				{ organization_id: organization, ...fields },
				by,
			)
		)[kind];
	await addOne({ reference_id: `${prefix}-007` });
	const made = await Promise.all(Array.from({ length: 20 }, () => addOne()));
	const expected = Array.from(
		{ length: 21 },
		(_, index) => `${prefix}-${String(index + 1).padStart(3, "0")}`,
	);
	expect(
		[...made.map(({ reference_id }) => reference_id), `${prefix}-007`].sort(),
	).toEqual(expected);
});

test.for([
	["nonconformities", "Nonconformity", "NC"],
	["continual_improvements", "ContinualImprovement", "CI"],
] as const)("%s: a record without a reference id gets the next free one if another call is using the first free one", async ([
	table,
	one,
	prefix,
]) => {
	const organization = await createOrganization(calls.database.pool, one);
	const by = calls.principal("admin", organization);
	// An open transaction holds the second number while the add operation looks for a free one.
	await calls.call(`add${one}`, { organization_id: organization }, by);
	const hand = await calls.database.owner.connect();
	await hand.query("begin");
	await hand.query(
		`insert into ${table} (organization_id, id, reference_id) values ($1, $2, $3)`,
		[organization, "B".repeat(32), `${prefix}-002`],
	);
	const adding = calls.call(`add${one}`, { organization_id: organization }, by);
	await someoneWaits();
	await hand.query("commit");
	hand.release();
	const [added] = Object.values<Answer>(await adding);
	expect(added.reference_id).toBe(`${prefix}-003`);
});

test.for([
	["nonconformity", "Nonconformity"],
	["continual_improvement", "ContinualImprovement"],
] as const)("%s: a reference id in use is rejected, one of 20 simultaneous adds succeeds, and another organization may use the same id", async ([
	kind,
	one,
]) => {
	const reference_id = `Taken ${kind}`;
	const tries = await Promise.allSettled(
		Array.from({ length: 20 }, () => add(kind, { reference_id })),
	);
	const failed = tries
		.filter((one) => one.status === "rejected")
		.map((one) => one.reason);
	expect(failed).toHaveLength(19);
	for (const reason of failed) {
		expect(reason).toMatchObject({
			code: "bad_request",
			fields: [{ field: "reference_id" }],
		});
	}
	const { id } = await add(kind);
	expect(
		(await calls.refusal(`update${one}`, { id, reference_id })).fields,
	).toEqual(["reference_id"]);
	const elsewhere = await createOrganization(calls.database.pool, "Elsewhere");
	const other = await calls.call(
		`add${one}`,
		{ organization_id: elsewhere, reference_id },
		calls.principal("admin", elsewhere),
	);
	expect(other[kind].reference_id).toBe(reference_id);
});

/**
 * For each kind, the records that refer to one of its records, and how the error of a rejected
 * deletion counts them.
 */
const USERS: Record<
	string,
	{ one: string; by: [kind: string, field: string, counted: string][] }
> = {
	people: {
		one: "People",
		by: [
			["risk", "owner_id", "risks: 1"],
			["measure", "owner_id", "measures: 1"],
			["vendor", "owner_id", "vendors: 1"],
			["nonconformity", "owner_id", "nonconformities: 1"],
			["obligation", "owner_id", "obligations: 1"],
			["asset", "owner_id", "assets: 1"],
			["datum", "owner_id", "data: 1"],
			["task", "assigned_to_id", "tasks: 1"],
			["continual_improvement", "owner_id", "continual improvements: 1"],
		],
	},
	framework: {
		one: "Framework",
		by: [
			["control", "framework_id", "controls: 1"],
			["audit", "framework_id", "audits: 1"],
		],
	},
	vendor: {
		one: "Vendor",
		by: [
			["asset", "vendor_ids", "assets: 1"],
			["datum", "vendor_ids", "data: 1"],
		],
	},
	measure: { one: "Measure", by: [["task", "measure_id", "tasks: 1"]] },
	audit: {
		one: "Audit",
		by: [["nonconformity", "audit_id", "nonconformities: 1"]],
	},
};

test.for(
	Object.entries(USERS),
)("%s: a record in use is not deleted, the error says what uses it, and it can be deleted when nothing uses it", async ([
	kind,
	{ one, by },
]) => {
	for (const [user, field, counted] of by) {
		const { id } = await add(kind);
		const record = await add(user, {
			[field]: field === "vendor_ids" ? [id] : id,
		});
		const { code, message } = await calls.refusal(`delete${one}`, { id });
		expect({ code }).toEqual({ code: "bad_request" });
		expect(message).toContain(`(${counted})`);
		await calls.call(`get${one}`, { id });
		const name = samples.find((sample) => sample.kind === user)?.one;
		await calls.call(`delete${name}`, { id: record.id });
		await calls.call(`delete${one}`, { id });
		expect((await calls.refusal(`get${one}`, { id })).code).toBe("not_found");
	}
});

test("a person that several records use is not deleted, and the error counts the records", async () => {
	const { id } = await add("people");
	for (const kind of ["risk", "risk", "asset"])
		await add(kind, { owner_id: id });
	const { message } = await calls.refusal("deletePeople", { id });
	expect(message).toContain("(assets: 1, risks: 2)");
});

test.for([
	["asset", "Asset"],
	["datum", "Datum"],
] as const)("%s: a reference to a vendor that is being deleted is rejected, and the error names the field", async ([
	kind,
	one,
]) => {
	const record = await add(kind);
	const vendor = await add("vendor");
	const deleting = await calls.database.owner.connect();
	await deleting.query("begin");
	await deleting.query("delete from vendors where id = $1", [vendor.id]);
	const refusal = calls.refusal(`update${one}`, {
		id: record.id,
		vendor_ids: [vendor.id],
	});
	await someoneWaits();
	await deleting.query("commit");
	deleting.release();
	expect(await refusal).toMatchObject({
		code: "bad_request",
		fields: ["vendor_ids"],
	});
});

test.for([
	["asset", "Asset"],
	["datum", "Datum"],
] as const)("%s: the same vendors in another order change nothing", async ([
	kind,
	one,
]) => {
	const vendor_ids: string[] = [];
	for (let made = 0; made < 3; made++) {
		vendor_ids.push((await add("vendor")).id);
	}
	const record = await add(kind, { vendor_ids });
	const countEntries = async () => {
		const { rows } = await calls.database.owner.query(
			"select count(*) from audit_entries where record_id = $1",
			[record.id],
		);
		return rows;
	};
	const entries = await countEntries();
	const { [kind]: after } = await calls.call(`update${one}`, {
		id: record.id,
		vendor_ids: vendor_ids.toReversed(),
	});
	expect(after).toEqual(record);
	expect(await countEntries()).toEqual(entries);
});
