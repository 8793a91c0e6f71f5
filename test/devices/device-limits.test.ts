import type { PoolClient } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { HourlyBytes } from "../../src/devices/hourly-bytes.ts";
import { getDevice, listDevices } from "../../src/devices/read-operations.ts";
import { getDevicePostureReport } from "../../src/devices/report-operations.ts";
import {
	CHECK_KEYS,
	MAX_DISPLAY_LENGTH,
	MAX_HOURLY_BYTES,
	MAX_KEY_LENGTH,
	MAX_OTHER_CHECKS,
	MAX_RESULTS,
} from "../../src/devices/terms.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import {
	heartbeatBody,
	postureResult,
	readError,
	type TestDevice,
	untilTaken,
} from "../support/service.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

const report = (device: TestDevice, keys: readonly string[], fields = {}) =>
	fleet.assay.post(
		"postures",
		{
			results: keys.map((check_key) => postureResult({ check_key, ...fields })),
		},
		{ key: device.key },
	);
const keysFrom = (first: number, count: number) =>
	Array.from({ length: count }, (_, n) => `OWN_${first + n}`);

async function beat(device: TestDevice, fields: Record<string, unknown>) {
	const body = heartbeatBody({
		hardware_uuid: device.hardwareUuid,
		...fields,
	});
	return fleet.assay.post("heartbeat", body, { key: device.key });
}

const see = async ({ id }: TestDevice) =>
	(await fleet.call(getDevice, { id })).device;

async function listed({ id }: TestDevice, include_evidence = false) {
	const { devices } = await fleet.call(listDevices, {
		organization_id: fleet.assay.organizationId,
		size: 100,
		include_evidence,
	});
	return devices.find((device) => device.id === id);
}

describe("a device's own checks", () => {
	/** Creates a device that has the largest number of own checks. */
	async function makeFullDevice() {
		const device = await fleet.assay.activateDevice();
		for (let first = 0; first < MAX_OTHER_CHECKS; first += MAX_RESULTS) {
			const keys = keysFrom(first, MAX_RESULTS);
			expect((await report(device, keys)).status).toBe(204);
		}
		return device;
	}
	const further = keysFrom(MAX_OTHER_CHECKS, 1);

	test("one more than the limit is answered with 400, and nothing of the request is stored", async () => {
		const device = await makeFullDevice();
		const answer = await report(device, ["DISK_ENCRYPTION", ...further]);
		expect(await readError(answer)).toMatchObject({
			status: 400,
			error: "bad_request",
			message: expect.stringContaining(
				`has used ${MAX_OTHER_CHECKS} other checks`,
			),
		});
		const { postures, omitted_checks } = await see(device);
		expect(postures).toHaveLength(MAX_OTHER_CHECKS);
		expect(omitted_checks).toBe(0);
	});

	test("canonical checks, and own checks used before, are accepted beyond the limit", async () => {
		const device = await makeFullDevice();
		const [known] = keysFrom(7, 1);
		const answer = await report(device, [...CHECK_KEYS, `${known}`]);
		expect(answer.status).toBe(204);
		expect((await see(device)).postures).toHaveLength(
			MAX_OTHER_CHECKS + CHECK_KEYS.length,
		);
	});

	test("a check that was not used for 90 days makes room for another one", async () => {
		const device = await makeFullDevice();
		const setUnused = (days: number) =>
			fleet.assay.database.owner.query(
				`update device_check_keys set last_used_on = (now() at time zone 'UTC')::date - $2::int
				where device_id = $1 and check_key = 'OWN_0'`,
				[device.id, days],
			);
		await setUnused(89);
		expect((await report(device, further)).status).toBe(400);
		await setUnused(90);
		expect((await report(device, further)).status).toBe(204);
	});

	test("simultaneous requests share the limit", async () => {
		const device = await fleet.assay.activateDevice();
		const answers = await Promise.all(
			[0, 1, 2].map((n) =>
				untilTaken(() =>
					report(device, keysFrom(n * MAX_RESULTS, MAX_RESULTS)),
				),
			),
		);
		expect(answers.map(({ status }) => status).sort()).toEqual([204, 204, 400]);
	});

	test("requests to two processes share the limit", async () => {
		const { id } = await fleet.assay.activateDevice();
		const { owner, pool } = fleet.assay.database;
		const note = (client: PoolClient, first: number) =>
			client.query(
				`select agent_note_check_keys(array[key_hash], array_fill(1, array[150]), $2, $3, 90)
				from devices where id = $1`,
				[id, keysFrom(first, 150), MAX_OTHER_CHECKS],
			);
		const isWaiting = async () => {
			const { rows } = await pool.query(
				`select from pg_locks l join pg_database d on d.oid = l.database
				where d.datname = current_database() and l.locktype = 'advisory' and not l.granted`,
			);
			return rows.length > 0;
		};
		const [one, other] = [await owner.connect(), await owner.connect()];
		try {
			await one.query("begin");
			expect((await note(one, 0)).rows).toEqual([]);
			let isOver = false;
			const over = () => {
				isOver = true;
			};
			const waiting = note(other, 150);
			waiting.then(over, over);
			while (!isOver && !(await isWaiting()));
			await one.query("commit");
			// On a very busy machine the function's lock timeout may end the wait.
			const { rows } = await waiting.catch(() => note(other, 150));
			expect(rows).toEqual([{ agent_note_check_keys: 1 }]);
		} finally {
			one.release(true);
			other.release(true);
		}
	});

	test("another device's report in the same batch is stored", async () => {
		const full = await makeFullDevice();
		const other = await fleet.assay.activateDevice();
		const [rejected, stored] = await Promise.all([
			report(full, further),
			report(other, further),
		]);
		expect([rejected.status, stored.status]).toEqual([400, 204]);
		expect((await see(other)).postures).toMatchObject([
			{ check_key: further[0] },
		]);
	});
});

