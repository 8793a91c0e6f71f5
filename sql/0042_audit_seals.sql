-- Writers of one organization no longer wait for each other. An entry is inserted in the transaction
-- of its operation, without a number. The sealer numbers and chains committed entries afterwards
-- (docs/decisions/0026). Every old entry keeps its number and its hash.

create table audit_seals (
	organization_id typed_id not null references organizations,
	sequence bigint not null check (sequence > 0),
	-- No foreign key: it would lock every entry once more. A seal whose entry is missing is what
	-- `assay audit verify` looks for.
	entry_id bigint not null,
	previous_hash bytea not null,
	hash bytea not null check (octet_length(hash) = 32),
	sealed_at timestamptz not null default clock_timestamp(),
	primary key (organization_id, sequence),
	constraint audit_seals_entry_key unique (organization_id, entry_id)
);

alter table audit_entries no force row level security;
insert into audit_seals (organization_id, sequence, entry_id, previous_hash, hash)
select organization_id, sequence, sequence, previous_hash, hash from audit_entries
order by organization_id, sequence;

-- The number of an old entry becomes its id. Ids of new entries are above all of them, so the order
-- of the ids is also the order in which the entries were written.
alter table audit_entries rename column sequence to id;
alter table audit_entries rename constraint audit_entries_sequence_check to audit_entries_id_check;
create sequence audit_entry_ids as bigint;
select setval('audit_entry_ids', coalesce((select max(id) from audit_entries), 0) + 1, false);

-- One row. Every entry with an id up to `settled_id` has its seal. `next_id` becomes the next
-- `settled_id` when every transaction up to `next_xid` has ended: ids commit out of order.
create table audit_sealing (
	is_only_row boolean primary key default true check (is_only_row),
	settled_id bigint not null,
	next_id bigint not null,
	next_xid xid8
);
insert into audit_sealing (settled_id, next_id)
select coalesce(max(id), 0), coalesce(max(id), 0) from audit_entries;
alter table audit_entries force row level security;

drop function audit_entry_hash(audit_entries);
drop function audit_entry_text(audit_entries);
alter table audit_entries drop column previous_hash, drop column hash;
create index audit_entries_id on audit_entries (id);

alter table audit_seals enable row level security;
alter table audit_seals force row level security;
create policy tenant on audit_seals for select to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy audit on audit_seals to assay_audit using (true);
create policy privacy on audit_seals for select to assay_privacy using (true);
grant select on audit_seals to assay_app, assay_privacy;
grant select, insert on audit_seals to assay_audit;

alter table audit_sealing enable row level security;
alter table audit_sealing force row level security;
create policy audit on audit_sealing to assay_audit using (true);
grant select, update on audit_sealing to assay_audit;
grant usage, select, update on sequence audit_entry_ids to assay_audit;

-- The text that is hashed. src/audit/entry.ts builds the same text independently.
create function audit_entry_text(entry audit_entries, p_sequence bigint, p_previous_hash bytea) returns text
language sql stable set timezone = 'UTC' set bytea_output = 'hex'
return (
	to_jsonb(entry) - case
		when entry.hash_version is null then '{id,hash_version,digests,salts}'::text[]
		else '{id,salts,actor_name,token_name,client,address,record_name,changes}'::text[]
	end
	|| jsonb_build_object('sequence', p_sequence, 'previous_hash', p_previous_hash)
)::text;

create function audit_entry_hash(entry audit_entries, p_sequence bigint, p_previous_hash bytea) returns bytea
language sql stable
return sha256(convert_to(audit_entry_text(entry, p_sequence, p_previous_hash), 'UTF8'));

-- Adds entries in the caller's transaction. p_entries is an array of objects with the columns that
-- the caller knows. It rejects an organization other than the transaction's: a hole in an operation
-- must not write into the log of another tenant. Transactions that serve several organizations name
-- none.
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
		operation, outcome, record_kind, record_id, record_name, changes, hash_version, digests, salts
	)
	select p_organization_id, nextval('audit_entry_ids'), clock_timestamp(), e.actor_kind, e.actor_id,
		e.actor_name, e.token_id, e.token_name, e.client, e.address, e.operation,
		coalesce(e.outcome, 'DONE'), e.record_kind, e.record_id, e.record_name, coalesce(e.changes, '{}'),
		2, d.digests, d.salts
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

-- Seals up to p_limit committed entries of all organizations, oldest id first, except of the
-- organizations in p_except. Returns how many, or null if another process is sealing and the caller
-- does not wait. `broken` has the organizations whose newest seal and head differ. The function adds
-- nothing to their chains, so that the evidence stays as it is.
--
-- It must run at READ COMMITTED: each statement has to see what was committed before it.
create function audit_seal(p_limit integer, p_wait boolean, p_except text[] default '{}')
returns table (sealed integer, broken text[])
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set bytea_output = 'hex'
-- Few entries have no seal, and a plan for many would read the whole log.
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
as $$
declare
	state audit_sealing;
	newest_id bigint;
	has_xid boolean;
	is_next_settled boolean;
	chain record;
	head audit_heads;
	last record;
	entry audit_entries;
	hash bytea;
	ids bigint[];
	sequences bigint[];
	previous_hashes bytea[];
	hashes bytea[];
