-- Enrollment keys: secrets with which many devices enroll. Each use makes a new device.

create table enrollment_keys (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
	expires_at timestamptz not null,
	max_devices integer not null check (max_devices between 1 and 100000),
	used integer not null default 0 check (used between 0 and max_devices),
	requires_approval boolean not null,
	last_used_at timestamptz,
	revoked_at timestamptz,
	created_by text,
	created_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id)
);
create index enrollment_keys_created_at on enrollment_keys (organization_id, created_at, id);
create index enrollment_keys_name on enrollment_keys (organization_id, name_key, id);

alter table enrollment_keys enable row level security;
alter table enrollment_keys force row level security;
create policy tenant on enrollment_keys to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on enrollment_keys to assay_agent using (true);
create policy privacy on enrollment_keys to assay_privacy using (true);
grant select, insert, update on enrollment_keys to assay_app;
grant select, update (used, last_used_at) on enrollment_keys to assay_agent;
grant select (organization_id, id, created_by), update (created_by) on enrollment_keys to assay_privacy;
select allow_backup();

alter table devices
	add column enrollment_key_id typed_id,
	-- Its key requires approval, and nobody has approved it yet. It stays PENDING until then.
	add column awaits_approval boolean not null default false,
	-- The person whose address the installer named. A claim, until an administrator confirms it.
	add column claimed_owner_id typed_id,
	-- The record of the same machine from before it was set up again.
	add column predecessor_id typed_id,
	add check (not awaits_approval or status <> 'ACTIVE'),
	add constraint devices_enrollment_key_id_fkey
		foreign key (organization_id, enrollment_key_id) references enrollment_keys,
	add constraint devices_claimed_owner_id_fkey
		foreign key (organization_id, claimed_owner_id) references people
		on delete set null (claimed_owner_id),
	add constraint devices_predecessor_id_fkey
		foreign key (organization_id, predecessor_id) references devices
		on delete set null (predecessor_id);
create index devices_enrollment_key_id on devices (organization_id, enrollment_key_id)
	where enrollment_key_id is not null;
create index devices_awaits_approval on devices (organization_id, enrollment_key_id)
	where awaits_approval and status = 'PENDING';
create index devices_claimed_owner_id on devices (organization_id, claimed_owner_id)
	where claimed_owner_id is not null;
create index devices_predecessor_id on devices (organization_id, predecessor_id)
	where predecessor_id is not null;
grant update (claimed_owner_id) on devices to assay_privacy;

grant insert on devices to assay_agent;
create policy agent on people for select to assay_agent using (true);
grant select (organization_id, id, primary_email_address, additional_email_addresses)
	on people to assay_agent;

-- As in 0014, and of an enrollment key that can still be used, whose status is 'KEY'.
create or replace function agent_authenticate(p_key_hash bytea[])
returns table (ordinal integer, status text, organization_id text)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select k.n::integer, d.status, d.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join devices d on d.key_hash = k.key_hash
	union all
	select k.n::integer, 'TOKEN', t.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join enrollment_tokens t on t.token_hash = k.key_hash
	union all
	select k.n::integer, 'KEY', e.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join enrollment_keys e on e.secret_hash = k.key_hash
	where e.revoked_at is null and e.expires_at > now() and e.used < e.max_devices;
end
$$;

-- Makes devices with an enrollment key, as many of the given ones as it still has room for, and
-- returns how many (the first ones). One update counts them all, and one write of the audit log
-- names them. An address that belongs to exactly one person makes that person the claimed owner.
create function agent_enroll_with_key(
	p_secret_hash bytea, p_device_id text[], p_key_hash bytea[], p_owner_email text[],
	p_address text[]
) returns integer
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '200ms'
as $$
declare
	found_key enrollment_keys;
	room integer;
	entries jsonb;
