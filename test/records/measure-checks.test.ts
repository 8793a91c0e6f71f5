import { afterAll, beforeAll, expect, test } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { postureResult } from "../support/service.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { countChecksNow } from "../support/upkeep.ts";

let assay: TestTools;
beforeAll(async () => {
	assay = await shareTools();
});
afterAll(() => assay.close());

/** Makes an organization in which 3 of 4 devices pass the check of disk encryption. */
async function makeCompany() {
	const { pool } = assay.database;
	const organization_id = await createOrganization(pool, "Measures");
	const { token } = await assay.makeUser({ [organization_id]: "admin" });
	const use = (tool: string, input: Json = {}): Promise<Json> =>
		assay.use(tool, input, token);
	const devices = await assay.activateDevices(4, organization_id);
	const report = async (at: number, status: string) => {
		const results = [postureResult({ check_key: "DISK_ENCRYPTION", status })];
		await assay.post("postures", { results }, { key: devices[at]?.key ?? "" });
	};
	const count = () => countChecksNow(pool, organization_id);
	for (const [at, status] of ["PASS", "PASS", "PASS", "FAIL"].entries()) {
		await report(at, status);
	}
	await count();
	const add = async (fields: Json = {}): Promise<Json> =>
		(
			await use("addMeasure", {
				...{ organization_id, name: "Encryption", category: "Endpoint" },
				...{ state: "IMPLEMENTED", verified_by_check: "Full-disk encryption" },
				...fields,
			})
		).measure;
	return { organization_id, token, use, add, report, count };
}

test("a measure says what its check shows, and follows the devices", async () => {
	const company = await makeCompany();
	const { id, ...added } = await company.add({ verified_by_percent: 95 });
	expect(added).toMatchObject({
		verified_by_check: "DISK_ENCRYPTION",
		verified_by_percent: 95,
		verification: "NOT_MET",
		pass_percent: 75,
		is_contradicted: true,
	});
	const read = async () => (await company.use("getMeasure", { id })).measure;
	await company.report(3, "PASS");
	await company.count();
	expect(await read()).toMatchObject({
		verification: "MET",
		pass_percent: 100,
		is_contradicted: false,
	});
	await company.report(0, "UNKNOWN");
	await company.count();
	expect(await read()).toMatchObject({
		verification: "NOT_MET",
		is_contradicted: true,
	});
	const planned = await company.use("updateMeasure", {
		id,
		state: "IN_PROGRESS",
	});
	expect(planned.measure).toMatchObject({
		verification: "NOT_MET",
		is_contradicted: false,
	});
});

test("exactly the wanted share is enough, and missing data never is", async () => {
	const company = await makeCompany();
	const verify = async (fields: Json) =>
		(await company.add(fields)).verification;
	expect(await verify({ verified_by_percent: 75 })).toBe("MET");
	expect(await verify({ verified_by_percent: 76 })).toBe("NOT_MET");
	expect(await verify({})).toBe("NOT_MET");
	// Nobody has reported this check, and the next one is not required.
	const unreported = { verified_by_check: "TIME_SYNC", verified_by_percent: 1 };
	expect(await company.add(unreported)).toMatchObject({
		verification: "NOT_MET",
		is_contradicted: true,
	});
	const { organization_id } = company;
	const checks = [{ check_key: "TIME_SYNC", is_required: false }];
	await company.use("updateDevicePolicy", { organization_id, checks });
	await company.count();
	expect(await company.add(unreported)).toMatchObject({
		verification: "NO_DATA",
		pass_percent: null,
		is_contradicted: true,
	});
	expect(await company.add({ verified_by_check: null })).toMatchObject({
		verification: null,
		pass_percent: null,
		is_contradicted: false,
	});
});