describe("texts of a device", () => {
	test("hardware_uuid and check_key have 200 characters at most", async () => {
		const device = await fleet.assay.enrollDevice();
		const long = "k".repeat(MAX_KEY_LENGTH + 1);
		const answer = await beat(device, { hardware_uuid: long });
		expect(await readError(answer)).toMatchObject({
			status: 400,
			message: `hardware_uuid must have at most ${MAX_KEY_LENGTH} characters`,
		});
		const hardware_uuid = long.slice(1);
		expect((await beat(device, { hardware_uuid })).status).toBe(200);
		expect(await readError(await report(device, ["A", long]))).toMatchObject({
			status: 400,
			message: `results[1].check_key must have at most ${MAX_KEY_LENGTH} characters`,
		});
		expect((await report(device, [long.slice(1)])).status).toBe(204);
	});

	test("texts for people are truncated, not rejected", async () => {
		const device = await fleet.assay.activateDevice();
		const fields = (text: string) => ({
			hostname: text,
			os_version: text,
			agent_version: text,
			serial_number: text,
		});
		const long = "é".repeat(1500);
		expect((await beat(device, fields(long))).status).toBe(200);
		expect(await see(device)).toMatchObject(
			fields(long.slice(0, MAX_DISPLAY_LENGTH)),
		);
		// A surrogate pair lies exactly where the text is cut off.
		const half = `${"x".repeat(MAX_DISPLAY_LENGTH - 1)}\u{1f600}`;
		expect((await beat(device, { hostname: half })).status).toBe(200);
		expect((await see(device)).hostname).toBe(
			`${"x".repeat(MAX_DISPLAY_LENGTH - 1)}\ufffd`,
		);
	});

	test("no tool returns hidden characters", async () => {
		const tag = "\u{e0049}\u{e007f}";
		const evil = `a\u001b[31mb\u202ec\u2066d\u200fe\u0085f${tag}\ng`;
		const plain = "a[31mbcdef g";
		const device = await fleet.assay.activateDevice();
		await beat(device, {
			hostname: evil,
			os_version: evil,
			serial_number: evil,
		});
		const answer = await report(device, [evil], {
			evidence: { [evil]: [evil, { inner: evil }], count: 1, none: null },
		});
		expect(answer.status).toBe(204);
		const found = await see(device);
		expect(found).toMatchObject({
			hostname: plain,
			os_version: plain,
			serial_number: plain,
			postures: [
				{
					check_key: plain,
					evidence: {
						[plain]: [plain, { inner: plain }],
						count: 1,
						none: null,
					},
				},
			],
		});
		// Only the single device names the policies of its groups.
		expect({ ...(await listed(device, true)), group_policies: [] }).toEqual(
			found,
		);
		const { rows } = await fleet.assay.database.owner.query(
			"select report_id from posture_reports where device_id = $1",
			[device.id],
		);
		const { posture_report } = await fleet.call(getDevicePostureReport, {
			device_id: device.id,
			report_id: rows[0].report_id,
		});
		expect(posture_report.results).toMatchObject([
			{ check_key: plain, evidence: { [plain]: [plain, { inner: plain }] } },
		]);
	});

	test("a hostname that consists of hidden characters does not make a device invalid", async () => {
		const device = await fleet.assay.activateDevice();
		expect((await beat(device, { hostname: "\u202e" })).status).toBe(200);
		expect((await see(device)).hostname).toBe("\ufffd");
	});
});