begin
	select * into found_key from enrollment_keys k
	where k.secret_hash = p_secret_hash and k.revoked_at is null and k.expires_at > now()
	for no key update;
	if not found then
		return 0;
	end if;
	room := least(found_key.max_devices - found_key.used, cardinality(p_device_id));
	if room = 0 then
		return 0;
	end if;
	update enrollment_keys k set used = k.used + room, last_used_at = now()
	where k.organization_id = found_key.organization_id and k.id = found_key.id;
	with owners as (
		select lower(a.address) as address, min(p.id::text) as id
		from people p
		cross join lateral unnest(p.primary_email_address || p.additional_email_addresses) a (address)
		where p.organization_id = found_key.organization_id
			and lower(a.address) = any (array(select lower(e) from unnest(p_owner_email) e))
		group by 1
		having count(distinct p.id) = 1
	), made as (
		insert into devices (
			organization_id, id, key_hash, enrolled_at, enrolled_with, enrollment_key_id,
			awaits_approval, claimed_owner_id
		)
		select
			found_key.organization_id, r.device_id, r.key_hash, now(), found_key.name, found_key.id,
			found_key.requires_approval, o.id
		from unnest(p_device_id, p_key_hash, p_owner_email)
			with ordinality r (device_id, key_hash, owner_email, n)
		left join owners o on o.address = lower(r.owner_email)
		where r.n <= room
		returning id, claimed_owner_id
	)
	select jsonb_agg(jsonb_build_object(
		'actor_kind', 'AGENT',
		'actor_id', m.id,
		'actor_name', m.id,
		'address', p_address[array_position(p_device_id, m.id::text)],
		'operation', 'enrollDevice',
		'record_kind', 'device',
		'record_id', m.id,
		'record_name', null,
		'changes', jsonb_strip_nulls(jsonb_build_object(
			'status', jsonb_build_object('after', 'PENDING'),
			'enrolled_with', jsonb_build_object('after', found_key.name),
			'enrollment_key_id', jsonb_build_object('after', found_key.id),
			'awaits_approval', case when found_key.requires_approval
				then jsonb_build_object('after', true) end,
			'claimed_owner_id', case when m.claimed_owner_id is not null
				then jsonb_build_object('after', m.claimed_owner_id) end
		))
	) order by m.id)
	into entries
	from made m;
	perform audit_append(found_key.organization_id, entries);
	return room;
end
$$;

-- Notes that a PENDING device has the hardware of a live one. Forgets the note if none has it.
create function note_duplicate_hardware(
	p_device devices, p_hardware_uuid text, p_serial_number text, p_hostname text,
	p_platform text, p_os_version text, p_agent_version text
) returns void
language plpgsql
as $$
begin
	insert into device_conflicts as c (
		organization_id, device_id, kind, other_device_id, hardware_uuid, platform,
		hostname, serial_number, os_version, agent_version
	)
	select
		p_device.organization_id, p_device.id, 'DUPLICATE_HARDWARE', d.id, p_hardware_uuid,
		p_platform, p_hostname, p_serial_number, p_os_version, p_agent_version
	from devices d
	where d.organization_id = p_device.organization_id
		and d.hardware_hash = sha256(convert_to(p_hardware_uuid, 'UTF8'))
		and d.status <> 'REVOKED'
		and d.id <> p_device.id
	on conflict on constraint device_conflicts_pkey do update set
		other_device_id = excluded.other_device_id,
		hardware_uuid = excluded.hardware_uuid,
		platform = excluded.platform,
		hostname = excluded.hostname,
		serial_number = excluded.serial_number,
		os_version = excluded.os_version,
		agent_version = excluded.agent_version,
		occurrences = c.occurrences + 1,
		last_seen_at = now();
	if not found then
		delete from device_conflicts c
		where c.organization_id = p_device.organization_id and c.device_id = p_device.id
			and c.kind = 'DUPLICATE_HARDWARE';
	end if;
end
$$;

-- As in 0006, and 'awaits_approval' for a device that nobody has approved. Such a device keeps what
-- it says about itself, so that an administrator can recognize it. Its hardware is not stored.
create or replace function agent_activate(
	p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text,
	p_platform text, p_os_version text, p_agent_version text
) returns text
language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '200ms'
as $$
declare
	before devices;
	device devices;
