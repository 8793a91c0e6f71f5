import { afterAll, beforeAll, expect, test } from "vitest";
import { SILENCE_DAYS } from "../../src/devices/check-rules.ts";
import { DEVICES, FRESHNESS } from "../../src/devices/device-record.ts";
import {
	DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
	DEFAULT_POSTURE_INTERVAL_SECONDS,
	staleAfterSeconds,
} from "../../src/devices/terms.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";

let fleet: TestFleet;
beforeAll(async () => {
	fleet = await startFleet();
});
afterAll(() => fleet.assay.close());

test("a new organization has the default intervals with which agents start", async () => {
	const { rows } = await fleet.assay.database.owner.query(
		`select column_name, column_default::int as seconds from information_schema.columns
		where table_name = 'organizations' and column_name like '%_interval_seconds' order by 1`,
	);
	expect(rows).toEqual([
		{
			column_name: "heartbeat_interval_seconds",
			seconds: DEFAULT_HEARTBEAT_INTERVAL_SECONDS,
		},
		{
			column_name: "posture_interval_seconds",
			seconds: DEFAULT_POSTURE_INTERVAL_SECONDS,
		},
	]);
});

test("a policy has the default days of silence, whether it was saved or not", async () => {
	const { rows } = await fleet.assay.database.owner.query(
		`select column_default::int as days from information_schema.columns
		where table_name = 'device_policies' and column_name = 'max_silence_days'`,
	);
	expect(rows).toEqual([{ days: SILENCE_DAYS.default }]);
});

test.each([
	[0, "ONLINE"],
	[1, "STALE"],
])("%i s after the limit a device is %s, in lists and in metrics", async (seconds, freshness) => {
	const [id] = await fleet.seed(["laptop"]);
	const client = await fleet.assay.database.owner.connect();
	try {
		// Within a transaction the time stands still, and the rollback at the end leaves nothing.
		await client.query("begin");
		await client.query("delete from devices where id <> $1", [id]);
		await client.query(
			"update devices set last_seen_at = now() - $1 * interval '1 second'",
			[staleAfterSeconds(DEFAULT_HEARTBEAT_INTERVAL_SECONDS) + seconds],
		);
		const listed = await client.query(
			`select ${FRESHNESS} as freshness from ${DEVICES}`,
		);
		expect(listed.rows).toEqual([{ freshness }]);
		const counted = await client.query("select freshness from count_devices()");
		expect(counted.rows).toEqual([{ freshness }]);
	} finally {
		await client.query("rollback");
		client.release();
	}
});
