-- The audit log: what was done, by whom, in a chain of hashes that shows any change or gap.

do $$
begin
	if not exists (select from pg_roles where rolname = 'assay_audit') then
		create role assay_audit nologin;
	end if;
exception
	-- Roles belong to the whole server: another database may be migrating too.
	when duplicate_object or unique_violation then null;
end
$$;
do $$
begin
	if not pg_has_role(current_user, 'assay_audit', 'member') then
		grant assay_audit to current_user;
	end if;
	grant usage on schema public to assay_audit;
end
$$;

-- The actor's kind and name are kept as text beside the id: an entry outlives its user.
create table audit_entries (
	organization_id typed_id not null references organizations,
	sequence bigint not null check (sequence > 0),
	at timestamptz not null,
	actor_kind text not null check (actor_kind in ('USER', 'TOKEN', 'AGENT', 'SYSTEM')),
	-- The user, or the device of an agent; null for the system.
	actor_id text,
	actor_name text not null,
	-- The API token that the user's client came with.
	token_id text,
	token_name text,
	client text,
	address text,
	operation text not null,
	outcome text not null check (outcome in ('DONE', 'REFUSED')),
	record_kind text,
	record_id text,
	record_name text,
	-- {field: {before?, after?}}
	changes jsonb not null default '{}' check (jsonb_typeof(changes) = 'object'),
	previous_hash bytea not null,
	hash bytea not null check (octet_length(hash) = 32),
	primary key (organization_id, sequence)
);
create index audit_entries_record on audit_entries (organization_id, record_id, sequence)
	where record_id is not null;
create index audit_entries_actor on audit_entries (organization_id, actor_id, sequence)
	where actor_id is not null;

-- The newest entry of each organization: locked while one is added, so that the chain has no
-- fork, and compared by `assay audit verify`, so that a cut-off end is seen.
create table audit_heads (
	organization_id typed_id primary key references organizations,
	sequence bigint not null,
	hash bytea not null
);

-- What is hashed: everything but the hash itself, as the text of a jsonb object. The settings are
-- those that this text depends on. A column added later must stay out of it where it is null, or
-- no entry of before has its hash any more; src/audit/entry.ts writes the same text by itself.
create function audit_entry_text(entry audit_entries) returns text
language sql stable set timezone = 'UTC' set bytea_output = 'hex'
return (to_jsonb(entry) - 'hash')::text;

create function audit_entry_hash(entry audit_entries) returns bytea
language sql stable
return sha256(convert_to(audit_entry_text(entry), 'UTF8'));

-- Adds entries to the organization's chain, in the caller's transaction. p_entries is an array of
-- objects with the columns that the caller knows; the rest is filled in here. The organization's
-- chain is locked until the transaction ends, so this is the last thing a transaction does.
create function audit_append(p_organization_id text, p_entries jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC'
as $$
declare
	head audit_heads;
	given jsonb;
	entry audit_entries;
begin
	insert into audit_heads values (p_organization_id, 0, '') on conflict do nothing;
	select * into head from audit_heads where organization_id = p_organization_id for update;
	for given in select * from jsonb_array_elements(p_entries) loop
		entry := jsonb_populate_record(null::audit_entries, given);
		entry.organization_id := p_organization_id;
		entry.sequence := head.sequence + 1;
		-- Not now(), which is when the transaction began: the chain's times never go back.
		entry.at := clock_timestamp();
		entry.outcome := coalesce(entry.outcome, 'DONE');
		entry.changes := coalesce(entry.changes, '{}');
		entry.previous_hash := head.hash;
		entry.hash := audit_entry_hash(entry);
		insert into audit_entries values (entry.*);
		head.sequence := entry.sequence;
		head.hash := entry.hash;
	end loop;
	update audit_heads set sequence = head.sequence, hash = head.hash
	where organization_id = p_organization_id;
end
$$;

do $$
declare
	table_name text;
begin
	foreach table_name in array array['audit_entries', 'audit_heads'] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I for select to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('create policy audit on %I to assay_audit using (true)', table_name);
		-- Nobody may change or take away an entry, not even the function that adds them.
		execute format('grant select on %I to assay_app', table_name);
	end loop;
	grant insert on audit_entries to assay_audit;
	grant select, insert, update on audit_heads to assay_audit;
	grant create on schema public to assay_audit;
	alter function audit_append(text, jsonb) owner to assay_audit;
	revoke create on schema public from assay_audit;
	revoke execute on function audit_append(text, jsonb) from public;
	grant execute on function audit_append(text, jsonb) to assay_app, assay_agent;
end
$$;
