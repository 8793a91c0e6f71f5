import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { callByName } from "../support/call-by-name.ts";
import { postureResult } from "../support/service.ts";
import { timeBetweenChanges } from "../support/time-between-changes.ts";
import { type Json, shareTools, type TestTools } from "../support/tools.ts";
import { check, exceptionCalls, inDays } from "./exception-calls.ts";

let assay: TestTools;
let organization_id: string;
beforeAll(async () => {
	assay = await shareTools();
	organization_id = assay.organizationId;
});
afterAll(() => assay.close());

const { failingDevice, request, approve } = exceptionCalls(() => assay);

/** Makes a device report the checks other than the one that it fails. */
async function reportOthers(key: string, others: Record<string, string> = {}) {
	const results = CHECK_KEYS.filter((one) => one !== check).map((one) =>
		postureResult({
			check_key: one,
			status: others[one] ?? "PASS",
			observed_at: inDays(0),
		}),
	);
	const answer = await assay.post("postures", { results }, { key });
	expect(answer.status).toBe(204);
}

test("a device that complies only by an exception stays COMPLIANT, and its row, the summary and the filters say so", async () => {
	const excused = await failingDevice();
	const other = await failingDevice();
	const fine = await assay.activateDevice();
	await reportOthers(excused.key);
	await reportOthers(other.key, { SCREEN_LOCK: "UNKNOWN" });
	await reportOthers(fine.key);
	await assay.post(
		"postures",
		{
			results: [
				postureResult({
					check_key: check,
					status: "PASS",
					observed_at: inDays(0),
				}),
			],
		},
		{ key: fine.key },
	);
	const rowsOf = async (more: Json = {}): Promise<Json> => {
		const { devices } = await assay.use("listDevices", {
			organization_id,
			...more,
		});
		return Object.fromEntries(
			devices.map(({ id, ...row }: Json) => [
				id,
				[row.compliance, row.compliant_by_exception],
			]),
		);
	};
	const summary = async (more: Json = {}): Promise<Json> => {
		const found = await assay.use("listPostureSummary", {
			organization_id,
			...more,
		});
		const { fail, fail_excepted } = found.checks.find(
			({ check_key }: Json) => check_key === check,
		);
		return {
			compliant: found.devices_by_compliance.COMPLIANT,
			by_exception: found.compliant_by_exception,
			...{ fail, fail_excepted },
		};
	};
	expect(await rowsOf()).toEqual({
		[excused.id]: ["NONCOMPLIANT", false],
		[other.id]: ["NONCOMPLIANT", false],
		[fine.id]: ["COMPLIANT", false],
	});
	expect(await summary()).toEqual({
		...{ compliant: 1, by_exception: 0 },
		...{ fail: 2, fail_excepted: 0 },
	});
	const before = await timeBetweenChanges(assay.database);
	for (const device of [excused, other]) {
		const { id } = await request({ device_id: device.id });
		await approve(id);
	}
	// The other device is excused too, but not proved to comply.
	expect(await rowsOf()).toEqual({
		[excused.id]: ["COMPLIANT", true],
		[other.id]: ["UNKNOWN", false],
		[fine.id]: ["COMPLIANT", false],
	});
	expect(await summary()).toEqual({
		...{ compliant: 2, by_exception: 1 },
		...{ fail: 2, fail_excepted: 2 },
	});
	expect(await rowsOf({ as_of: before })).toMatchObject({
		[excused.id]: ["NONCOMPLIANT", false],
	});
	expect(await summary({ as_of: before })).toMatchObject({
		by_exception: 0,
		fail_excepted: 0,
	});
	const filter = { compliance: "COMPLIANT", check_state: "EXCEPTED" };
	expect(Object.keys(await rowsOf({ filter }))).toEqual([excused.id]);
	const { now, ...board } = await callByName(
		assay.database,
		{ ...assay.viewer, name: "Vera", email: "vera@example.com" },
		"getBoardSummary",
		{ organization_id, compared_with: "2001-02-03" },
	);
	expect(board.before).toBeNull();
	expect(now.fleet).toMatchObject({
		devices_by_compliance: { COMPLIANT: 2, UNKNOWN: 1 },
		compliant_by_exception: 1,
	});
	const countsOf = async (type: string): Promise<Json> => {
		const taken = await assay.use("takeSnapshot", {
			...{ organization_id, name: type, type },
		});
		const { snapshot } = await assay.use("getSnapshot", {
			id: taken.snapshot.id,
		});
		return [snapshot.compliant_devices, snapshot.compliant_by_exception];
	};
	expect(await countsOf("DEVICES")).toEqual([2, 1]);
	expect(await countsOf("RISKS")).toEqual([undefined, undefined]);
	const brief = await assay.use("listDevices", {
		organization_id,
		detail: "brief",
	});
	const fieldOf = (id: string) =>
		brief.devices.find((row: Json) => row.id === id).compliant_by_exception;
	expect([fieldOf(excused.id), fieldOf(fine.id)]).toEqual([true, undefined]);
	const { device } = await assay.use("getDevice", { id: excused.id });
	expect(device).toMatchObject({
		compliance: "COMPLIANT",
		compliant_by_exception: true,
	});
});