test("lists filter by the contradiction and the check, and brief rows have the flag", async () => {
	const company = await makeCompany();
	const { organization_id } = company;
	const wrong = await company.add({ name: "Wrong" });
	await company.add({ name: "Right", verified_by_percent: 50 });
	await company.add({ name: "Free", verified_by_check: null });
	const list = async (filter: Json, detail = "brief") =>
		(await company.use("listMeasures", { organization_id, filter, detail }))
			.measures;
	expect(await list({ is_contradicted: true })).toEqual([
		expect.objectContaining({ id: wrong.id, is_contradicted: true }),
	]);
	const names = async (filter: Json) =>
		(await list(filter)).map(({ name }: Json) => name).sort();
	expect(await names({ is_contradicted: false })).toEqual(["Free", "Right"]);
	expect(await names({ verified_by_check: "SCREEN_LOCK" })).toEqual([]);
	const misspelled = await assay.call(
		"listMeasures",
		{ organization_id, filter: { verified_by_check: "DISC_ENCRYPTION" } },
		company.token,
	);
	expect(misspelled.status).toBe(400);
	expect(await names({ verified_by_check: "full-disk encryption" })).toEqual([
		"Right",
		"Wrong",
	]);
	const overview = await company.use("getOverview", { organization_id });
	expect(overview.contradicted_measures).toEqual([
		{
			id: wrong.id,
			name: "Wrong",
			check_key: "DISK_ENCRYPTION",
			check_name: "Full-disk encryption",
			pass_percent: 75,
			required_percent: 100,
		},
	]);
});

test("a contradicted measure covers no control", async () => {
	const company = await makeCompany();
	const { organization_id } = company;
	const { framework } = await company.use("addFramework", {
		organization_id,
		name: "ISO 27001:2022",
	});
	const { control } = await company.use("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.8.24",
		name: "Use of cryptography",
	});
	const measure = await company.add({ linked_record_ids: [control.id] });
	const coverage = (only_gaps = false) =>
		company.use("getFrameworkCoverage", { id: framework.id, only_gaps });
	const before = await coverage(true);
	expect(before.coverage).toEqual({
		...{ controls: 1, included: 1, covered: 0, contradicted: 1 },
		partly_covered: 0,
		with_evidence: 0,
		coverage_percent: 0,
	});
	expect(before.controls).toEqual([
		expect.objectContaining({
			...{ measures: 1, implemented_measures: 0, contradicted_measures: 1 },
			...{ started_measures: 0, planned_measures: 0 },
		}),
	]);
	const read = async () =>
		(await company.use("getControl", { id: control.id })).coverage;
	expect(await read()).toMatchObject({
		implementation: "CONTRADICTED",
		measures: [
			{
				...{ id: measure.id, state: "CONTRADICTED", pass_percent: 75 },
				...{ verified_by_check: "DISK_ENCRYPTION", verified_by_percent: 100 },
			},
		],
	});
	const linked = async () =>
		(
			await company.use("listLinkedRecords", { record_id: control.id })
		).linked_records.map(({ id, is_contradicted }: Json) => [
			id,
			is_contradicted,
		]);
	expect(await linked()).toEqual([[measure.id, true]]);
	const overview = async () =>
		(await company.use("getOverview", { organization_id })).coverage;
	expect(await overview()).toMatchObject([{ included: 1, covered: 0 }]);
	const { measure: policy } = await company.use("addMeasure", {
		organization_id,
		name: "Policy",
		category: "IT",
		state: "IMPLEMENTED",
		linked_record_ids: [control.id],
	});
	// The measure that no check contradicts covers the control, but only partly.
	expect((await coverage()).coverage).toMatchObject({
		...{ covered: 0, partly_covered: 1, contradicted: 0 },
	});
	expect(await overview()).toMatchObject([{ covered: 0, partly_covered: 1 }]);
	await company.use("updateMeasure", {
		id: measure.id,
		verified_by_percent: 75,
	});
	await company.use("deleteMeasure", { id: policy.id });
	expect((await coverage()).coverage).toMatchObject({
		covered: 1,
		contradicted: 0,
	});
	expect(await read()).toMatchObject({
		implementation: "IMPLEMENTED",
	});
	expect(await linked()).toEqual([[measure.id, false]]);
	expect(await overview()).toMatchObject([{ included: 1, covered: 1 }]);
});
