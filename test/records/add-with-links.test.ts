import { afterAll, beforeAll, expect, test } from "vitest";
import { samples } from "../support/record-samples.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
let measure: Json;
let control: Json;
beforeAll(async () => {
	tools = await shareTools();
	({ measure } = await tools.use("addMeasure", {
		name: "Backup",
		category: "IT",
	}));
	const { framework } = await tools.use("addFramework", { name: "ISO 27001" });
	({ control } = await tools.use("addControl", {
		framework_id: framework.id,
		section_title: "A.8.13",
		name: "Backups",
	}));
});
afterAll(() => tools.close());

const risk = (fields: object) => ({
	name: "Data loss",
	category: "IT",
	treatment: "MITIGATED",
	inherent_likelihood: 3,
	inherent_impact: 3,
	...fields,
});

const linkedTo = async (id: string): Promise<string[]> =>
	(await tools.use("listLinkedRecords", { record_id: id })).linked_records.map(
		({ id }: Json) => id,
	);

test("a new record is linked to the records that it names, and both histories say so", async () => {
	const { risk: added } = await tools.use(
		"addRisk",
		risk({ linked_record_ids: [control.id, measure.id] }),
	);
	expect(await linkedTo(added.id)).toEqual([control.id, measure.id].sort());
	expect(await linkedTo(measure.id)).toContain(added.id);
	for (const [id, other] of [
		[added.id, { kind: "measure", id: measure.id, name: "Backup" }],
		[measure.id, { kind: "risk", id: added.id, name: "Data loss" }],
	]) {
		const { audit_entries } = await tools.use("listAuditLog", {
			filter: { record_id: id },
		});
		const changes = audit_entries.map(({ changes }: Json) => changes);
		expect(changes).toContainEqual({ linked_record: { after: other } });
	}
});

test("a device can be linked when it is added", async () => {
	const { device } = await tools.use("addDevice", {
		name: "laptop",
		linked_record_ids: [measure.id],
	});
	expect(await linkedTo(device.id)).toEqual([measure.id]);
});

test("all or nothing: a link that cannot be made stores no record, and the error names its index", async () => {
	const { risk: gone } = await tools.use("addRisk", risk({}));
	await tools.use("deleteRisk", { id: gone.id });
	const { total } = await tools.use("listRisks");
	const ofOthers = await tools.use(
		"addMeasure",
		{ name: "Theirs", category: "IT" },
		tools.stranger.token,
	);
	for (const [ids, message] of [
		[
			[measure.id, gone.id, ofOthers.measure.id],
			`linked_record_ids[1]: there is no risk ${gone.id} in this organization; linked_record_ids[2]: there is no measure ${ofOthers.measure.id} in this organization`,
		],
		[
			[measure.id, tools.organizationId],
			"linked_record_ids[1]: must be the id of a record that can be linked: ",
		],
		[
			[measure.id, measure.id],
			"linked_record_ids: must not contain the same value twice",
		],
		[
			Array.from({ length: 51 }, () => measure.id),
			"linked_record_ids: must have at most 50 entries",
		],
	] as const) {
		const { status, body } = await tools.call(
			"addRisk",
			risk({ linked_record_ids: ids }),
		);
		expect(status).toBe(400);
		expect(body.message).toContain(message);
	}
	expect((await tools.use("listRisks")).total).toBe(total);
});

test("every register whose records can be linked takes linked_record_ids, and no other", async () => {
	expect(samples.some(({ isLinkable }) => isLinkable)).toBe(true);
	for (const { one, isLinkable = false } of samples) {
		const { body } = await tools.call(`add${one}`, { linked_record_ids: "x" });
		expect(
			body.message.includes('"linked_record_ids" is not an argument'),
			one,
		).toBe(!isLinkable);
	}
});
