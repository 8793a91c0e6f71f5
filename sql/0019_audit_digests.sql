-- An entry's hash covers salted digests of the fields that an erasure may change, in place of the
-- fields themselves. Contents are then protected by the chain although a person can be erased: the
-- erasure removes a field's value together with its salt, and every other field can still be
-- checked. Without the salt nobody can confirm a guess of the value. Entries written before this
-- migration keep their hash and have null in the new columns (docs/decisions/0012).

alter table audit_entries
	-- Null means that the hash covers the fields themselves.
	add column hash_version smallint,
	-- {field: hexadecimal SHA-256 of the salt and the field's text}
	add column digests jsonb,
	-- {field: salt}, without the fields that were erased. The hash does not cover it.
	add column salts jsonb,
	add constraint audit_entries_version_check check (
		(hash_version is null and digests is null and salts is null)
		or (hash_version = 2 and digests is not null and salts is not null
			and jsonb_typeof(digests) = 'object' and jsonb_typeof(salts) = 'object')
	);

-- The fields that an erasure may change, each as the text that its digest is made of. A change is
-- one field, "changes.<name>". A field that is null has no digest.
create function audit_erasable_fields(entry audit_entries) returns table (field text, value text)
language sql immutable
as $$
	select f.field, f.value
	from (values
		('actor_name', entry.actor_name), ('token_name', entry.token_name), ('client', entry.client),
		('address', entry.address), ('record_name', entry.record_name)
	) f (field, value)
	where f.value is not null
	union all
	select 'changes.' || c.key, c.value::text from jsonb_each(entry.changes) c
$$;

-- As in 0004. src/audit/entry.ts builds the same text independently.
create or replace function audit_entry_text(entry audit_entries) returns text
language sql stable set timezone = 'UTC' set bytea_output = 'hex'
return (to_jsonb(entry) - case
	when entry.hash_version is null then '{hash,hash_version,digests,salts}'::text[]
	else '{hash,salts,actor_name,token_name,client,address,record_name,changes}'::text[]
end)::text;

-- As in 0004, with digests. It also rejects an organization other than the transaction's: a hole in
-- an operation must not write into the log of another tenant. Transactions that serve several
-- organizations, such as those about an account, name none.
create or replace function audit_append(p_organization_id text, p_entries jsonb) returns void
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC'
as $$
declare
	head audit_heads;
	given jsonb;
	entry audit_entries;
	own constant text := nullif(current_setting('assay.organization_id', true), '');
begin
	if own <> p_organization_id then
		raise exception 'a transaction of % cannot write to the audit log of %', own, p_organization_id
			using errcode = 'insufficient_privilege';
	end if;
	insert into audit_heads values (p_organization_id, 0, '') on conflict do nothing;
	select * into head from audit_heads where organization_id = p_organization_id for update;
	for given in select * from jsonb_array_elements(p_entries) loop
		entry := jsonb_populate_record(null::audit_entries, given);
		entry.organization_id := p_organization_id;
		entry.sequence := head.sequence + 1;
		-- Unlike now(), which is when the transaction began, the clock never goes back in a chain.
		entry.at := clock_timestamp();
		entry.outcome := coalesce(entry.outcome, 'DONE');
		entry.changes := coalesce(entry.changes, '{}');
		entry.previous_hash := head.hash;
		entry.hash_version := 2;
		-- A random UUID has 122 random bits from the system's generator.
		select coalesce(jsonb_object_agg(s.field, s.salt), '{}'),
			coalesce(jsonb_object_agg(
				s.field, encode(sha256(convert_to(s.salt || s.value, 'UTF8')), 'hex')
			), '{}')
		into entry.salts, entry.digests
		from (
			select f.field, f.value, replace(gen_random_uuid()::text, '-', '') as salt
			from audit_erasable_fields(entry) f
		) s;
		entry.hash := audit_entry_hash(entry);
		insert into audit_entries values (entry.*);
		head.sequence := entry.sequence;
		head.hash := entry.hash;
	end loop;
	update audit_heads set sequence = head.sequence, hash = head.hash
	where organization_id = p_organization_id;
end
$$;

-- The role that changes entries must not add any: it could add an erasure that accounts for its
-- change. The command that erases adds the erasure's entry as assay_app.
revoke execute on function audit_append(text, jsonb) from assay_privacy;
grant update (salts) on audit_entries to assay_privacy;
