-- Device keys that the database does not know, as after a restore or in a wrong database. A service
-- that answers them with 401 makes every agent forget its key, so it may answer 503 for a while.

-- The keys that were revoked, so that they get 401 also while unknown keys get 503.
create table revoked_device_keys (
	organization_id typed_id not null references organizations on delete cascade,
	key_hash bytea not null check (octet_length(key_hash) = 32),
	primary key (organization_id, key_hash)
);
create unique index revoked_device_keys_hash on revoked_device_keys (key_hash);

-- At most one row: until when unknown keys get 503, and whether a device that existed was deleted.
create table unknown_key_wait (
	singleton boolean primary key default true check (singleton),
	waits_until timestamptz,
	held_device boolean not null default false
);

-- The unknown keys that were used while they got 503, with the heartbeat's unproved claims.
create table unknown_device_keys (
	key_hash bytea primary key check (octet_length(key_hash) = 32),
	first_seen_at timestamptz not null default now(),
	last_seen_at timestamptz not null default now(),
	requests bigint not null default 1,
	address text,
	hardware_uuid text,
	serial_number text,
	hostname text,
	platform text
);

do $$
declare
	name text;
begin
	foreach name in array array['revoked_device_keys', 'unknown_key_wait', 'unknown_device_keys'] loop
		execute format('alter table %I enable row level security', name);
		execute format('alter table %I force row level security', name);
		execute format('create policy agent on %I to assay_agent using (true)', name);
		execute format('grant select, insert, update, delete on %I to assay_agent', name);
	end loop;
end
$$;
create policy tenant on revoked_device_keys to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select on revoked_device_keys to assay_app;

-- As before, but without the keys that knocked before the restore.
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
				'account_links', 'sessions', 'sign_in_failures', 'unknown_device_keys', 'verifications'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
select allow_backup();

-- A database with organizations is in use, also if its devices were deleted. Row-level security
-- binds the owner too.
alter table organizations no force row level security;
alter table unknown_key_wait no force row level security;
insert into unknown_key_wait (held_device) select true where exists (select from organizations);
alter table organizations force row level security;
alter table unknown_key_wait force row level security;

-- Remembers a key that no longer counts. While an organization is deleted, its row is already gone.
create function note_revoked_key() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	if old.key_hash is not null then
		insert into revoked_device_keys (organization_id, key_hash)
		select o.id, old.key_hash from organizations o where o.id = old.organization_id
		on conflict do nothing;
	end if;
	if tg_op = 'DELETE' and not exists (select from unknown_key_wait w where w.held_device) then
		insert into unknown_key_wait (held_device) values (true)
		on conflict (singleton) do update set held_device = true;
	end if;
	return null;
end
$$;
create trigger note_changed_key after update of key_hash on devices for each row
	when (old.key_hash is distinct from new.key_hash) execute function note_revoked_key();
create trigger note_deleted_key after delete on devices for each row execute function note_revoked_key();

-- Why unknown keys get 503 now (NEVER_HELD: the database never held a device; RESTORED: the operator
-- set a time), until when, and how many were used within a day. No row: they get 401.
create function unknown_key_state() returns table (reason text, waits_until timestamptz, knocking integer)
language sql stable security definer set search_path = public, pg_temp
as $$
	select s.reason, s.waits_until, (
		select count(*)::int from unknown_device_keys u where u.last_seen_at > now() - interval '1 day'
	)
	from (
		select 'RESTORED' as reason, w.waits_until from unknown_key_wait w where w.waits_until > now()
		union all
		select 'NEVER_HELD', null
		where not exists (select from unknown_key_wait w where w.held_device)
			and not exists (select from devices)
	) s
	limit 1
$$;

-- Says what each unknown key gets: STRICT (401, and so will every other one for now), REVOKED (401),
-- NEVER_HELD or RESTORED (503). Notes the keys that get 503, at most p_most of them.
create function agent_judge_unknown_keys(p_key_hash bytea[], p_claims jsonb, p_most integer)
returns table (ordinal integer, verdict text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	why text := (select s.reason from unknown_key_state() s);
begin
	delete from unknown_device_keys u where u.last_seen_at < now() - interval '7 days';
	if why is not null then
		insert into unknown_device_keys as u
			(key_hash, address, hardware_uuid, serial_number, hostname, platform)
		select k.key_hash, c ->> 'address', c ->> 'hardware_uuid', c ->> 'serial_number',
			c ->> 'hostname', c ->> 'platform'
		from unnest(p_key_hash) with ordinality k (key_hash, n)
		cross join lateral (select p_claims -> (k.n::int - 1)) l (c)
		where not exists (select from revoked_device_keys r where r.key_hash = k.key_hash)
			and (
				exists (select from unknown_device_keys o where o.key_hash = k.key_hash)
				or (select count(*) from unknown_device_keys) < p_most
			)
		order by k.key_hash
		on conflict (key_hash) do update set
			last_seen_at = now(), requests = u.requests + 1,
			address = coalesce(excluded.address, u.address),
			hardware_uuid = coalesce(excluded.hardware_uuid, u.hardware_uuid),
			serial_number = coalesce(excluded.serial_number, u.serial_number),
			hostname = coalesce(excluded.hostname, u.hostname),
			platform = coalesce(excluded.platform, u.platform);
	end if;
	return query
	select k.n::int, case
		when why is null then 'STRICT'
		when exists (select from revoked_device_keys r where r.key_hash = k.key_hash) then 'REVOKED'
		else why
	end
	from unnest(p_key_hash) with ordinality k (key_hash, n);
end
$$;

create function list_unknown_device_keys() returns setof unknown_device_keys
language sql stable security definer set search_path = public, pg_temp
as $$
	select * from unknown_device_keys u order by u.last_seen_at desc, u.key_hash
$$;

-- Removes an unknown key from the list and returns it, so that a device can get it.
create function take_unknown_device_key(p_key_hash bytea) returns setof unknown_device_keys
language sql security definer set search_path = public, pg_temp
as $$
	delete from unknown_device_keys u where u.key_hash = p_key_hash returning u.*
$$;

-- Lets unknown keys get 503 until then. Null ends that, and forgets the keys.
create function set_unknown_key_wait(p_until timestamptz) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into unknown_key_wait (waits_until) values (p_until)
	on conflict (singleton) do update set waits_until = excluded.waits_until;
	if p_until is null then
		delete from unknown_device_keys u where true;
	end if;
end
$$;

do $$
declare
	signature regprocedure;
begin
	grant create on schema public to assay_agent;
	foreach signature in array array[
		'note_revoked_key()', 'unknown_key_state()', 'agent_judge_unknown_keys(bytea[], jsonb, integer)',
		'list_unknown_device_keys()', 'take_unknown_device_key(bytea)', 'set_unknown_key_wait(timestamptz)'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_agent', signature);
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_app', signature);
	end loop;
	revoke create on schema public from assay_agent;
end
$$;
