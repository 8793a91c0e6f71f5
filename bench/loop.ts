/**
 * Measures whether the loop from checks to nonconformities keeps up. It fills an empty database
 * with devices that report all checks, lets 5 % of them fail, and then lets 1 % of the devices change
 * the status of a check each minute. After each change, it measures how long the service takes to
 * settle the nonconformities, and how long a sweep takes that has nothing to do.
 *
 *     DATABASE_URL=postgres://… npm run bench:loop -- [--devices 100000] [--minutes 5]
 *
 * The database must be empty, and its user a superuser. Use one that you can drop.
 *
 *     npm run bench:loop -- --heartbeats [--devices 100000] [--pairs 5] [--seconds 15]
 *
 * With --heartbeats, it starts a service and a PostgreSQL in a temporary folder instead, and
 * measures how much the loop slows heartbeats down (loop-heartbeats.ts).
 */
import { performance } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { readConfig } from "../src/config/config.ts";
import { openDatabase } from "../src/db/database.ts";
import { makePool, withTenant } from "../src/db/pool.ts";
import {
	SWEEP_START,
	type Sweep,
} from "../src/devices/nonconformities/sweep.ts";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { keepDevices } from "../src/devices/upkeep.ts";
import { makeId } from "../src/id.ts";
import { createOrganization } from "../src/organizations/organization-store.ts";
import { measureHeartbeats } from "./loop-heartbeats.ts";
import { runAndUndo, type Undo } from "./run.ts";

const { values } = parseArgs({
	options: {
		heartbeats: { type: "boolean", default: false },
		devices: { type: "string", default: "100000" },
		minutes: { type: "string", default: "5" },
		pairs: { type: "string", default: "5" },
		seconds: { type: "string", default: "15" },
	},
});
const [devices, minutes, pairs, seconds] = [
	values.devices,
	values.minutes,
	values.pairs,
	values.seconds,
].map(Number) as [number, number, number, number];
if (values.heartbeats) {
	const undo: Undo[] = [];
	await runAndUndo(
		() => measureHeartbeats({ devices, pairs, seconds }, undo),
		undo,
	);
}

const database = await openDatabase(readConfig(process.env));
const { pool } = database;
const organizationId = await createOrganization(pool, "Loop");
const owner = makePool(database.ownerConnection, { max: 1, role: "none" });
const run = (sql: string, values: unknown[] = []) => owner.query(sql, values);
const BATCH = 2_000;

async function seed(): Promise<void> {
	// The triggers that make events would take most of the time.
	await run("set session_replication_role = replica");
	for (let from = 0; from < devices; from += BATCH) {
		const ids = Array.from({ length: Math.min(BATCH, devices - from) }, () =>
			makeId(organizationId, "device"),
		);
		await run(
			`insert into devices (
				organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname,
				hostname_key, activated_at, last_seen_at, search_text
			)
			select $1, id, 'device', 'ACTIVE', id, sha256(convert_to(id, 'UTF8')), 'LINUX', id,
				sort_key(id), now() - interval '100 days', now(), search_text(id)
			from unnest($2::text[]) id`,
			[organizationId, ids],
		);
		await run(
			`insert into posture_spans (
				organization_id, device_id, check_key, since, last_observed_at, status,
				first_report_id, last_report_id, is_current
			)
			select $1, id, key, now() - interval '10 days', now(),
				case when key = $5 and place % 20 = 0 then 'FAIL' else 'PASS' end, $4, $4, true
			from unnest($2::text[]) with ordinality d (id, place), unnest($3::text[]) key`,
			[
				organizationId,
				ids,
				CHECK_KEYS,
				makeId(organizationId, "device_posture_report"),
				CHECK_KEYS[0],
			],
		);
	}
	await run("set session_replication_role = origin");
	await run("analyze");
}

/** Does a whole sweep of the upkeep. Returns milliseconds. */
async function settle(): Promise<number> {
	const began = performance.now();
	let sweep: Sweep | undefined = SWEEP_START;
	while (sweep) {
		const step: Sweep = sweep;
		const next = await withTenant(pool, organizationId, (client) =>
			keepDevices(client, organizationId, false, step),
		);
		if (next === "BUSY") throw new Error("another process does the upkeep");
		sweep = next;
	}
	return performance.now() - began;
}

/** Half of these devices begin to fail a check, and half of those that fail begin to pass. */
const change = (share: number) =>
	run(
		`with picked as (
			select s.device_id, s.check_key, s.status from posture_spans s
			where s.organization_id = $1 and s.is_current and s.check_key = $2
			order by md5(s.device_id || clock_timestamp()) limit $3
		), closed as (
			update posture_spans s set is_current = false
			from picked p
			where s.organization_id = $1 and s.is_current and s.device_id = p.device_id
				and s.check_key = p.check_key
			returning s.device_id, s.check_key, s.status, s.first_report_id
		)
		insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status,
			first_report_id, last_report_id, is_current
		)
		select $1, device_id, check_key, now() - interval '4 days', now(),
			case status when 'PASS' then 'FAIL' else 'PASS' end, first_report_id, first_report_id, true
		from closed`,
		[organizationId, CHECK_KEYS[1], Math.round(devices * share)],
	);

const log = (name: string, ms: number) =>
	process.stdout.write(`${name}: ${Math.round(ms)} ms\n`);
await seed();
log(`the first sweep, ${devices / 20} devices fail`, await settle());
log("a sweep with nothing to do", await settle());
for (let minute = 1; minute <= minutes; minute++) {
	await change(0.01);
	log(`minute ${minute}, 1 % of the devices changed`, await settle());
}
log("a sweep with nothing to do", await settle());
await owner.end();
await database.close();
