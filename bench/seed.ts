import type { Client } from "pg";
import { byteaArray } from "../src/db/array.ts";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { hashSecret } from "../src/tokens/secret.ts";
import { type Fleet, factsOf, organizationOf } from "./fleet.ts";

const ROWS = 5_000;
/** The name of the enrollment token of devices that send nothing. */
const SILENT = "benchmark, silent";

/**
 * Stores the fleet as if every device had enrolled and had sent its first heartbeat within the last
 * five minutes. Adds silent devices until there are `stored` in all. Each has the current spans of
 * all checks, and so many ended ones as it had `changes`. The client connects as the owner of the
 * database, because row-level security does not apply to the owner.
 */
export async function seed(
	client: Client,
	fleet: Fleet,
	stored = fleet.keys.length,
	changes = 1,
): Promise<void> {
	await client.query(
		"insert into organizations (id, name) select id, 'Organization ' || n from unnest($1::text[]) with ordinality o (id, n)",
		[fleet.organizations],
	);
	const silent = Math.round(stored / fleet.keys.length) - 1;
	const rows = Math.ceil(ROWS / (silent + 1));
	if (silent === 0) await seedDevices(client, fleet, rows, silent);
	else {
		await withoutIndexes(client, ["devices", "posture_spans"], async () => {
			await seedDevices(client, fleet, rows, silent);
			await seedSpans(client);
			for (let change = 0; change < changes; change++) {
				await seedEndedSpan(client, change);
			}
		});
	}
	await settle(client);
}

/**
 * Stores each device with so many silent ones. Their ids are of the same time, and their rows lie
 * between those of the others, as if each device of a large fleet had an equal chance to report.
 */
async function seedDevices(
	client: Client,
	fleet: Fleet,
	rows: number,
	silent: number,
): Promise<void> {
	for (let first = 0; first < fleet.keys.length; first += rows) {
		const keys = fleet.keys.slice(first, first + rows);
		const facts = keys.map((_, index) => factsOf(first + index));
		await client.query(
			`insert into devices (
				organization_id, id, name, status, key_hash, hardware_uuid, hardware_hash, serial_number,
				hostname, platform, os_version, agent_version, enrolled_with, enrolled_at, activated_at, last_seen_at
			)
			select
				d.organization_id,
				case when k = 0 then d.id else left(d.id, 24) || translate(left(encode(hash, 'base64'), 8), '+/', '-_') end,
				d.hostname || suffix, 'ACTIVE', case when k = 0 then d.key_hash else hash end,
				d.hardware_uuid || suffix, sha256(convert_to(d.hardware_uuid || suffix, 'UTF8')),
				d.serial_number || suffix, d.hostname || suffix, d.platform, d.os_version, d.agent_version,
				case when k = 0 then 'benchmark' else $11 end, now() - interval '1 day',
				now() - interval '1 day', now() - random() * interval '5 minutes'
			from unnest(
				$1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]
			) d (
				organization_id, id, key_hash, hardware_uuid, serial_number, hostname, platform, os_version, agent_version
			)
			cross join generate_series(0, $10::integer) k
			cross join lateral (
				select case when k = 0 then '' else '-' || k end as suffix, sha256(d.key_hash || int4send(k)) as hash
			) s
			order by case when $10 > 0 then random() end`,
			[
				keys.map((_, index) => organizationOf(fleet, first + index)),
				fleet.ids.slice(first, first + rows),
				byteaArray(keys.map(hashSecret)),
				facts.map((fact) => fact.hardware_uuid),
				facts.map((fact) => fact.serial_number),
				facts.map((fact) => fact.hostname),
				facts.map((fact) => fact.platform),
				facts.map((fact) => fact.os_version),
				facts.map((fact) => fact.agent_version),
				silent,
				SILENT,
			],
		);
	}
}

/** Joins the silent devices `d` with the days for which their checks have not changed. */
const UNCHANGED = `cross join lateral (
			select (1 + (hashtext(d.id) & 127)) * interval '1 day' as unchanged
		) s`;

