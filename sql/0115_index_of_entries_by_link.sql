-- Entries about what people did by a link, without an account. An erasure and the filter by the actor
-- read them.
create index audit_entries_by_link on audit_entries (organization_id, id)
	where actor_kind = 'SYSTEM' and actor_name like '%, by a link';
