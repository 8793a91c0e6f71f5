import { afterAll, beforeAll, expect, test } from "vitest";
import { type Calls, shareCalls } from "../support/calls.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";

let calls: Calls;
let organization_id: string;
beforeAll(async () => {
	calls = await shareCalls();
	organization_id = calls.organizationId;
});
afterAll(() => calls.close());

/** Adds a framework with a control, and approves its statement after a moment. */
async function approveStatement() {
	const { framework } = await calls.call("addFramework", {
		organization_id,
		name: "ISO 27001",
		version: "2022",
	});
	const { control } = await calls.call("addControl", {
		organization_id,
		framework_id: framework.id,
		section_title: "A.5",
		name: "Policies",
	});
	const framework_id: string = framework.id;
	const { sha256 } = await calls.call("getStatementOfApplicability", {
		framework_id,
	});
	const unapproved = await timeBetweenChanges(calls.database);
	await calls.call("approveStatementOfApplicability", { framework_id, sha256 });
	return { framework_id, control_id: control.id as string, unapproved };
}

const read = (input: object) =>
	calls.call("getStatementOfApplicability", input);

test("an approved version names its framework as it was at the approval", async () => {
	const { framework_id } = await approveStatement();
	await calls.call("updateFramework", {
		id: framework_id,
		name: "ISO/IEC 27001",
		version: "2029",
	});
	const { framework: now } = await read({ framework_id });
	expect(now).toMatchObject({ name: "ISO/IEC 27001", version: "2029" });
	const { framework: then } = await read({ framework_id, version_number: 1 });
	expect(then).toEqual({
		id: framework_id,
		name: "ISO 27001",
		version: "2022",
	});
});

test("the approval of a framework's statement is known in the past after the framework is deleted", async () => {
	const { framework_id, control_id, unapproved } = await approveStatement();
	expect(await read({ framework_id, as_of: unapproved })).toMatchObject({
		approval: null,
	});
	const as_of = await timeBetweenChanges(calls.database);
	const before = await read({ framework_id, as_of });
	expect(before).toMatchObject({
		approval: { version_number: 1 },
		is_changed: false,
	});
	await calls.call("deleteControl", { id: control_id });
	await calls.call("deleteFramework", { id: framework_id });
	expect(await read({ framework_id, as_of })).toEqual(before);
	expect(
		await calls.refusal("getStatementOfApplicability", { framework_id }),
	).toMatchObject({ code: "not_found" });
});
