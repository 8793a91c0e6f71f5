-- A fleet may have Assay's agent on some devices and another one, such as probo-agent, on others.
-- Their versions have nothing to do with each other, so only Assay's agents can be outdated.

alter table devices add column agent_name text
	check (agent_name <> '' and length(agent_name) <= 64);
comment on column devices.agent_name is
	'name that the agent gave in the header User-Agent of its first heartbeat; null if it gave none';

-- As in 0032, and it stores the name of the agent, which the service puts into the setting
-- assay.agent. A device that changes to another agent enrolls again, and so activates again. The
-- heartbeats after the first one therefore need not store the name.
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
	name_of_agent text := nullif(current_setting('assay.agent', true), '');
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
			agent_name = name_of_agent,
			updated_at = now(),
			hostname_key = sort_key(p_hostname),
			search_text = search_text(d.name, p_hostname, p_serial_number)
		where d.organization_id = before.organization_id and d.id = before.id
			and (
				d.serial_number, d.hostname, d.platform, d.os_version, d.agent_version, d.agent_name
			) is distinct from (
				p_serial_number, p_hostname, p_platform, p_os_version, p_agent_version, name_of_agent
			);
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
			agent_name = name_of_agent,
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
