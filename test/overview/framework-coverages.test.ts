import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

test("the coverage of the frameworks is that of the home page, now and at a past moment", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const { control } = await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.8",
		name: "Encryption",
	});
	const { measure } = await calls.call("addMeasure", {
		organization_id,
		name: "Encrypt disks",
		category: "Technology",
		state: "NOT_STARTED",
	});
	await calls.call("linkRecords", {
		record_id: control.id,
		linked_record_id: measure.id,
	});
	const { risk: last } = await calls.call("addRisk", {
		organization_id,
		name: "Theft",
		category: "Security",
		treatment: "MITIGATED",
		inherent_likelihood: 5,
		inherent_impact: 4,
	});
	await calls.call("updateMeasure", { id: measure.id, state: "IMPLEMENTED" });

	const row = { framework_id: framework.id, name: "ISO 27001", included: 1 };
	const now = await calls.call("getCoverages", { organization_id });
	expect(now).toEqual({
		coverage: [{ ...row, covered: 1, partly_covered: 0 }],
	});
	const overview = await calls.call("getOverview", { organization_id });
	expect(overview.coverage).toEqual(now.coverage);
	const { framework: other } = await calls.call("addFramework", {
		organization_id,
		name: "A framework without controls",
	});
	expect(
		await calls.call("getCoverages", {
			organization_id,
			framework_ids: [framework.id],
		}),
		"only the framework that is asked about",
	).toEqual(now);
	await calls.call("deleteFramework", { id: other.id });
	expect(
		await calls.call("getCoverages", {
			organization_id,
			as_of: last.updated_at,
		}),
	).toEqual({ coverage: [{ ...row, covered: 0, partly_covered: 0 }] });
	// A second measure makes the control partly covered from then on.
	const { measure: second } = await calls.call("addMeasure", {
		organization_id,
		name: "Encrypt backups",
		category: "Technology",
	});
	await calls.call("linkRecords", {
		record_id: control.id,
		linked_record_id: second.id,
	});
	const { measure: done } = await calls.call("updateMeasure", {
		id: second.id,
		state: "IMPLEMENTED",
	});
	await calls.call("updateMeasure", { id: second.id, state: "IN_PROGRESS" });
	expect(await calls.call("getCoverages", { organization_id })).toEqual({
		coverage: [{ ...row, covered: 0, partly_covered: 1 }],
	});
	expect(
		await calls.call("getCoverages", {
			organization_id,
			as_of: done.updated_at,
		}),
	).toEqual({ coverage: [{ ...row, covered: 1, partly_covered: 0 }] });
});
