import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let framework_id: string;
beforeAll(async () => {
	tools = await shareTools();
	({
		framework: { id: framework_id },
	} = await add("addFramework", { name: "ISO/IEC 27001" }));
});
afterAll(() => tools.close());

const add = async (tool: string, input: object): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const day = (days: number) =>
	new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** Returns the reminders of the overview: the register with its date, and both counts. */
const reminders = async () =>
	(await add("getOverview", {})).reminders
		.map(({ register, field, overdue, due_soon }: Json) => [
			`${register} ${field}`,
			overdue,
			due_soon,
		])
		.sort();

const addRisk = async (input: object) =>
	(
		await add("addRisk", {
			name: "Theft",
			category: "Sites",
			treatment: "MITIGATED",
			inherent_likelihood: 3,
			inherent_impact: 3,
			...input,
		})
	).risk;

test("an audit reminds of its beginning until it begins, and of the end of its result once it is completed", async () => {
	const dates = { starts_on: day(-3), ends_on: day(-1), valid_until: day(5) };
	for (const state of ["IN_PROGRESS", "REJECTED", "OUTDATED"]) {
		await add("addAudit", { framework_id, state, ...dates });
	}
	expect(await reminders()).toEqual([]);
	const { audit } = await add("addAudit", { framework_id, ...dates });
	expect(await reminders()).toEqual([["audits starts_on", 1, 0]]);
	await tools.use("updateAudit", { id: audit.id, state: "COMPLETED" });
	expect(await reminders()).toEqual([["audits valid_until", 0, 1]]);
	await tools.use("deleteAudit", { id: audit.id });
});

test("a risk reminds of its next review, and of the end of its acceptance while it is accepted", async () => {
	await addRisk({ accepted_until: day(-2) });
	expect(await reminders()).toEqual([]);
	const risk = await addRisk({
		treatment: "ACCEPTED",
		accepted_until: day(-2),
		next_review_date: day(7),
	});
	expect(await reminders()).toEqual([
		["risks accepted_until", 1, 0],
		["risks next_review_date", 0, 1],
	]);
	await tools.use("updateRisk", { id: risk.id, treatment: "AVOIDED" });
	expect(await reminders()).toEqual([["risks next_review_date", 0, 1]]);
	await tools.use("archiveRecords", { record_ids: [risk.id] });
	expect(await reminders()).toEqual([]);
});

test("audits are found by their type, their lead, their auditor and what they examine", async () => {
	const { people } = await add("addPeople", {
		full_name: "Ada Lovelace",
		primary_email_address: "ada@example.com",
		kind: "EMPLOYEE",
	});
	const { audit } = await add("addAudit", {
		framework_id,
		name: "Surveillance",
		audit_type: "EXTERNAL",
		auditor: "Northern Certification",
		owner_id: people.id,
		scope: "The data centre in Porto",
		starts_on: "2026-05-04",
		ends_on: "2026-05-06",
	});
	expect(audit).toMatchObject({ owner_name: "Ada Lovelace" });
	await add("addAudit", { framework_id, starts_on: "2026-06-01" });
	for (const filter of [
		{ audit_type: "EXTERNAL" },
		{ owner_id: people.id },
		{ owner: "ada" },
		{ query: "northern" },
		{ query: "porto" },
		{ starts_on_from: "2026-05-01", starts_on_until: "2026-05-31" },
	]) {
		const { audits } = await add("listAudits", { filter });
		expect(audits, JSON.stringify(filter)).toMatchObject([{ id: audit.id }]);
	}
	const { audits } = await add("listAudits", {
		order_by: { field: "starts_on" },
		filter: { starts_on_from: "2026-05-01", starts_on_until: "2026-06-30" },
	});
	expect(audits.map(({ starts_on }: Json) => starts_on)).toEqual([
		"2026-05-04",
		"2026-06-01",
	]);
});
