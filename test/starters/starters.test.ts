import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { STARTER_FRAMEWORKS } from "../../src/starters/all.ts";
import { STARTER_MEASURES } from "../../src/starters/measures.ts";
import { STARTER_RISKS } from "../../src/starters/risks.ts";
import { UNDECIDED_NOTE } from "../../src/starters/undecided.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

/** Returns a new organization and its member, so that tests cannot disturb each other. */
async function newOrganization() {
	const organization_id = await createOrganization(tools.database.pool, "New");
	const { token } = await tools.makeUser({ [organization_id]: "member" });
	const use = (tool: string, input: object = {}) =>
		tools.use(tool, { organization_id, ...input }, token);
	/** Calls a tool that names a record instead of the organization. */
	const useOne = (tool: string, input: object) => tools.use(tool, input, token);
	const call = (input: object) =>
		tools.call("addStarters", { organization_id, ...input }, token);
	const totals = async () => {
		const total = async (tool: string) => (await use(tool)).total as number;
		return {
			frameworks: await total("listFrameworks"),
			controls: await total("listControls"),
			measures: await total("listMeasures"),
			risks: await total("listRisks"),
		};
	};
	return { organization_id, use, useOne, call, totals };
}

test("every key is unique, and every measure that a starter names exists", () => {
	const keys = STARTER_MEASURES.map(({ key }) => key);
	expect(new Set(keys).size).toBe(keys.length);
	const controls = STARTER_FRAMEWORKS.flatMap(({ key, controls }) =>
		controls.map((control) => ({ ...control, id: `${key} ${control.number}` })),
	);
	expect(new Set(controls.map(({ id }) => id)).size).toBe(controls.length);
	const named = [...controls, ...STARTER_RISKS].flatMap((one) => one.measures);
	expect(new Set(named)).toEqual(new Set(keys));
	expect(
		STARTER_FRAMEWORKS.map(({ key, controls }) => [key, controls.length]),
	).toEqual([
		["iso-27001", 93],
		["soc-2", 33],
		["nis-2", 15],
		["gdpr", 18],
	]);
});

test("a framework arrives with the chosen measures and risks, linked, and counts as coverage", async () => {
	const { organization_id, use, useOne, totals } = await newOrganization();
	const measures = STARTER_MEASURES.map(({ key }) => key);
	const risks = ["phishing", "stolen-device"];
	const { framework_id, added } = await use("addStarters", {
		framework: "soc-2",
		measures,
		risks,
	});
	expect(added).toEqual({
		controls: 33,
		measures: 29,
		risks: 2,
		links: expect.any(Number),
	});
	expect(await totals()).toEqual({
		frameworks: 1,
		controls: 33,
		measures: 29,
		risks: 2,
	});
	// The last entry of the audit log counts what the call has added.
	const { rows: entries } = await tools.database.owner.query(
		`select operation, record_kind, record_id, record_name, changes
		from audit_entries where organization_id = $1 order by id desc limit 1`,
		[organization_id],
	);
	expect(entries).toEqual([
		{
			operation: "addStarters",
			record_kind: "organization",
			record_id: organization_id,
			record_name: "New",
			changes: { starter_records: { after: { frameworks: 1, ...added } } },
		},
	]);
	// Nobody has decided about a suggested risk, and it says so.
	const { rows: notes } = await tools.database.owner.query(
		"select distinct note from risks where organization_id = $1",
		[organization_id],
	);
	expect(notes).toEqual([{ note: UNDECIDED_NOTE }]);
	const undecided = async (is_undecided: boolean) =>
		(await use("listRisks", { filter: { is_undecided } })).total;
	expect(await undecided(true)).toBe(2);
	expect(await undecided(false)).toBe(0);
	const { risks: suggested } = await use("listRisks");
	await useOne("updateRisk", { id: suggested[0].id, note: null });
	await useOne("updateRisk", { id: suggested[1].id, note: "Ours" });
	expect(await undecided(true)).toBe(0);
	expect(await undecided(false)).toBe(2);
	const { measures: found } = await use("listMeasures", {
		filter: { query: "second factor" },
	});
	const linked = await useOne("listLinkedRecords", { record_id: found[0].id });
	expect(
		linked.linked_records.map(({ name }: { name: string }) => name).sort(),
	).toEqual([
		"CC6.1 Access to systems is protected",
		"CC6.6 Attacks from outside are kept out",
		"Somebody gives their password to an attacker",
	]);
	await useOne("updateMeasure", { id: found[0].id, state: "IMPLEMENTED" });
	const { framework } = await useOne("getFramework", { id: framework_id });
	expect(framework.name).toBe("SOC 2");
	const overview = await use("getOverview");
	expect(overview.coverage[0]).toMatchObject({
		...{ included: 33, covered: 0, partly_covered: 2 },
	});
});

