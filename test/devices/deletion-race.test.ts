import { afterAll, beforeAll, expect, test } from "vitest";
import {
	deleteDevice,
	reissueEnrollmentToken,
	revokeDevice,
} from "../../src/devices/write-operations.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import {
	heartbeatBody,
	postureResult,
	type TestDevice,
} from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

/**
 * Sends a report, again and again while the answer is 503. After a long wait for a lock, the
 * service turns reports of locked devices away for a few seconds. Returns the last status.
 */
async function reportUntilAnswered(device: TestDevice): Promise<number> {
	const report = { results: [postureResult()] };
	const { key } = device;
	const { status } = await fleet.assay.post("postures", report, { key });
	return status === 503 ? reportUntilAnswered(device) : status;
}

test("deleting, revoking and re-enrolling a device while it reports ends in one of these states and leaves nothing else behind", async () => {
	const { owner } = fleet.assay.database;
	for (let round = 0; round < 10; round++) {
		const { id, key } = await fleet.assay.activateDevice();
		const { enrollment_token } = await fleet.call(reissueEnrollmentToken, {
			id,
		});
		const report = { results: [postureResult()] };
		const answers = await Promise.all([
			fleet.assay.post("postures", report, { key }),
			fleet.assay.post("heartbeat", heartbeatBody(), { key }),
			fleet.call(revokeDevice, { id }).then(() => ({ status: 200 })),
			fleet.assay.post("enroll", { token: enrollment_token }),
			fleet.assay.post("postures", report, { key }),
			fleet.call(deleteDevice, { id }).then(
				() => ({ status: 200 }),
				() => ({ status: 200 }),
			),
			fleet.assay.post("postures", report, { key }),
		]).catch((error: { code?: string }) => {
			// The deletion may happen before the revocation.
			expect(error.code).toBe("not_found");
			return [];
		});
		// The service answers 503 if another change has locked the device for too long.
		for (const { status } of answers) {
			expect([200, 204, 401, 503]).toContain(status);
		}
		await fleet.call(deleteDevice, { id }).catch(() => {});
		await fleet.assay.post("postures", report, { key });
		const { rows } = await owner.query(
			"select count(*)::int as reports from posture_reports where device_id = $1",
			[id],
		);
		expect(rows).toEqual([{ reports: 0 }]);
	}
});

test.each([
	["alone", 0],
	["with a neighbour's, which is 204,", 1],
])("a report whose device is deleted while it is being stored, %s is answered with 401", async (_, neighbours) => {
	const { owner } = fleet.assay.database;
	const gone = await fleet.assay.activateDevice();
	const devices = [gone];
	while (devices.length <= neighbours) {
		devices.push(await fleet.assay.activateDevice());
	}
	const deleting = await owner.connect();
	await deleting.query("begin");
	await deleting.query("delete from devices where id = $1", [gone.id]);
	const reports = devices.map(reportUntilAnswered);
	await expect
		.poll(async () => {
			const { rowCount } = await owner.query(
				"select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
			);
			return rowCount;
		})
		.toBeGreaterThan(0);
	await deleting.query("commit");
	deleting.release();
	const answers = await Promise.all(reports);
	expect(answers).toEqual([401, 204].slice(0, 1 + neighbours));
});
