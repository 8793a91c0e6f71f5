import { afterAll, beforeAll, expect, test } from "vitest";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let ids: Record<"risk" | "measure" | "vendor" | "asset", string>;
beforeAll(async () => {
	tools = await shareTools();
	const { risk } = await add("addRisk", {
		...{ name: "Fire", category: "Site", treatment: "MITIGATED" },
		...{ inherent_likelihood: 2, inherent_impact: 5 },
	});
	const { measure } = await add("addMeasure", {
		name: "Sprinklers",
		category: "Site",
		linked_record_ids: [risk.id],
	});
	const { vendor } = await add("addVendor", { name: "Globex" });
	const { asset } = await add("addAsset", {
		name: "Server",
		asset_type: "PHYSICAL",
		vendor_ids: [vendor.id],
	});
	ids = {
		risk: risk.id,
		measure: measure.id,
		vendor: vendor.id,
		asset: asset.id,
	};
});
afterAll(() => tools.close());

const add = async (tool: string, input: object = {}): Promise<Json> =>
	tools.use(tool, { organization_id: tools.organizationId, ...input });

const LISTS = [
	["risk", "listRisks", "risks"],
	["measure", "listMeasures", "measures"],
	["vendor", "listVendors", "vendors"],
	["asset", "listAssets", "assets"],
] as const;

test("archived records leave lists and counts until they are asked for, and come back unchanged", async () => {
	const record_ids = Object.values(ids);
	const { changed_record_ids } = await tools.use(
		"archiveRecords",
		{ organization_id: tools.organizationId, record_ids },
		tools.member.token,
	);
	expect(changed_record_ids.sort()).toEqual(record_ids.sort());
	for (const [kind, list, key] of LISTS) {
		expect((await add(list)).total, list).toBe(0);
		expect((await add("countRecords", { kind })).total).toBe(0);
		const archived = await add(list, { filter: { archived: true } });
		expect(archived[key]).toMatchObject([
			{ id: ids[kind], archived_at: expect.any(String) },
		]);
		const counted = { kind, filter: { archived: true } };
		expect((await add("countRecords", counted)).total).toBe(1);
	}
	const { risks } = await add("getOverview");
	expect(risks.inherent).toEqual([]);
	const { linked_records } = await tools.use("listLinkedRecords", {
		record_id: ids.risk,
	});
	expect(linked_records).toMatchObject([{ id: ids.measure }]);

	const again = await add("archiveRecords", { record_ids });
	expect(again.changed_record_ids).toEqual([]);
	await add("archiveRecords", { record_ids, archived: false });
	for (const [kind, list, key] of LISTS) {
		expect((await add(list))[key]).toMatchObject([
			{ id: ids[kind], archived_at: null },
		]);
	}
	const { changes } = await tools.use("getRecordHistory", { id: ids.vendor });
	expect(JSON.stringify(changes)).toContain("archived_at");
});

test("a record that cannot be archived, or does not exist, leaves the others as they are", async () => {
	const { task } = await add("addTask", { name: "Call the plumber" });
	const gone = await add("addVendor", { name: "Gone" });
	await tools.use("deleteVendor", { id: gone.vendor.id });
	for (const other of [task.id, gone.vendor.id]) {
		const { status, body } = await tools.call("archiveRecords", {
			organization_id: tools.organizationId,
			record_ids: [ids.risk, other],
		});
		expect([status, body.message]).toEqual([
			400,
			expect.stringContaining("record_ids"),
		]);
	}
	expect((await add("listRisks")).total).toBe(1);
});

test("an archived measure covers no control", async () => {
	const { framework } = await add("addFramework", { name: "ISO 27001" });
	const { control } = await add("addControl", {
		framework_id: framework.id,
		section_title: "A.7",
		name: "Fire protection",
	});
	await tools.use("linkRecords", {
		record_id: control.id,
		linked_record_id: ids.measure,
	});
	await tools.use("updateMeasure", { id: ids.measure, state: "IMPLEMENTED" });
	const { evidence } = await add("addEvidence", {
		name: "Photo",
		linked_record_ids: [ids.measure],
	});
	const coverage = async () =>
		(await tools.use("getFrameworkCoverage", { id: framework.id })).coverage;
	expect(await coverage()).toMatchObject({ covered: 1, with_evidence: 1 });
	await tools.use("updateEvidence", {
		id: evidence.id,
		valid_until: "2020-01-01",
	});
	expect(await coverage()).toMatchObject({ covered: 1, with_evidence: 0 });
	await add("archiveRecords", { record_ids: [ids.measure] });
	expect(await coverage()).toMatchObject({ covered: 0 });
});

test("archived evidence is overdue for nobody, counts for no control, and is found with its control", async () => {
	const { framework } = await add("addFramework", { name: "SOC 2" });
	const { control } = await add("addControl", {
		framework_id: framework.id,
		section_title: "CC6",
		name: "Access reviews",
	});
	const addReview = async (name: string, valid_until: string) =>
		(
			await add("addEvidence", {
				name,
				valid_until,
				linked_record_ids: [control.id],
			})
		).evidence.id;
	const old = await addReview("First quarter", "2020-03-31");
	const now = await addReview("This quarter", "2999-12-31");
	const overdue = async () =>
		(await add("getOverview")).reminders
			.filter(({ register }: Json) => register === "evidence")
			.map((one: Json) => one.overdue);
	const before = (await overdue())[0];
	await add("archiveRecords", { record_ids: [old] });
	expect([0, ...(await overdue())].at(-1)).toBe(before - 1);
	const listed = async (filter: object) =>
		(
			await add("listEvidence", {
				filter: { linked_to: control.id, ...filter },
			})
		).evidence.map(({ id }: Json) => id);
	expect(await listed({})).toEqual([now]);
	expect(await listed({ archived: true })).toEqual([old]);
	const proved = async () =>
		(await tools.use("getFrameworkCoverage", { id: framework.id })).coverage
			.with_evidence;
	expect(await proved()).toBe(1);
	await add("archiveRecords", { record_ids: [now] });
	expect(await proved()).toBe(0);
	const statement = await tools.use("getStatementOfApplicability", {
		framework_id: framework.id,
	});
	expect(JSON.stringify(statement)).not.toContain(now);
});