test("a second call adds nothing and does not link again what somebody unlinked", async () => {
	const { use, useOne, totals } = await newOrganization();
	const input = {
		framework: "gdpr",
		measures: ["backups"],
		risks: ["data-loss"],
	};
	await use("addStarters", input);
	const [{ id }] = (await use("listMeasures")).measures;
	const [risk] = (await use("listRisks")).risks;
	await useOne("unlinkRecords", { record_id: id, linked_record_id: risk.id });
	const before = await totals();
	const again = await use("addStarters", input);
	expect(again.added).toEqual({ controls: 0, measures: 0, risks: 0, links: 0 });
	expect(await totals()).toEqual(before);
});

test("a framework that comes later is linked to measures that are there", async () => {
	const { use } = await newOrganization();
	await use("addStarters", { measures: ["backups"] });
	const { added } = await use("addStarters", {
		framework: "gdpr",
		controls: ["Art. 32", "Art. 37"],
	});
	expect(added).toEqual({ controls: 2, measures: 0, risks: 0, links: 1 });
	const { controls, frameworks, measures } = await use("listStarters", {
		framework: "gdpr",
	});
	const there = (all: { is_there: boolean }[]) =>
		all.filter(({ is_there }) => is_there).length;
	expect([there(controls), there(measures)]).toEqual([2, 1]);
	expect(
		frameworks.filter(
			(one: { framework_id: string | null }) => one.framework_id,
		),
	).toMatchObject([{ key: "gdpr", controls: 18 }]);
});

test("simultaneous calls add each record once", async () => {
	const { call, totals } = await newOrganization();
	const input = { framework: "nis-2", measures: ["mfa"], risks: ["phishing"] };
	const answers = await Promise.all([call(input), call(input), call(input)]);
	expect(answers.map(({ status }) => status)).toEqual([200, 200, 200]);
	expect(await totals()).toEqual({
		frameworks: 1,
		controls: 15,
		measures: 1,
		risks: 1,
	});
});

test("one wrong key adds nothing, and the error names it", async () => {
	const { call, totals } = await newOrganization();
	const wrong = {
		framework: "gdpr",
		measures: ["mfa", "magic"],
		risks: ["rain"],
	};
	expect(await call(wrong)).toMatchObject({
		status: 400,
		body: { fields: [{ field: "measures[1]" }, { field: "risks[0]" }] },
	});
	expect(await call({ controls: ["A.5.1"] })).toMatchObject({
		status: 400,
		body: { fields: [{ field: "controls[0]" }] },
	});
	expect(await call({ framework: "pci" })).toMatchObject({ status: 400 });
	expect(await totals()).toEqual({
		frameworks: 0,
		controls: 0,
		measures: 0,
		risks: 0,
	});
});

test("a viewer cannot add starters: 403", async () => {
	const { organization_id } = await newOrganization();
	const { token } = await tools.makeUser({ [organization_id]: "viewer" });
	expect(
		await tools.call("addStarters", { organization_id }, token),
	).toMatchObject({ status: 403 });
});
