-- Devices as people see them: an owner, text search, orders to list by, links, and what
-- devices do of themselves in the audit log.

-- search_text and hostname_key are plain columns, not generated ones: a heartbeat sets hostname, so a
-- generated column would be worked out anew each time. They are written when what they hold changes.
-- Made as generated ones, so that the rows there are get theirs: no update of ours could see them.
alter table devices
	add column owner_id typed_id,
	add column name_key text collate "C" not null
		generated always as (coalesce(sort_key(name), '')) stored,
	add column hostname_key text collate "C" not null
		generated always as (coalesce(sort_key(hostname), '')) stored,
	add column search_text text not null
		generated always as (search_text(name, hostname, serial_number)) stored,
	add constraint devices_owner_id_fkey foreign key (organization_id, owner_id) references people;
alter table devices
	alter column hostname_key drop expression,
	alter column hostname_key set default '',
	alter column search_text drop expression,
	alter column search_text set default '';

create index devices_owner_id on devices (organization_id, owner_id);
create index devices_created_at on devices (organization_id, created_at, id);
create index devices_name on devices (organization_id, name_key, id);
create index devices_hostname on devices (organization_id, hostname_key, id);
create index devices_search on devices using gin (organization_id, search_text gin_trgm_ops);
create policy search on devices for select to assay_search using (true);
grant select (organization_id, id, search_text) on devices to assay_search;
create trigger remove_links after delete on devices for each row execute function remove_links();

-- Devices that fail a check. Extending a span changes no column of it, so that stays HOT.
create index posture_spans_failing on posture_spans (organization_id, check_key, device_id)
	where is_current and status = 'FAIL';

-- With its device an organization gives up the raw reports too; no foreign key does it.
grant delete on posture_reports to assay_app;

-- What a device did, as its organization's audit log has it.
create function audit_device(device devices, operation text, changes jsonb) returns void
language sql
begin atomic
	select audit_append(device.organization_id, jsonb_build_array(jsonb_build_object(
		'actor_kind', 'AGENT',
		'actor_id', device.id,
		'actor_name', left(coalesce(device.hostname, device.name, device.id), 1000),
		'operation', operation,
		'record_kind', 'device',
		'record_id', device.id,
		'record_name', left(coalesce(device.name, device.hostname), 1000),
		'changes', changes
	)));
end;

-- On insert only: a conflict is written to the log when it is new, not each time it is seen again.
-- A trigger, so that the heartbeat's statement knows nothing of it.
create function audit_device_conflict() returns trigger
language plpgsql
as $$
declare
	device devices;
begin
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
create trigger audit_device_conflict after insert on device_conflicts
	for each row execute function audit_device_conflict();

-- As in 0002, and the device's text for search and order where what it is made of changed.
create or replace function agent_heartbeat(
	p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[],
	p_platform text[], p_os_version text[], p_agent_version text[]
)
returns table (
	ordinal integer, device_id text,
	heartbeat_interval_seconds integer, posture_interval_seconds integer
)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	return query
	with touched as (
		update devices d
		set
			serial_number = b.serial_number,
			hostname = b.hostname,
			os_version = b.os_version,
			agent_version = b.agent_version,
			last_seen_at = greatest(d.last_seen_at, now()),
			hostname_key = case
				when d.hostname = b.hostname then d.hostname_key
				else sort_key(b.hostname)
			end,
			search_text = case
				when d.hostname = b.hostname and d.serial_number is not distinct from b.serial_number
					then d.search_text
				else search_text(d.name, b.hostname, b.serial_number)
			end
		from unnest(
			p_key_hash, p_hardware_uuid, p_serial_number, p_hostname,
			p_platform, p_os_version, p_agent_version
		) with ordinality b (
			key_hash, hardware_uuid, serial_number, hostname,
			platform, os_version, agent_version, n
		)
		where d.key_hash = b.key_hash and d.status = 'ACTIVE'
		returning
			b.n, d.organization_id, d.id,
			d.hardware_uuid <> b.hardware_uuid or d.platform <> b.platform as is_other_hardware
	), noted as (
		insert into device_conflicts as c (
			organization_id, device_id, kind, hardware_uuid, platform, hostname,
			serial_number, os_version, agent_version
		)
		select
			t.organization_id, t.id, 'POSSIBLE_CLONE', p_hardware_uuid[t.n], p_platform[t.n],
			p_hostname[t.n], p_serial_number[t.n], p_os_version[t.n], p_agent_version[t.n]
		from touched t
		where t.is_other_hardware
		-- Each new one locks its organization's audit log: two batches do so in the same order.
		order by t.organization_id, t.id
		on conflict on constraint device_conflicts_pkey do update set
			hardware_uuid = excluded.hardware_uuid,
			platform = excluded.platform,
			hostname = excluded.hostname,
			serial_number = excluded.serial_number,
			os_version = excluded.os_version,
			agent_version = excluded.agent_version,
			occurrences = c.occurrences + 1,
			last_seen_at = now()
	)
	select
		t.n::integer, t.id::text, o.heartbeat_interval_seconds, o.posture_interval_seconds
	from touched t
	join organizations o on o.id = t.organization_id;