/**
 * Stores a current span of each check of each silent device: one in ten fails. The spans of a device
 * lie side by side, as its first report stores them. Joined with the checks in any order, each lay
 * on a distant page of its own, and each report changed all of these pages.
 */
async function seedSpans(client: Client): Promise<void> {
	await client.query(
		`insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status, first_report_id, last_report_id, is_current
		)
		select
			d.organization_id, d.id, c.check_key, now() - unchanged, now() - random() * interval '1 hour',
			case when hashtext(d.id || c.check_key) % 10 = 0 then 'FAIL' else 'PASS' end,
			d.id, d.id, true
		from devices d
		cross join lateral (
			select * from unnest($1::text[]) c (check_key) where d.id is not null offset 0
		) c
		${UNCHANGED}
		where d.enrolled_with = $2`,
		[CHECK_KEYS, SILENT],
	);
}

/**
 * Stores a span of each silent device that has ended. Call it with 0 for the last change, 1 for the
 * one before and so on: the changes go through the checks in turn. The ended spans lie after the
 * current ones, in the order of the changes, because the row of a current span takes each new status.
 */
async function seedEndedSpan(client: Client, change: number): Promise<void> {
	const check = CHECK_KEYS[change % CHECK_KEYS.length];
	const earlier = 1 + Math.floor(change / CHECK_KEYS.length);
	await client.query(
		`insert into posture_spans (
			organization_id, device_id, check_key, since, last_observed_at, status, first_report_id, last_report_id, is_current
		)
		select
			d.organization_id, d.id, $1, now() - unchanged * ($2::integer + 1),
			now() - unchanged * $2::integer - random() * interval '1 hour',
			case when (hashtext(d.id || $1) % 10 = 0) = ($2::integer % 2 = 0) then 'FAIL' else 'PASS' end,
			d.id, d.id, false
		from devices d
		${UNCHANGED}
		where d.enrolled_with = $3`,
		[check, earlier, SILENT],
	);
}

/**
 * Calls `work` while these tables have no indexes, foreign keys and triggers, and then makes the
 * indexes. So tens of millions of rows are stored in minutes.
 */
async function withoutIndexes(
	client: Client,
	tables: string[],
	work: () => Promise<void>,
): Promise<void> {
	await client.query(
		"set session_replication_role = replica; set maintenance_work_mem = '1GB'; set synchronous_commit = off",
	);
	const { rows: indexes } = await client.query<{ take: string; make: string }>(
		`select
			coalesce('alter table ' || c.conrelid::regclass || ' drop constraint ' || quote_ident(conname) || ' cascade',
				'drop index ' || i.indexrelid::regclass) as take,
			coalesce('alter table ' || c.conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' '
				|| pg_get_constraintdef(c.oid), pg_get_indexdef(i.indexrelid)) as make
		from pg_index i
		left join pg_constraint c on c.conindid = i.indexrelid and c.contype in ('p', 'u')
		where i.indrelid = any ($1::text[]::regclass[])`,
		[tables],
	);
	const { rows: references } = await client.query<{ make: string }>(
		`select 'alter table ' || conrelid::regclass || ' add constraint ' || quote_ident(conname) || ' '
			|| pg_get_constraintdef(oid) || ' not valid' as make
		from pg_constraint
		where contype = 'f' and confrelid = any ($1::text[]::regclass[]) and conparentid = 0`,
		[tables],
	);
	for (const { take } of indexes) await client.query(take);
	await work();
	for (const { make } of [...indexes, ...references]) await client.query(make);
	await client.query(
		"reset session_replication_role; reset maintenance_work_mem; reset synchronous_commit",
	);
}

/**
 * Does what autovacuum would do within minutes. A phase then does not begin with plans for empty
 * tables, and does not bear the cost of the previous phase's checkpoint.
 */
export async function settle(client: Client): Promise<void> {
	await client.query(
		"vacuum (analyze) organizations, devices, posture_spans, posture_reports",
	);
	await client.query("checkpoint");
}
