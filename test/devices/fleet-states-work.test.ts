import type { PoolClient } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import { fleetStates } from "../../src/devices/fleet-states.ts";
import { CHECK_KEYS } from "../../src/devices/terms.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

const DEVICES = 300;
/** The most rows of one step of the plan, for each device: one for each check, and one more. */
const ROWS_A_DEVICE = CHECK_KEYS.length + 1;

/** Stores an organization whose devices are all new and fail a check. */
async function makeNewFleet() {
	const id = await createOrganization(database.pool, "New fleet");
	const ids = Array.from({ length: DEVICES }, () => makeId(id, "device"));
	await database.owner.query(
		`insert into devices (
			organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname,
			hostname_key, activated_at, last_seen_at, search_text
		)
		select $1, id, 'device', 'ACTIVE', id, sha256(convert_to(id, 'UTF8')), 'LINUX', id,
			sort_key(id), now() - interval '1 hour', now(), search_text(id)
		from unnest($2::text[]) id`,
		[id, ids],
	);
	await database.owner.query(
		`insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status,
			first_report_id, last_report_id, is_current
		)
		select $1, id, 'SCREEN_LOCK', now() - interval '10 days', now(), 'FAIL', $3, $3, true
		from unnest($2::text[]) id`,
		[id, ids, makeId(id, "device_posture_report")],
	);
	await database.owner.query("analyze devices, posture_spans");
	return { id, ids };
}

/** Excuses each of the devices from another check. */
async function excuseEach(id: string, ids: string[]): Promise<void> {
	await database.owner.query(
		`insert into device_exceptions (
			organization_id, id, scope, device_id, check_key, reason, starts_at, ends_at,
			decision, decided_at
		)
		select $1, exception, 'DEVICE', device, 'FIREWALL_ENABLED', 'Replaced soon',
			now() - interval '1 day', now() + interval '1 day', 'APPROVED', now() - interval '1 day'
		from unnest($2::text[], $3::text[]) x (device, exception)`,
		[id, ids, ids.map(() => makeId(id, "device_exception"))],
	);
	await database.owner.query("analyze device_exceptions");
}

interface Step {
	"Actual Rows": number;
	"Actual Loops": number;
	"Rows Removed by Filter"?: number;
	Plans?: Step[];
}

/** The most rows that a step of the statement reads, in all its loops. */
async function mostRowsRead(client: PoolClient, id: string): Promise<number> {
	const { rows } = await client.query<{ "QUERY PLAN": [{ Plan: Step }] }>(
		`explain (analyze, timing off, format json)
		with ${fleetStates()} select count(*) from judged`,
		[id],
	);
	const most = (step: Step): number =>
		Math.max(
			(step["Actual Rows"] + (step["Rows Removed by Filter"] ?? 0)) *
				step["Actual Loops"],
			...(step.Plans ?? []).map(most),
		);
	const [row] = rows;
	if (!row) throw new Error("there is no plan");
	return most(row["QUERY PLAN"][0].Plan);
}

test("the work for the states of a fleet grows with its devices, also if all are new or excused", async () => {
	const { id, ids } = await makeNewFleet();
	const read = () =>
		withTenant(database.pool, id, (client) => mostRowsRead(client, id));
	expect(await read()).toBeLessThan(ROWS_A_DEVICE * DEVICES);
	await excuseEach(id, ids);
	expect(await read()).toBeLessThan(ROWS_A_DEVICE * DEVICES);
});
