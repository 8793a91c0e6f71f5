import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

const add = async (name: string, key: string, input: object) =>
	(await calls.call(name, { organization_id, ...input }))[key];

test("the measures of risks are named with their state, now and at a past moment, without archived ones", async () => {
	const addRisk = (name: string) =>
		add("addRisk", "risk", {
			name,
			category: "Security",
			treatment: "MITIGATED",
			inherent_likelihood: 5,
			inherent_impact: 4,
		});
	const addMeasure = (name: string, fields: object = {}) =>
		add("addMeasure", "measure", { name, category: "Technology", ...fields });
	const [theft, fire, flood] = [
		await addRisk("Theft"),
		await addRisk("Fire"),
		await addRisk("Flood"),
	];
	const locks = await addMeasure("Locks");
	const alarm = await addMeasure("Alarm", { state: "IMPLEMENTED" });
	// No device shows that it works.
	const disks = await addMeasure("Encrypt disks", {
		state: "IMPLEMENTED",
		verified_by_check: "DISK_ENCRYPTION",
	});
	const old = await addMeasure("Old");
	const link = (risk: { id: string }, measure: { id: string }) =>
		calls.call("linkRecords", {
			record_id: risk.id,
			linked_record_id: measure.id,
		});
	for (const measure of [locks, alarm, disks, old]) await link(theft, measure);
	await link(alarm, fire);
	await calls.call("archiveRecords", {
		organization_id,
		record_ids: [old.id],
		archived: true,
	});
	const read = async (as_of?: string) => {
		const { risks } = await calls.call("getMeasuresOfRisks", {
			organization_id,
			risk_ids: [theft, fire, flood].map(({ id }) => id),
			...(as_of && { as_of }),
		});
		return new Map(
			risks.map(
				({ risk_id: id, measures }: { risk_id: string; measures: [] }) => [
					id,
					measures,
				],
			),
		);
	};
	const then = new Map([
		[
			theft.id,
			[
				{ name: "Alarm", state: "IMPLEMENTED" },
				{ name: "Encrypt disks", state: "CONTRADICTED" },
				{ name: "Locks", state: "NOT_STARTED" },
			],
		],
		[fire.id, [{ name: "Alarm", state: "IMPLEMENTED" }]],
	]);
	expect(await read()).toEqual(then);
	const { measure } = await calls.call("updateMeasure", {
		id: locks.id,
		description: "On each door",
	});
	const as_of = measure.updated_at;
	await calls.call("unlinkRecords", {
		record_id: theft.id,
		linked_record_id: locks.id,
	});
	expect((await read()).get(theft.id)).toHaveLength(2);
	expect(await read(as_of)).toEqual(then);
});

test("risks of another organization are not found", async () => {
	const other = await calls.refusal("getMeasuresOfRisks", {
		organization_id,
		risk_ids: ["rsk_unknown"],
	});
	expect(other.code).toBe("bad_request");
});