begin
	select * into before
	from devices d
	where d.key_hash = p_key_hash and d.status = 'PENDING'
	for no key update;
	if not found then
		return 'not_pending';
	end if;
	if before.awaits_approval then
		update devices d
		set
			serial_number = p_serial_number,
			hostname = p_hostname,
			platform = p_platform,
			os_version = p_os_version,
			agent_version = p_agent_version,
			updated_at = now(),
			hostname_key = sort_key(p_hostname),
			search_text = search_text(d.name, p_hostname, p_serial_number)
		where d.organization_id = before.organization_id and d.id = before.id
			and (d.serial_number, d.hostname, d.platform, d.os_version, d.agent_version)
				is distinct from (p_serial_number, p_hostname, p_platform, p_os_version, p_agent_version);
		perform note_duplicate_hardware(
			before, p_hardware_uuid, p_serial_number, p_hostname, p_platform, p_os_version, p_agent_version
		);
		return 'awaits_approval';
	end if;
	begin
		update devices d
		set
			status = 'ACTIVE',
			hardware_uuid = p_hardware_uuid,
			hardware_hash = sha256(convert_to(p_hardware_uuid, 'UTF8')),
			serial_number = p_serial_number,
			hostname = p_hostname,
			platform = p_platform,
			os_version = p_os_version,
			agent_version = p_agent_version,
			activated_at = now(),
			last_seen_at = now(),
			updated_at = now(),
			hostname_key = sort_key(p_hostname),
			search_text = search_text(d.name, p_hostname, p_serial_number)
		where d.organization_id = before.organization_id and d.id = before.id
		returning * into device;
	exception when unique_violation then
		perform note_duplicate_hardware(
			before, p_hardware_uuid, p_serial_number, p_hostname, p_platform, p_os_version, p_agent_version
		);
		return 'duplicate_hardware';
	end;
	delete from device_conflicts c
	where c.organization_id = device.organization_id and c.device_id = device.id;
	perform audit_device(device, 'activateDevice', (
		select jsonb_object_agg(f.field, jsonb_build_object('before', f.before, 'after', f.after))
		from (values
			('status', before.status, device.status),
			('hardware_uuid', left(before.hardware_uuid, 1000), left(device.hardware_uuid, 1000)),
			('serial_number', left(before.serial_number, 1000), left(device.serial_number, 1000)),
			('hostname', left(before.hostname, 1000), left(device.hostname, 1000)),
			('platform', before.platform, device.platform),
			('os_version', left(before.os_version, 1000), left(device.os_version, 1000)),
			('agent_version', left(before.agent_version, 1000), left(device.agent_version, 1000))
		) f (field, before, after)
		where f.before is distinct from f.after
	));
	return 'activated';
end
$$;

-- Counts the enrollment keys that can be used, those of them that run out soon (as SOON in
-- src/devices/enrollment-key-record.ts), and the devices that wait for approval.
create function count_enrollment_keys()
returns table (usable bigint, running_out bigint, awaiting_approval bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select
		count(*),
		count(*) filter (
			where k.expires_at <= now() + interval '7 days' or k.max_devices - k.used <= k.max_devices / 10
		),
		(select count(*) from devices d where d.awaits_approval and d.status = 'PENDING')
	from enrollment_keys k
	where k.revoked_at is null and k.expires_at > now() and k.used < k.max_devices
$$;

do $$
declare
	signature regprocedure;
begin
	grant create on schema public to assay_agent;
	foreach signature in array array[
		'agent_enroll_with_key(bytea, text[], bytea[], text[], text[])', 'count_enrollment_keys()'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_agent', signature);
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_app', signature);
	end loop;
	revoke create on schema public from assay_agent;
	revoke execute on function note_duplicate_hardware(devices, text, text, text, text, text, text) from public;
	grant execute on function note_duplicate_hardware(devices, text, text, text, text, text, text) to assay_agent;
end
$$;
