import type { Client } from "pg";
import { CHECK_KEYS } from "../src/devices/terms.ts";
import { makeId, makeOrganizationId } from "../src/id.ts";
import { insertToken } from "./mcp-seed.ts";

export const FLEET_NAME = "Large fleet";

const ROWS = 20_000;

/** An organization with many devices, and an API token of one of its administrators. */
export interface LargeFleet {
	organization: string;
	token: string;
}

/**
 * Stores an organization with devices, two for each person. 95 of 100 devices are ACTIVE, and 90 of
 * those are ONLINE. Among the present statuses of the checks, 6 % are FAIL and 2 % UNKNOWN. Half of
 * the checks that fail began within the days of grace. Three checks of ten have an earlier status.
 */
export async function seedFleet(
	client: Client,
	devices: number,
): Promise<LargeFleet> {
	const organization = makeOrganizationId();
	// The intervals keep the devices ONLINE while the benchmark runs.
	await client.query(
		`insert into organizations (id, name, heartbeat_interval_seconds, posture_interval_seconds)
		values ($1, $2, 3600, 7200)`,
		[organization, FLEET_NAME],
	);
	const token = await insertToken(client, organization, "admin");
	// Spares the foreign keys and the triggers, which would make a webhook's event of each failure.
	await client.query("set session_replication_role = replica");
	const idsOf = (kind: "people" | "device", count: number) =>
		Array.from({ length: count }, () => makeId(organization, kind));
	const people = idsOf("people", Math.ceil(devices / 2));
	await client.query(
		`insert into people (organization_id, id, full_name, primary_email_address, kind)
		select $1, id, 'Person ' || n, 'person' || n || '@example.com', 'EMPLOYEE'
		from unnest($2::text[]) with ordinality p (id, n)`,
		[organization, people],
	);
	const ids = idsOf("device", devices);
	for (let at = 0; at < devices; at += ROWS) {
		const part = ids.slice(at, at + ROWS);
		const owners = part.map((_, n) => people[Math.floor((at + n) / 2)]);
		await client.query(DEVICES, [organization, part, owners, at]);
		await client.query(SPANS, [organization, part, at, CHECK_KEYS]);
	}
	await client.query("set session_replication_role = default");
	await client.query("vacuum (analyze)");
	return { organization, token };
}

const DEVICES = `
	insert into devices (
		organization_id, id, status, hardware_hash, hardware_uuid, hostname, hostname_key, platform,
		os_version, agent_version, owner_id, enrolled_at, activated_at, last_seen_at, revoked_at,
		created_at, search_text
	)
	select
		$1, d.id, d.status, sha256(convert_to(d.id, 'UTF8')), d.id, d.hostname, sort_key(d.hostname),
		(array['DARWIN', 'WINDOWS', 'LINUX'])[1 + d.n % 3], '1' || d.n % 5, '0.1.' || d.n % 3, d.owner_id,
		d.created_at, d.created_at, d.last_seen_at,
		case when d.status = 'REVOKED' then now() - interval '20 days' end,
		d.created_at, search_text(d.hostname)
	from (
		select
			x.*, 'host-' || x.n as hostname, now() - (30 + x.n % 365) * interval '1 day' as created_at,
			case
				when x.n % 100 < 95 then 'ACTIVE'
				when x.n % 100 < 98 then 'PENDING'
				else 'REVOKED'
			end as status,
			case
				when x.n % 100 in (95, 96, 97) then null
				when x.n % 10 = 0 and x.n % 20 = 0 then now() - interval '9 days'
				when x.n % 10 = 0 then now() - interval '1 day'
				else now()
			end as last_seen_at
		from (
			select id, owner_id, ($4 + n)::integer as n
			from unnest($2::text[], $3::text[]) with ordinality y (id, owner_id, n)
		) x
	) d`;

const SPANS = `
	with now as (
		select
			d.id, k.check_key, now() - d.silent as seen, abs(hashint8extended(d.n, k.n)) % 1000 as h,
			now() - d.silent - case
				when hashint8extended(d.n, k.n + 100) % 2 = 0 then interval '2 days'
				else interval '20 days' + (d.n % 100) * interval '1 day'
			end as since
		from (
			select
				id, $3 + n as n,
				case
					when ($3 + n) % 100 >= 98 then interval '20 days'
					when ($3 + n) % 20 = 0 then interval '9 days'
					when ($3 + n) % 10 = 0 then interval '1 day'
					else interval '0'
				end as silent
			from unnest($2::text[]) with ordinality x (id, n)
			where ($3 + n) % 100 not in (95, 96, 97)
		) d
		cross join unnest($4::text[]) with ordinality k (check_key, n)
	), span as (
		select n.id, n.check_key, n.since, n.seen, true as is_current, case
			when n.h < 60 then 'FAIL' when n.h < 80 then 'UNKNOWN'
			when n.h < 130 then 'NOT_APPLICABLE' else 'PASS' end as status
		from now n
		union all
		select n.id, n.check_key, n.since - interval '30 days', n.since - interval '1 hour', false,
			case when n.h < 80 then 'PASS' else 'FAIL' end
		from now n where n.h % 10 < 3
	)
	insert into posture_spans
	select $1, s.id, s.check_key, s.since, s.seen, s.status, s.id, s.id, s.is_current
	from span s`;
