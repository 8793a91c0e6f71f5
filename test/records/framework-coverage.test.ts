import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

async function addMeasure(state: string): Promise<string> {
	const { measure } = await calls.call("addMeasure", {
		organization_id,
		name: "Sprinklers",
		category: "Premises",
		state,
	});
	return measure.id;
}

test("coverage counts included controls whose measures that apply are all implemented", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27001",
	});
	const coverage = async () =>
		(await calls.call("getFramework", { id: framework.id })).coverage;
	expect(await coverage()).toEqual({
		controls: 0,
		included: 0,
		covered: 0,
		partly_covered: 0,
		contradicted: 0,
		with_evidence: 0,
		coverage_percent: null,
	});
	const addControl = async (fields: object = {}) =>
		(
			await calls.call("addControl", {
				organization_id,
				framework_id: framework.id,
				section_title: "A.5",
				name: "Policies",
				...fields,
			})
		).control.id;
	const controls: string[] = [];
	for (let n = 0; n < 5; n++) controls.push(await addControl());
	const excluded = await addControl({
		status: "EXCLUDED",
		exclusion_justification: "No office",
	});
	const done = await addMeasure("IMPLEMENTED");
	const planned = await addMeasure("IN_PROGRESS");
	const intended = await addMeasure("NOT_STARTED");
	const dropped = await addMeasure("NOT_APPLICABLE");
	for (const [measure, control] of [
		[done, controls[0]],
		[planned, controls[0]],
		[planned, controls[1]],
		[done, excluded],
		[intended, controls[2]],
		[done, controls[3]],
		[dropped, controls[3]],
		[dropped, controls[4]],
	]) {
		await calls.call("linkRecords", {
			record_id: measure,
			linked_record_id: control,
		});
	}
	expect(await coverage()).toEqual({
		controls: 6,
		included: 5,
		covered: 1,
		partly_covered: 1,
		contradicted: 0,
		with_evidence: 0,
		coverage_percent: 20,
	});
	const whole = await calls.call("getFrameworkCoverage", { id: framework.id });
	expect(whole.coverage).toEqual(await coverage());
	const measures = new Map(
		whole.controls.map((control: Record<string, unknown>) => [
			control.id,
			[
				control.measures,
				control.implemented_measures,
				control.started_measures,
				control.planned_measures,
				control.is_covered,
				control.is_partly_covered,
			],
		]),
	);
	expect(measures).toEqual(
		new Map([
			[controls[0], [2, 1, 1, 0, false, true]],
			[controls[1], [1, 0, 1, 0, false, false]],
			[controls[2], [1, 0, 0, 1, false, false]],
			[controls[3], [2, 1, 0, 0, true, false]],
			[controls[4], [1, 0, 0, 0, false, false]],
			[excluded, [1, 1, 0, 0, true, false]],
		]),
	);
	const gaps = await calls.call("getFrameworkCoverage", {
		id: framework.id,
		only_gaps: true,
	});
	expect(gaps.coverage).toEqual(whole.coverage);
	expect(gaps.controls.map(({ id }: { id: string }) => id)).toEqual(
		whole.controls
			.map(({ id }: { id: string }) => id)
			.filter((id: string) => id !== controls[3] && id !== excluded),
	);
	// The statement, the list of frameworks and the home page count in the same way.
	const statement = await calls.call("getStatementOfApplicability", {
		framework_id: framework.id,
	});
	const implementations = new Map(
		statement.controls.map((one: Record<string, unknown>) => [
			one.id,
			one.implementation,
		]),
	);
	expect(implementations).toEqual(
		new Map([
			[controls[0], "PARTLY_IMPLEMENTED"],
			[controls[1], "IN_PROGRESS"],
			[controls[2], "NOT_STARTED"],
			[controls[3], "IMPLEMENTED"],
			[controls[4], "NONE"],
			[excluded, null],
		]),
	);
	for (const [id, implementation] of implementations) {
		const { coverage } = await calls.call("getControl", { id });
		expect(coverage).toMatchObject({ implementation });
	}
	const { coverage: partly } = await calls.call("getControl", {
		id: controls[0],
	});
	const unverified = {
		...{ name: "Sprinklers", verified_by_check: null, pass_percent: null },
		verified_by_percent: 100,
	};
	expect(new Set(partly.measures)).toEqual(
		new Set([
			{ ...unverified, id: done, state: "IMPLEMENTED" },
			{ ...unverified, id: planned, state: "IN_PROGRESS" },
		]),
	);
	const { coverage: counted } = await calls.call("getCoverages", {
		organization_id,
	});
	expect(counted).toMatchObject([
		{ included: 5, covered: 1, partly_covered: 1 },
	]);
});

test("the coverage of a missing framework is not_found", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "Gone",
	});
	await calls.call("deleteFramework", { id: framework.id });
	const refusal = calls.refusal("getFrameworkCoverage", { id: framework.id });
	expect((await refusal).code).toBe("not_found");
});

test("a framework's page names the first two measures of each control, without archived ones", async () => {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27017",
	});
	const { control } = await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.5",
		name: "Policies",
	});
	const names = async () => {
		const { controls } = await calls.call("getFrameworkCoverage", {
			id: framework.id,
		});
		const [{ measures, measure_names }] = controls;
		return { measures, measure_names };
	};
	expect(await names()).toEqual({ measures: 0, measure_names: [] });
	const ids: string[] = [];
	for (const name of ["cameras", "Doors", "Alarms", "Badges"]) {
		const { measure } = await calls.call("addMeasure", {
			organization_id,
			name,
			category: "Premises",
			linked_record_ids: [control.id],
		});
		ids.push(measure.id);
	}
	expect(await names()).toEqual({
		measures: 4,
		measure_names: ["Alarms", "Badges"],
	});
	await calls.call("archiveRecords", {
		organization_id,
		record_ids: [ids[2]],
		archived: true,
	});
	expect(await names()).toEqual({
		measures: 3,
		measure_names: ["Badges", "cameras"],
	});
});
