-- An import is one action: the audit log has one entry for it, the entries of its records name it,
-- and it can be rolled back.

create table imports (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	-- The kind of its records.
	kind text not null check (kind <> ''),
	added integer not null check (added >= 0),
	updated integer not null check (updated >= 0),
	created_at timestamptz not null default now(),
	rolled_back_at timestamptz,
	-- The records that the rollback left as they were.
	kept integer check (kept >= 0),
	primary key (organization_id, id),
	check (added + updated > 0),
	check ((rolled_back_at is null) = (kept is null))
);
create index imports_created_at on imports (organization_id, created_at, id);
create index imports_kind on imports (organization_id, kind, created_at, id);
alter table imports enable row level security;
alter table imports force row level security;
create policy tenant on imports to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on imports to assay_app;

-- The import that an entry belongs to, or that it rolls back. Null for every other entry, which
-- therefore keeps its hash.
alter table audit_entries add column import_id typed_id;
create index audit_entries_import on audit_entries (organization_id, import_id, id)
	where import_id is not null;

-- As in 0042, with import_id. An entry without an import has the same text as before.
create or replace function audit_entry_text(entry audit_entries, p_sequence bigint, p_previous_hash bytea)
returns text
language sql stable set timezone = 'UTC' set bytea_output = 'hex'
return (
	to_jsonb(entry) - case
		when entry.hash_version is null then '{id,hash_version,digests,salts}'::text[]
		else '{id,salts,actor_name,token_name,client,address,record_name,changes}'::text[]
	end
	- case when entry.import_id is null then '{import_id}' else '{}' end::text[]
	|| jsonb_build_object('sequence', p_sequence, 'previous_hash', p_previous_hash)
)::text;

create or replace function audit_append(p_organization_id text, p_entries jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	own constant text := nullif(current_setting('assay.organization_id', true), '');
begin
	if own <> p_organization_id then
		raise exception 'a transaction of % cannot write to the audit log of %', own, p_organization_id
			using errcode = 'insufficient_privilege';
	end if;
	-- audit_seal relies on this: a transaction that has taken an id has an xid.
	perform pg_current_xact_id();
	insert into audit_entries (
		organization_id, id, at, actor_kind, actor_id, actor_name, token_id, token_name, client, address,
		operation, outcome, record_kind, record_id, record_name, changes, import_id, hash_version, digests, salts
	)
	select p_organization_id, nextval('audit_entry_ids'), clock_timestamp(), e.actor_kind, e.actor_id,
		e.actor_name, e.token_id, e.token_name, e.client, e.address, e.operation,
		coalesce(e.outcome, 'DONE'), e.record_kind, e.record_id, e.record_name, coalesce(e.changes, '{}'),
		e.import_id, 2, d.digests, d.salts
	from jsonb_populate_recordset(null::audit_entries, p_entries) e
	cross join lateral (
		select coalesce(jsonb_object_agg(s.field, s.salt), '{}') as salts,
			coalesce(jsonb_object_agg(
				s.field, encode(sha256(convert_to(s.salt || s.value, 'UTF8')), 'hex')
			), '{}') as digests
		from (
			-- A random UUID has 122 random bits from the system's generator.
			select f.field, f.value, replace(gen_random_uuid()::text, '-', '') as salt
			from audit_erasable_fields(e) f
		) s
	) d;
end
$$;
select allow_backup();
