import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let framework_id: string;
const controls: Record<string, string> = {};
beforeAll(async () => {
	tools = await shareTools();
	framework_id = (
		await add("addFramework", { name: "ISO 27001", version: "2022" })
	).framework.id;
	for (const [name, more] of [
		["A.8.24", {}],
		["A.7.4", { status: "EXCLUDED", exclusion_justification: "No office" }],
		["A.5.1", {}],
	] as const) {
		const { control } = await add("addControl", {
			framework_id,
			section_title: name,
			name: `Control ${name}`,
			...more,
		});
		controls[name] = control.id;
	}
});
afterAll(() => tools.close());

const add = (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const read = (more: object = {}, token?: string): Promise<Json> =>
	tools.use("getStatementOfApplicability", { framework_id, ...more }, token);

const approve = (
	sha256: string,
	more: object = {},
	token = tools.member.token,
) =>
	tools.call(
		"approveStatementOfApplicability",
		{ framework_id, sha256, ...more },
		token,
	);

test("the statement names what applies, why the rest does not, and what is behind each control", async () => {
	const control = controls["A.8.24"];
	const { measure } = await add("addMeasure", {
		name: "Encrypt disks",
		category: "IT",
		state: "IMPLEMENTED",
		linked_record_ids: [control],
	});
	await add("addEvidence", {
		name: "Screenshot",
		linked_record_ids: [measure.id],
	});
	await add("addEvidence", {
		name: "Expired",
		valid_until: "2020-01-01",
		linked_record_ids: [control],
	});
	const { document } = await add("addDocument", {
		title: "Cryptography",
		document_type: "POLICY",
		classification: "INTERNAL",
		linked_record_ids: [control],
	});
	const { document_version } = await tools.use("createDraftDocumentVersion", {
		document_id: document.id,
		content: "Use it.",
	});
	await tools.use("publishDocumentVersion", { id: document_version.id });
	await add("addRisk", {
		name: "Stolen laptop",
		category: "IT",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 4,
		linked_record_ids: [measure.id],
	});
	await add("addObligation", {
		requirement: "Protect personal data",
		linked_record_ids: [control],
	});
	await tools.use("updateControl", {
		id: control,
		inclusion_justification: "Staff travel with laptops",
	});
	const found = await read({}, tools.viewer.token);
	expect(found).toMatchObject({
		framework: { name: "ISO 27001", version: "2022" },
		included: 2,
		excluded: 1,
		without_justification: 1,
		approval: null,
		is_changed: true,
		next_cursor: null,
	});
	expect(found.controls.map((one: Json) => one.section_title)).toEqual([
		"A.5.1",
		"A.7.4",
		"A.8.24",
	]);
	expect(found.controls[1]).toMatchObject({
		applies: false,
		justification: "No office",
		inclusion_justification: null,
		implementation: null,
		measures: [],
	});
	expect(found.controls[0]).toMatchObject({
		inclusion_justification: null,
		risks: [],
		obligations: [],
		implementation: "NONE",
	});
	expect(found.controls[2]).toMatchObject({
		applies: true,
		justification: null,
		inclusion_justification: "Staff travel with laptops",
		risks: [{ name: "Stolen laptop", is_undecided: false }],
		obligations: [{ name: "Protect personal data" }],
		implementation: "IMPLEMENTED",
		measures: [{ id: measure.id, name: "Encrypt disks", state: "IMPLEMENTED" }],
		documents: [{ name: "Cryptography", published_version: 1 }],
		evidence: [{ name: "Screenshot" }],
		checks: ["DISK_ENCRYPTION"],
	});
	expect(found.checks.map((one: Json) => one.check_key)).toEqual([
		"DISK_ENCRYPTION",
	]);
});

test("pages of a statement have every control once", async () => {
	const seen: string[] = [];
	let cursor: string | null = null;
	do {
		const page: Json = await read({ size: 2, cursor });
		seen.push(...page.controls.map((one: Json) => one.section_title));
		cursor = page.next_cursor;
	} while (cursor);
	expect(seen).toEqual(["A.5.1", "A.7.4", "A.8.24"]);
	const wrong = await tools.call("getStatementOfApplicability", {
		framework_id,
		cursor: "nonsense",
	});
	expect(wrong.status).toBe(400);
});

/** Stores the number of devices by state for the check of disk encryption. */
const storeCounts = (states: object) =>
	tools.database.owner.query(
		`insert into check_count_days (organization_id, day, counted_at, counts, compliance)
		values ($1, (now() at time zone 'UTC')::date, now(), $2, '{}')
		on conflict (organization_id, day) do update set counts = excluded.counts`,
		[tools.organizationId, JSON.stringify({ DISK_ENCRYPTION: states })],
	);

test("what was read is approved, stays as it was, and a later change is seen", async () => {
	await storeCounts({ PASSING: 9, FAILING: 1 });
	const { sha256 } = await read();
	expect((await approve(sha256, {}, tools.viewer.token)).status).toBe(403);
	const { status, body } = await approve(sha256, { note: "First" });
	expect([status, body.approval]).toMatchObject([
		200,
		{ version_number: 1, sha256, note: "First" },
	]);
	expect(await read()).toMatchObject({
		is_changed: false,
		approval: { version_number: 1 },
	});
	// The version keeps the results of the checks, too.
	await storeCounts({ PASSING: 1, FAILING: 9 });
	const check = { check_key: "DISK_ENCRYPTION" };
	expect((await read()).checks).toMatchObject([{ ...check, pass_percent: 10 }]);
	expect((await read({ version_number: 1 })).checks).toMatchObject([
		{ ...check, pass_percent: 90 },
	]);
	expect((await approve(sha256)).body.message).toMatch(
		/version 1 is approved already/,
	);
	// Progress is not what was approved, and a reason is, also one of an inclusion.
	const { sha256: before } = await read();
	await tools.use("updateControl", {
		id: controls["A.5.1"],
		inclusion_justification: "A customer asks for it",
	});
	expect(await read()).toMatchObject({
		...{ is_changed: true, without_justification: 0 },
	});
	await tools.use("updateControl", {
		id: controls["A.5.1"],
		inclusion_justification: null,
	});
	expect((await read()).sha256).toBe(before);
	await add("addEvidence", {
		name: "More",
		linked_record_ids: [controls["A.5.1"]],
	});
	expect(await read()).toMatchObject({
		...{ is_changed: false, changed_risks: 0, without_justification: 1 },
	});
	// The reader must hear of a risk that the approval did not know.
	await add("addRisk", {
		name: "Stolen keys",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 3,
		inherent_impact: 3,
		linked_record_ids: [controls["A.5.1"]],
	});
	expect(await read()).toMatchObject({
		...{ is_changed: false, changed_risks: 1, without_justification: 0 },
	});
	expect(await read({ version_number: 1 })).toMatchObject({
		...{ changed_risks: 0, without_justification: 1 },
	});
	await tools.use("updateControl", {
		id: controls["A.7.4"],
		exclusion_justification: "Everybody works at home",
	});
	const changed = await read();
	expect(changed.is_changed).toBe(true);
	const stale = await approve(sha256);
	expect([stale.status, stale.body.message]).toEqual([
		409,
		expect.stringContaining("has changed since it was read"),
	]);
	const second = await approve(changed.sha256);
	expect(second.body.approval.version_number).toBe(2);
	const first = await read({ version_number: 1 });
	expect(first.controls[1].justification).toBe("No office");
	expect(first).toMatchObject({ sha256, is_changed: false });
	const { approvals } = await tools.use("listStatementApprovals", {
		framework_id,
	});
	expect(approvals.map((one: Json) => one.version_number)).toEqual([2, 1]);
	const { audit_entries: entries } = await add("listAuditLog", {
		filter: { operation: "approveStatementOfApplicability", outcome: "DONE" },
	});
	expect(entries[0].changes.statement_of_applicability.after).toEqual({
		version: 2,
		sha256: changed.sha256,
	});
});

test("a version that was approved before it had reasons of inclusion and results of checks can be read", async () => {
	await tools.database.owner.query(
		`update applicability_statements set check_counts = null, controls = (
			select jsonb_agg(c - '{inclusion_justification,risks,obligations,implementation}'::text[])
			from jsonb_array_elements(controls) c
		) where version_number = 1 and organization_id = $1`,
		[tools.organizationId],
	);
	const {
		controls: found,
		checks,
		without_justification: unjustified,
	} = await read({ version_number: 1 });
	expect(checks).toEqual([]);
	expect(unjustified).toBe(0);
	expect(found[2]).toMatchObject({
		name: "Control A.8.24",
		inclusion_justification: null,
		risks: [],
		obligations: [],
		implementation: null,
	});
});

test("the evidence of a control's measures is listed for the control, as the statement names it", async () => {
	const list = async (filter: object) =>
		(await add("listEvidence", { filter })).evidence.map(
			(one: Json) => one.name,
		);
	expect(await list({ of_measures_of: controls["A.8.24"] })).toEqual([
		"Screenshot",
	]);
	expect(await list({ linked_to: controls["A.8.24"] })).toEqual(["Expired"]);
	expect(await list({ of_measures_of: controls["A.7.4"] })).toEqual([]);
});

test("two people who approve at once make one version", async () => {
	await tools.use("updateControl", { id: controls["A.5.1"], name: "Policies" });
	const { sha256 } = await read();
	const answers = await Promise.all([1, 2, 3, 4].map(() => approve(sha256)));
	expect(answers.map(({ status }) => status).sort()).toEqual([
		200, 409, 409, 409,
	]);
});

test("a reason, a risk or an obligation justifies a control", async () => {
	const { framework } = await add("addFramework", { name: "Justified" });
	const ids: string[] = [];
	for (const more of [{}, {}, {}, { inclusion_justification: "We want it" }]) {
		const { control } = await add("addControl", {
			framework_id: framework.id,
			section_title: "1",
			name: "Control",
			...more,
		});
		ids.push(control.id);
	}
	const count = async () =>
		(
			await tools.use("getStatementOfApplicability", {
				framework_id: framework.id,
			})
		).without_justification;
	expect(await count()).toBe(3);
	await add("addObligation", {
		requirement: "Report incidents",
		linked_record_ids: [ids[0]],
	});
	expect(await count()).toBe(2);
	await add("addRisk", {
		name: "Late reports",
		category: "Law",
		treatment: "MITIGATED",
		inherent_likelihood: 2,
		inherent_impact: 2,
		linked_record_ids: [ids[1]],
	});
	expect(await count()).toBe(1);
});

test("wrong input names what is wrong", async () => {
	for (const [input, message] of [
		[{ version_number: 99 }, /version_number: there is no approved version 99/],
		[
			{ version_number: 1, as_of: new Date(Date.now() - 1000).toISOString() },
			/as_of: must be left out/,
		],
		[{ framework_id: controls["A.5.1"] }, /framework_id/],
	] as const) {
		const { status, body } = await tools.call("getStatementOfApplicability", {
			framework_id,
			...input,
		});
		expect([status, body.message]).toEqual([
			400,
			expect.stringMatching(message),
		]);
	}
	const empty = await add("addFramework", { name: "Empty" });
	const nothing = await tools.use("getStatementOfApplicability", {
		framework_id: empty.framework.id,
	});
	const refused = await tools.call("approveStatementOfApplicability", {
		framework_id: empty.framework.id,
		sha256: nothing.sha256,
	});
	expect([refused.status, refused.body.message]).toEqual([
		400,
		expect.stringContaining("has no controls"),
	]);
});
