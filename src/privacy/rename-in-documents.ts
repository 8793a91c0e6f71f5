import type { PoolClient } from "pg";

/**
 * Replaces the user's name in approvals and signatures, removes the network address of signatures, and
 * replaces the names of those who published versions or asked people to sign. No id says who published
 * or asked, so the names go with which the user acted in the organization, also those of a namesake.
 * Then replaces the names in what the past keeps of deleted documents and statements. `client` acts as
 * assay_privacy.
 */
export async function renameInDocuments(
	client: PoolClient,
	user: { id: string },
	name: string,
): Promise<void> {
	for (const table of ["document_approvals", "document_signatures"]) {
		await client.query(
			`update ${table} set user_name = $2 where user_id = $1`,
			[user.id, name],
		);
	}
	await client.query(
		"update document_signatures set address = null where user_id = $1",
		[user.id],
	);
	const named = `with named as (
		select o.id as organization_id, a.names from organizations o
		cross join lateral (
			select array_agg(distinct e.actor_name) as names from audit_entries e
			where e.organization_id = o.id and e.actor_id = $1
		) a
		where a.names is not null
	)`;
	for (const [table, column] of [
		["document_versions", "published_by_name"],
		["document_signatures", "requested_by_name"],
	]) {
		await client.query(
			`${named} update ${table} t set ${column} = $2 from named n
			where t.organization_id = n.organization_id and t.${column} = any(n.names)`,
			[user.id, name],
		);
	}
	const kept = `from (values
			('author_name', 'author_id'), ('approved_by_name', 'approved_by_id'),
			('link_copied_by_name', 'link_copied_by_id'), ('address_set_by_name', 'address_set_by_id'),
			('user_name', 'user_id'),
			('published_by_name', null), ('requested_by_name', null)
		) b (name, id)
		where v.fields ->> b.id = $1 or (b.id is null and v.fields ->> b.name = any(n.names))`;
	await client.query(
		`${named} update record_versions v
		set fields = v.fields || (select jsonb_object_agg(b.name, $2::text) ${kept})
			|| case when v.fields ? 'address' and v.fields ->> 'user_id' = $1
				then '{"address": null}'::jsonb else '{}' end
		from named n
		where v.organization_id = n.organization_id and exists (select ${kept})
			and v.register in (
				'document_versions', 'document_approvals', 'document_signatures', 'applicability_statements'
			)`,
		[user.id, name],
	);
}
