import { appendChanges } from "../../src/audit/log.ts";
import { withTenant } from "../../src/db/pool.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import { insertOrganization } from "../../src/organizations/organization-store.ts";
import { systemPrincipal } from "../../src/principal.ts";
import type { TestDatabase } from "./database.ts";

/** Creates an organization whose audit log has one entry for each of `count` new records. */
export async function makeLog(
	database: TestDatabase,
	entries = 5,
): Promise<string> {
	// createOrganization is not used, because it would write an entry too.
	const id = makeOrganizationId();
	await withTenant(database.pool, id, (client) =>
		insertOrganization(client, id, "Acme"),
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
	return id;
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
			last bytea := coalesce((
				select hash from audit_entries
				where organization_id = '${organizationId}' and sequence = ${from} - 1
			), '');
		begin
			for entry in
				select * from audit_entries
				where organization_id = '${organizationId}' and sequence >= ${from}
				order by sequence
			loop
				entry.previous_hash := last;
				if entry.hash_version = 2 then
					entry.digests := (
						select jsonb_object_agg(f.field, encode(sha256(convert_to((entry.salts ->> f.field) || f.value, 'UTF8')), 'hex'))
						from audit_erasable_fields(entry) f
					);
				end if;
				last := audit_entry_hash(entry);
				update audit_entries set previous_hash = entry.previous_hash, hash = last, digests = entry.digests
				where organization_id = entry.organization_id and sequence = entry.sequence;
				update audit_heads set sequence = entry.sequence, hash = last
				where organization_id = entry.organization_id;
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
