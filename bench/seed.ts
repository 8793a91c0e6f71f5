import type { Client } from "pg";
import { byteaArray } from "../src/db/array.ts";
import { hashSecret } from "../src/tokens/secret.ts";
import { type Fleet, factsOf, organizationOf } from "./fleet.ts";

const ROWS = 5_000;

/**
 * Stores the fleet as if every device had enrolled and had sent its first heartbeat within the last
 * five minutes. The client connects as the owner of the database, because row-level security does
 * not apply to the owner.
 */
export async function seed(client: Client, fleet: Fleet): Promise<void> {
	await client.query(
		"insert into organizations (id, name) select id, 'Organization ' || n from unnest($1::text[]) with ordinality o (id, n)",
		[fleet.organizations],
	);
	for (let first = 0; first < fleet.keys.length; first += ROWS) {
		const keys = fleet.keys.slice(first, first + ROWS);
		const facts = keys.map((_, index) => factsOf(first + index));
		await client.query(
			`insert into devices (
				organization_id, id, name, status, key_hash, hardware_uuid, hardware_hash, serial_number,
				hostname, platform, os_version, agent_version, enrolled_with, enrolled_at, activated_at, last_seen_at
			)
			select
				d.organization_id, d.id, d.hostname, 'ACTIVE', d.key_hash, d.hardware_uuid,
				sha256(convert_to(d.hardware_uuid, 'UTF8')), d.serial_number, d.hostname, d.platform, d.os_version,
				d.agent_version, 'benchmark', now() - interval '1 day', now() - interval '1 day',
				now() - random() * interval '5 minutes'
			from unnest(
				$1::text[], $2::text[], $3::bytea[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[]
			) d (
				organization_id, id, key_hash, hardware_uuid, serial_number, hostname, platform, os_version, agent_version
			)`,
			[
				keys.map((_, index) => organizationOf(fleet, first + index)),
				fleet.ids.slice(first, first + ROWS),
				byteaArray(keys.map(hashSecret)),
				facts.map((fact) => fact.hardware_uuid),
				facts.map((fact) => fact.serial_number),
				facts.map((fact) => fact.hostname),
				facts.map((fact) => fact.platform),
				facts.map((fact) => fact.os_version),
				facts.map((fact) => fact.agent_version),
			],
		);
	}
	await settle(client);
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
