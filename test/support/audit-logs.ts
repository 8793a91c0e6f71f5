import { appendChanges } from "../../src/audit/log.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import type { Expectation } from "../../src/audit/verify.ts";
import { withTenant } from "../../src/db/pool.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import type { TestDatabase } from "./database.ts";

/**
 * Creates an organization whose audit log has one sealed entry for each of `entries` new records.
 */
export async function makeLog(
	database: TestDatabase,
	entries = 5,
): Promise<string> {
	// createOrganization is not used, because it would write an entry too.
	const id = makeOrganizationId();
	await withTenant(database.pool, id, (client) =>
		insertOrganization(client, id, { name: "Acme" }),
	);
	for (let number = 1; number <= entries; number++) {
		await withTenant(database.pool, id, (client) =>
			appendChanges(client, systemPrincipal(id), { name: "addRisk" }, id, [
				{
					kind: "risk",
					id: makeId(id, "risk"),
					name: `Risk ${number}`,
					fields: { name: { after: `Risk ${number}` } },
				},
			]),
		);
	}
	await sealAll(database.pool);
	return id;
}

/**
 * Runs statements as the owner of the database, who may change everything. In `sql`, `$1` stands
 * for the organization and `#3` for the id of the entry with the number 3.
 */
export async function tamper(
	{ owner }: TestDatabase,
	sql: string,
	organizationId: string,
): Promise<number> {
	const { rows } = await owner.query<{ sequence: string; entry_id: string }>(
		"select sequence, entry_id from audit_seals where organization_id = $1",
		[organizationId],
	);
	const ids = new Map(rows.map((row) => [row.sequence, row.entry_id]));
	const { rowCount } = await owner.query(
		sql
			.replaceAll("$1", `'${organizationId}'`)
			.replaceAll(/#(\d+)/g, (_, number) => ids.get(number) ?? "-1"),
	);
	return rowCount ?? 0;
}

/** Returns an entry's number and its current hash, as an expectation for a later check. */
export async function noteHash(
	{ owner }: TestDatabase,
	organizationId: string,
	sequence: number,
): Promise<Expectation> {
	const { rows } = await owner.query<{ hash: string }>(
		"select encode(hash, 'hex') as hash from audit_seals where organization_id = $1 and sequence = $2",
		[organizationId, sequence],
	);
	return { organizationId, sequence, hash: rows[0]?.hash ?? "" };
}

/**
 * Computes every hash from an entry on again, and the head. Only the owner of the database can make
 * such a consistent forgery.
 */
export async function forgeHashes(
	{ owner }: TestDatabase,
	organizationId: string,
	from: number,
): Promise<void> {
	await owner.query(`
		do $do$
		declare
			entry audit_entries;
			seal audit_seals;
			last bytea := coalesce((
				select hash from audit_seals
				where organization_id = '${organizationId}' and sequence = ${from} - 1
			), '');
		begin
			for seal in
				select * from audit_seals
				where organization_id = '${organizationId}' and sequence >= ${from}
				order by sequence
			loop
				select * into entry from audit_entries e
				where e.organization_id = seal.organization_id and e.id = seal.entry_id;
				if entry.hash_version = 2 then
					entry.digests := (
						select jsonb_object_agg(f.field, encode(sha256(convert_to((entry.salts ->> f.field) || f.value, 'UTF8')), 'hex'))
						from audit_erasable_fields(entry) f
					);
					update audit_entries set digests = entry.digests
					where organization_id = entry.organization_id and id = entry.id;
				end if;
				update audit_seals set previous_hash = last, hash = audit_entry_hash(entry, seal.sequence, last)
				where organization_id = seal.organization_id and sequence = seal.sequence
				returning hash into last;
				update audit_heads set sequence = seal.sequence, hash = last
				where organization_id = seal.organization_id;
			end loop;
		end
		$do$`);
}

/** Changes a log into one that was written by a version without digests. */
export async function makeOldLog(
	database: TestDatabase,
	organizationId: string,
): Promise<void> {
	await database.owner.query(
		"update audit_entries set hash_version = null, digests = null, salts = null where organization_id = $1",
		[organizationId],
	);
	await forgeHashes(database, organizationId, 1);
}