end
$$;

-- As in 0002, audited.
create or replace function agent_enroll(p_token_hash bytea, p_key_hash bytea) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	token record;
	before devices;
	device devices;
begin
	delete from enrollment_tokens t
	using devices d
	where t.token_hash = p_token_hash
		and t.expires_at > now()
		and t.revoked_at is null
		and d.organization_id = t.organization_id
		and d.id = t.device_id
		and d.status <> 'REVOKED'
	returning t.organization_id, t.device_id, t.name into token;
	if not found then
		return null;
	end if;
	select * into before from devices d
	where d.organization_id = token.organization_id and d.id = token.device_id
	for no key update;
	-- Revoked in the meantime.
	if before.status = 'REVOKED' then
		return null;
	end if;
	update devices d
	set
		key_hash = p_key_hash, status = 'PENDING', enrolled_at = now(), enrolled_with = token.name,
		updated_at = now()
	where d.organization_id = token.organization_id and d.id = token.device_id
	returning * into device;
	perform audit_device(device, 'enrollDevice', jsonb_build_object(
		'status', jsonb_build_object('before', before.status, 'after', device.status),
		'enrolled_with', jsonb_build_object('before', before.enrolled_with, 'after', device.enrolled_with)
	));
	return token.device_id;
end
$$;

-- As in 0002, audited. What was noted against the device is settled by its new key: the conflict
-- of the key before (a possible clone) goes as well.
create or replace function agent_activate(
	p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text,
	p_platform text, p_os_version text, p_agent_version text
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	before devices;
	device devices;
	wanted_hash bytea := sha256(convert_to(p_hardware_uuid, 'UTF8'));
begin
	select * into before
	from devices d
	where d.key_hash = p_key_hash and d.status = 'PENDING'
	for no key update;
	if not found then
		return 'not_pending';
	end if;
	begin
		update devices d
		set
			status = 'ACTIVE',
			hardware_uuid = p_hardware_uuid,
			hardware_hash = wanted_hash,
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
		insert into device_conflicts as c (
			organization_id, device_id, kind, other_device_id, hardware_uuid, platform,
			hostname, serial_number, os_version, agent_version
		)
		select
			before.organization_id, before.id, 'DUPLICATE_HARDWARE', d.id, p_hardware_uuid,
			p_platform, p_hostname, p_serial_number, p_os_version, p_agent_version
		from devices d
		where d.organization_id = before.organization_id
			and d.hardware_hash = wanted_hash
			and d.status <> 'REVOKED'
			and d.id <> before.id
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

-- As in 0002, audited.
create or replace function agent_unenroll(p_key_hash bytea) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	before devices;
	device devices;
begin
	select * into before from devices d where d.key_hash = p_key_hash for no key update;
	if not found then
		return false;
	end if;
	update devices d
	set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
	where d.organization_id = before.organization_id and d.id = before.id
	returning * into device;
	perform audit_device(device, 'unenrollDevice', jsonb_build_object(
		'status', jsonb_build_object('before', before.status, 'after', device.status)
	));
	return true;
end
$$;

revoke execute on function audit_device(devices, text, jsonb), audit_device_conflict() from public;
grant execute on function audit_device(devices, text, jsonb) to assay_agent;