test("the size of lists and of a device's own page is limited even for the worst device", async () => {
	const device = await fleet.assay.activateDevice();
	// Releases without limits stored such values.
	await fleet.assay.database.owner.query(
		`insert into posture_spans
		select organization_id, id, 'OLD_' || lpad(n::text, 190, '0'), now(), now(), 'FAIL',
			repeat('A', 32), repeat('A', 32), true
		from devices, generate_series(1, 3000) n where id = $1`,
		[device.id],
	);
	const evidence = { text: "x".repeat(900_000) };
	for (const key of CHECK_KEYS) {
		expect((await report(device, [key], { evidence })).status).toBe(204);
	}
	const found = await see(device);
	expect(found.omitted_checks).toBe(3000 - MAX_OTHER_CHECKS);
	expect(found.postures).toHaveLength(MAX_OTHER_CHECKS + CHECK_KEYS.length);
	expect(
		found.postures.filter(({ evidence_is_omitted }) => evidence_is_omitted),
	).not.toEqual([]);
	expect(JSON.stringify(found).length).toBeLessThan(100_000);
	const inList = await listed(device, true);
	expect(JSON.stringify(inList).length).toBeLessThan(20_000);
	expect(inList?.postures.map(({ check_key }) => check_key)).toEqual(
		expect.arrayContaining([...CHECK_KEYS]),
	);
	expect(inList?.omitted_checks).toBeGreaterThan(2900);
});

describe("bytes per hour", () => {
	test("a device may store 64 MiB and then has to wait, while others do not", async () => {
		const [device, other] = [
			await fleet.assay.activateDevice(),
			await fleet.assay.activateDevice(),
		];
		// Spaces count too, although the database does not store them.
		const mebibyte = JSON.stringify({ results: [postureResult()] }).padEnd(
			1 << 20,
		);
		const send = ({ key }: TestDevice) =>
			fleet.assay.post("postures", mebibyte, { key });
		for (let sent = 0; sent < MAX_HOURLY_BYTES; sent += mebibyte.length) {
			expect((await send(device)).status).toBe(204);
		}
		const answer = await send(device);
		expect(answer.headers.get("retry-after")).toMatch(/^\d+$/);
		expect(await readError(answer)).toMatchObject({
			status: 503,
			error: "service_unavailable",
			message: expect.stringContaining("64 MiB"),
		});
		expect((await send(other)).status).toBe(204);
	});

	test("the limit is lifted when the hour ends, separately for each device", () => {
		let now = 0;
		const hourly = new HourlyBytes(100, () => now);
		hourly.add("a", 60);
		expect(hourly.isUsedUp("a")).toBe(false);
		hourly.add("a", 60);
		expect([hourly.isUsedUp("a"), hourly.isUsedUp("b")]).toEqual([true, false]);
		now = 3_599_999;
		expect(hourly.isUsedUp("a")).toBe(true);
		now = 3_600_000;
		expect(hourly.isUsedUp("a")).toBe(false);
		hourly.add("a", 99);
		expect(hourly.isUsedUp("a")).toBe(false);
		hourly.add("a", 1);
		expect(hourly.isUsedUp("a")).toBe(true);
	});

	test("a device that keeps sending is remembered in a fleet of any size", () => {
		const hourly = new HourlyBytes(100, () => 0);
		hourly.add("busy", 60);
		for (let n = 0; n < 99_999; n++) hourly.add(`${n}`, 1);
		hourly.add("busy", 60);
		// Each new device replaces the one that was used longest ago.
		for (let n = 0; n < 10; n++) hourly.add(`other ${n}`, 1);
		expect(hourly.isUsedUp("busy")).toBe(true);
	});
});
