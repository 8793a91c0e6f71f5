import type { PoolClient } from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { withTenant } from "../../src/db/pool.ts";
import {
	SWEEP_START,
	type Sweep,
} from "../../src/devices/nonconformities/sweep.ts";
import { keepDevices, makeSweeps } from "../../src/devices/upkeep.ts";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { ReadableLog } from "../support/readable-log.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

const CHECKS = ["FIREWALL_ENABLED", "SCREEN_LOCK"];

/** Stores an organization whose devices have failed both checks for longer than the grace. */
async function makeFleet(devices: number) {
	const id = await createOrganization(database.pool, "Fleet");
	const ids = Array.from({ length: devices }, () => makeId(id, "device"));
	const owner = (sql: string, ...values: unknown[]) =>
		database.owner.query(sql, [id, ...values]);
	await owner(
		`insert into devices (
			organization_id, id, name, status, hardware_uuid, hardware_hash, platform, hostname,
			hostname_key, activated_at, last_seen_at, search_text
		)
		select $1, id, 'device', 'ACTIVE', id, sha256(convert_to(id, 'UTF8')), 'LINUX', id,
			sort_key(id), now() - interval '100 days', now(), search_text(id)
		from unnest($2::text[]) id`,
		ids,
	);
	await owner(
		`insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status,
			first_report_id, last_report_id, is_current
		)
		select $1, id, key, now() - interval '10 days', now(), 'FAIL', $4, $4, true
		from unnest($2::text[]) id, unnest($3::text[]) key`,
		ids,
		CHECKS,
		makeId(id, "device_posture_report"),
	);
	return {
		id,
		/** Devices of these numbers pass the first check from now on. */
		pass: async (from: number, end: number) => {
			const picked = [CHECKS[0], ids.slice(from, end)];
			await owner(
				`update posture_spans set is_current = false
				where organization_id = $1 and check_key = $2 and device_id = any ($3)`,
				...picked,
			);
			await owner(
				`insert into posture_spans
				select organization_id, device_id, check_key, now(), now(), 'PASS',
					first_report_id, last_report_id, true
				from posture_spans
				where organization_id = $1 and check_key = $2 and device_id = any ($3)`,
				...picked,
			);
		},
		/** The number of devices that each nonconformity has, by its check and status. */
		places: async (): Promise<Record<string, number>> => {
			const { rows } = await owner(
				`select k.check_key || ' ' || n.status as name, count(p.position)::int as devices
				from check_nonconformities k
				join nonconformities n on n.organization_id = $1 and n.id = k.nonconformity_id
				left join nonconformity_devices p on p.organization_id = $1
					and p.nonconformity_id = k.nonconformity_id and p.until is null
				where k.organization_id = $1 group by n.id, 1`,
			);
			return Object.fromEntries(rows.map((row) => [row.name, row.devices]));
		},
	};
}

/** The number of rows and index entries of spans and places that the session has read. */
async function rowsRead(client: PoolClient): Promise<number> {
	const { rows } = await client.query<{ read: number }>(
		`with tables as (
			select unnest('{posture_spans, nonconformity_devices}'::regclass[]) as id
		)
		select sum(pg_stat_get_xact_tuples_returned(id))::int as read from (
			select id from tables
			union all select indexrelid from pg_index where indrelid in (select id from tables)
		) x`,
	);
	return rows[0]?.read ?? 0;
}

/** Does one step of a sweep. Returns the next one, and how many spans and places the step read. */
async function step(id: string, sweep: Sweep) {
	return withTenant(database.pool, id, async (client) => {
		// PostgreSQL reads small tables as a whole. This makes it plan as it does for large ones.
		await client.query(
			"set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off",
		);
		const before = await rowsRead(client);
		const next = await keepDevices(client, id, false, sweep);
		if (next === "BUSY") throw new Error("no other process works here");
		return { next, read: (await rowsRead(client)) - before };
	});
}

/** Sweeps in steps. Returns their number and the most rows that one of them read. */
async function sweepAll(id: string, size: number) {
	let steps = 0;
	let most = 0;
	let sweep: Sweep | undefined = { ...SWEEP_START, size };
	while (sweep) {
		const { next, read }: Awaited<ReturnType<typeof step>> = await step(
			id,
			sweep,
		);
		sweep = next;
		steps++;
		most = Math.max(most, read);
	}
	return { steps, most };
}

test("small steps open nonconformities with all devices, end places and close the last", async () => {
	const fleet = await makeFleet(25);
	// 50 failures in steps of 10. The last step finds nothing.
	expect((await sweepAll(fleet.id, 10)).steps).toBe(6);
	expect(await fleet.places()).toEqual({
		"FIREWALL_ENABLED OPEN": 25,
		"SCREEN_LOCK OPEN": 25,
	});
	await fleet.pass(0, 20);
	await sweepAll(fleet.id, 10);
	expect(await fleet.places()).toMatchObject({ "FIREWALL_ENABLED OPEN": 5 });
	await fleet.pass(20, 25);
	await sweepAll(fleet.id, 10);
	expect(await fleet.places()).toEqual({
		"FIREWALL_ENABLED CLOSED": 0,
		"SCREEN_LOCK OPEN": 25,
	});
});

test("a step reads a few rows for each failure it looks at, and not the whole fleet", async () => {
	const fleet = await makeFleet(300);
	await sweepAll(fleet.id, 1_000);
	await database.owner.query("vacuum analyze");
	const { steps, most } = await sweepAll(fleet.id, 20);
	// 600 places and as many failures.
	expect(steps).toBe(61);
	expect(most).toBeGreaterThanOrEqual(20);
	expect(most).toBeLessThanOrEqual(200);
});

test("after a statement is canceled the upkeep goes on with smaller steps, and says so once", async () => {
	const fleet = await makeFleet(90);
	await database.owner.query(`
		create function cancel() returns trigger language plpgsql as $$
		begin
			if (select count(*) from added) > 60 then
				raise exception 'canceling statement due to statement timeout' using errcode = '57014';
			end if;
			return null;
		end $$;
		create trigger cancel after insert on nonconformity_devices referencing new table as added
			for each statement execute function cancel()`);
	const log = new ReadableLog();
	onTestFinished(async () => {
		await database.owner.query("drop function cancel cascade");
	});
	const { sweeps, sweep } = makeSweeps(database.pool, false, log.logger);
	do await sweep(fleet.id);
	while (sweeps.has(fleet.id));
	expect(await fleet.places()).toEqual({
		"FIREWALL_ENABLED OPEN": 90,
		"SCREEN_LOCK OPEN": 90,
	});
	expect(log.lines).toEqual([
		expect.objectContaining({ level: 40, organization: fleet.id, rows: 500 }),
	]);
});