begin
	broken := '{}';
	if p_wait then
		perform pg_advisory_xact_lock(4723121);
	elsif not pg_try_advisory_xact_lock(4723121) then
		return next;
		return;
	end if;
	sealed := 0;
	has_xid := pg_current_xact_id_if_assigned() is not null;
	select s.* into state from audit_sealing s;
	-- Read before this transaction takes an xid. Every transaction with an id up to this one has a
	-- lower xid then.
	select case when s.is_called then s.last_value else s.last_value - 1 end into newest_id
	from audit_entry_ids s;
	-- An xid that this server has not reached comes from another server.
	if state.next_xid >= pg_snapshot_xmax(pg_current_snapshot()) then
		state.next_xid := null;
	end if;
	is_next_settled := coalesce(state.next_xid < pg_snapshot_xmin(pg_current_snapshot()), false);

	for chain in
		select u.organization_id, array_agg(u.id order by u.id) as ids
		from (
			select e.organization_id, e.id from audit_entries e
			where e.id > state.settled_id and e.organization_id::text <> all (p_except)
				and not exists (
					select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
				)
			order by e.id limit p_limit
		) u
		group by u.organization_id
	loop
		select h.* into head from audit_heads h where h.organization_id = chain.organization_id;
		select s.sequence, s.hash into last from audit_seals s
		where s.organization_id = chain.organization_id order by s.sequence desc limit 1;
		head.organization_id := chain.organization_id;
		head.sequence := coalesce(head.sequence, 0);
		head.hash := coalesce(head.hash, '');
		if head.sequence <> coalesce(last.sequence, 0) or head.hash <> coalesce(last.hash, '') then
			broken := broken || chain.organization_id::text;
			continue;
		end if;
		ids := '{}'; sequences := '{}'; previous_hashes := '{}'; hashes := '{}';
		for entry in
			select e.* from audit_entries e
			where e.organization_id = chain.organization_id and e.id = any (chain.ids)
			order by e.id
		loop
			head.sequence := head.sequence + 1;
			hash := audit_entry_hash(entry, head.sequence, head.hash);
			ids := ids || entry.id;
			sequences := sequences || head.sequence;
			previous_hashes := previous_hashes || head.hash;
			hashes := hashes || hash;
			head.hash := hash;
		end loop;
		insert into audit_seals (organization_id, sequence, entry_id, previous_hash, hash)
		select chain.organization_id, n.* from unnest(sequences, ids, previous_hashes, hashes) n;
		insert into audit_heads values (head.*)
		on conflict (organization_id) do update set sequence = excluded.sequence, hash = excluded.hash;
		sealed := sealed + cardinality(ids);
	end loop;

	if is_next_settled and sealed < p_limit and broken = '{}' and p_except = '{}' then
		state.settled_id := state.next_id;
		state.next_xid := null;
	end if;
	if state.next_xid is null and not has_xid and newest_id > state.settled_id then
		state.next_id := newest_id;
		state.next_xid := pg_current_xact_id();
	end if;
	update audit_sealing s set settled_id = state.settled_id, next_id = state.next_id, next_xid = state.next_xid
	where (s.settled_id, s.next_id, s.next_xid) is distinct from (state.settled_id, state.next_id, state.next_xid);
	return next;
end
$$;

-- How many entries of an organization, or of all, have no seal yet, and the age of the oldest.
create function count_unsealed_entries(p_organization_id text default null)
returns table (entries bigint, oldest_seconds float8)
language sql stable security definer set search_path = public, pg_temp
set enable_hashjoin = off set enable_mergejoin = off set enable_seqscan = off set enable_bitmapscan = off
as $$
	select count(*), coalesce(greatest(extract(epoch from clock_timestamp() - min(e.at)), 0), 0)::float8
	from audit_sealing a
	join audit_entries e on e.id > a.settled_id
	where (p_organization_id is null or e.organization_id = p_organization_id) and not exists (
		select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
	)
$$;

-- After a restore, makes new ids begin above all entries and lets the sealer begin at the first
-- entry without a seal. Reads the whole log.
create function audit_settle() returns void
language sql set search_path = public, pg_temp
as $$
	select setval('audit_entry_ids', coalesce((select max(e.id) from audit_entries e), 0) + 1, false);
	update audit_sealing set next_xid = null, settled_id = coalesce(
		(
			select min(e.id) - 1 from audit_entries e
			left join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
			where s.entry_id is null
		),
		(select max(e.id) from audit_entries e),
		0
	);
$$;

-- As in 0029, without waiting for the audit log.
create or replace function audit_device_conflict() returns trigger
language plpgsql
as $$
declare
	device devices;
begin
	perform set_config('assay.address', coalesce(new.address, ''), true);
	select * into device from devices d
	where d.organization_id = new.organization_id and d.id = new.device_id;
	perform audit_device(device, 'reportDeviceConflict', (
		select jsonb_object_agg(f.field, jsonb_build_object('after', f.after))
		from (values
			('conflict', new.kind),
			('other_device_id', new.other_device_id),
			('claimed_hardware_uuid', left(new.hardware_uuid, 1000)),
			('claimed_platform', new.platform),
			('claimed_hostname', left(new.hostname, 1000))
		) f (field, after)
		where f.after is not null
	));
	return null;
end
$$;
drop function audit_lock(text);

grant create on schema public to assay_audit;
alter function audit_seal(integer, boolean, text[]) owner to assay_audit;
alter function count_unsealed_entries(text) owner to assay_audit;
alter function audit_settle() owner to assay_audit;
revoke create on schema public from assay_audit;
revoke execute on function audit_seal(integer, boolean, text[]), count_unsealed_entries(text), audit_settle()
	from public;
grant execute on function audit_seal(integer, boolean, text[]), count_unsealed_entries(text) to assay_app;

-- As in 0039, without the state of the sealer: its ids of transactions belong to this server.
create or replace function allow_backup() returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity
			and c.relname <> all (array[
				'account_links', 'audit_sealing', 'events', 'mails', 'my_devices_links', 'sessions',
				'sign_in_failures', 'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
select allow_backup();
