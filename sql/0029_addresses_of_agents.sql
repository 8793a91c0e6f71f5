-- The audit log says from which address an agent enrolled, activated or unenrolled its device, and
-- from which address the heartbeat came that first showed a conflict. `assay.address` holds the
-- address within a transaction that concerns one device.

alter table device_conflicts add column address text
	default nullif(current_setting('assay.address', true), '');

-- As in 0006, with the address.
create or replace function audit_device(device devices, operation text, changes jsonb) returns void
language sql
begin atomic
	select audit_append(device.organization_id, jsonb_build_array(jsonb_build_object(
		'actor_kind', 'AGENT',
		'actor_id', device.id,
		'actor_name', left(coalesce(device.hostname, device.name, device.id), 1000),
		'address', nullif(current_setting('assay.address', true), ''),
		'operation', operation,
		'record_kind', 'device',
		'record_id', device.id,
		'record_name', left(coalesce(device.name, device.hostname), 1000),
		'changes', changes
	)));
end;

-- As in 0014. The rows of a batch come from many addresses.
create or replace function audit_device_conflict() returns trigger
language plpgsql
as $$
declare
	device devices;
begin
	if new.kind = 'POSSIBLE_CLONE' then
		for attempt in 1..10 loop
			exit when audit_lock(new.organization_id);
			if attempt = 10 then
				delete from device_conflicts c
				where c.organization_id = new.organization_id and c.device_id = new.device_id and c.kind = new.kind;
				return null;
			end if;
			perform pg_sleep(0.01);
		end loop;
	end if;
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

-- As in 0006 and 0014, with the addresses. The conflicts of a batch keep them.
drop function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[]);
create function agent_heartbeat(
	p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[],
	p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]
)
returns table (
	ordinal integer, device_id text,
	heartbeat_interval_seconds integer, posture_interval_seconds integer
)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms'
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
			serial_number, os_version, agent_version, address
		)
		select
			t.organization_id, t.id, 'POSSIBLE_CLONE', p_hardware_uuid[t.n], p_platform[t.n],
			p_hostname[t.n], p_serial_number[t.n], p_os_version[t.n], p_agent_version[t.n],
			p_address[t.n]
		from touched t
		where t.is_other_hardware
		-- Each new conflict locks its organization's audit log. Two batches do so in the same order.
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

do $$
begin
	grant create on schema public to assay_agent;
	alter function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[])
		owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function
	agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[]) from public;
grant execute on function
	agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[]) to assay_app;
