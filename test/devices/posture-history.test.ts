import { afterAll, beforeAll, expect, test } from "vitest";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { makeId } from "../../src/id.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import {
	makePostureStore,
	observation,
	type PostureStore,
	START,
} from "../support/posture-store.ts";

let database: TestDatabase;
let store: PostureStore;
beforeAll(async () => {
	database = await createDatabase();
	store = await makePostureStore(database);
});
afterAll(() => database.drop());

const at = (minute: number) => new Date(START + minute * 60_000);

test("a report that is sent again with further results is extended by exactly these results", async () => {
	const device = await store.makeActiveDevice();
	const id = makeId(store.organizationId, "device_posture_report");
	const first = observation("DISK_ENCRYPTION", 1, "PASS", id);
	const second = {
		...observation("SCREEN_LOCK", 1, "FAIL", id),
		evidence: { a: 1 },
	};
	await store.postures.record(device.keyHash, [first], 100);
	await store.postures.record(device.keyHash, [first, second], 100);
	await store.postures.record(device.keyHash, [second], 100);
	const { rows } = await database.owner.query<{ results: unknown }>(
		"select results from posture_reports where device_id = $1",
		[device.id],
	);
	expect(rows).toEqual([
		{
			results: [
				{
					check_key: "DISK_ENCRYPTION",
					status: "PASS",
					observed_at: "2026-03-01T00:01:00.000000Z",
				},
				{
					check_key: "SCREEN_LOCK",
					status: "FAIL",
					observed_at: "2026-03-01T00:01:00.000000Z",
					evidence: { a: 1 },
				},
			],
		},
	]);
	expect(await store.readSpans(device.id)).toHaveLength(2);
});

test("a result with a future time is stored with the current time, and is recognized when it is sent again", async () => {
	const device = await store.makeActiveDevice();
	const id = makeId(store.organizationId, "device_posture_report");
	const future = Date.now() + 3_600_000;
	const claim = {
		...observation("DISK_ENCRYPTION", 0, "PASS", id),
		observed_at: future * 1000,
	};
	await store.postures.record(device.keyHash, [claim], 100);
	await store.postures.record(device.keyHash, [claim], 100);
	const [span] = await store.readSpans(device.id);
	expect(span?.since.getTime()).toBeLessThanOrEqual(Date.now());
	expect(await store.countReports(device.id)).toEqual({
		reports: 1,
		results: 1,
	});
});

test("an older observation never replaces the current state", async () => {
	const device = await store.makeActiveDevice();
	await store.postures.record(
		device.keyHash,
		[observation("A", 10, "PASS")],
		100,
	);
	await store.postures.record(
		device.keyHash,
		[observation("A", 5, "FAIL")],
		100,
	);
	expect(await store.readSpans(device.id)).toEqual([
		{
			check_key: "A",
			status: "FAIL",
			since: at(5),
			last_observed_at: at(5),
			is_current: false,
		},
		{
			check_key: "A",
			status: "PASS",
			since: at(10),
			last_observed_at: at(10),
			is_current: true,
		},
	]);
});

test("if the raw reports have been removed, a contradicting result splits a span at its known ends", async () => {
	const device = await store.makeActiveDevice();
	for (const minute of [0, 10, 20, 30]) {
		await store.postures.record(
			device.keyHash,
			[observation("A", minute, "PASS")],
			100,
		);
	}
	await database.owner.query(
		"delete from posture_reports where device_id = $1",
		[device.id],
	);
	await store.postures.record(
		device.keyHash,
		[observation("A", 15, "FAIL")],
		100,
	);
	expect(await store.readSpans(device.id)).toMatchObject([
		{ status: "PASS", since: at(0), last_observed_at: at(0) },
		{ status: "FAIL", since: at(15), last_observed_at: at(15) },
		{
			status: "PASS",
			since: at(30),
			last_observed_at: at(30),
			is_current: true,
		},
	]);
});

test("the first of two observations with the same time to arrive counts", async () => {
	const device = await store.makeActiveDevice();
	for (const minute of [0, 1, 2]) {
		await store.postures.record(
			device.keyHash,
			[observation("A", minute, "PASS")],
			100,
		);
	}
	const before = await store.readSpans(device.id);
	for (const minute of [0, 1, 2]) {
		await store.postures.record(
			device.keyHash,
			[observation("A", minute, "FAIL")],
			100,
		);
	}
	expect(await store.readSpans(device.id)).toEqual(before);
});

test("however often checks change, the current spans of a device stay together", async () => {
	const devices = await Promise.all(
		Array.from({ length: 60 }, store.makeActiveDevice),
	);
	const checks = CHECK_KEYS;
	// In each round, another check has changed.
	const rounds = 2 * checks.length;
	for (let round = 0; round <= rounds; round++) {
		await Promise.all(
			devices.map(({ keyHash }) =>
				store.postures.record(
					keyHash,
					checks.map((check, n) => {
						const changes = Math.ceil((round - n) / checks.length);
						return observation(check, round, changes % 2 ? "FAIL" : "PASS");
					}),
					100,
				),
			),
		);
	}
	const { rows } = await database.owner.query<{
		spans: number;
		pages: number;
	}>(
		`select count(*)::int as spans,
			(count(distinct (ctid::text::point)[0]) filter (where is_current))::int as pages
		from posture_spans where device_id = any ($1::text[]) group by device_id`,
		[devices.map(({ id }) => id)],
	);
	expect(rows.map(({ spans }) => spans)).toEqual(
		devices.map(() => checks.length + rounds),
	);
	const pages = rows.reduce((sum, row) => sum + row.pages, 0) / rows.length;
	// As new rows at the end of the table, they would lie on eight.
	expect(pages).toBeLessThan(5);
});
