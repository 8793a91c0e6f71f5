-- 0096 gave agent_heartbeat a fifth column. PostgreSQL then rejected the statement that processes of
-- the version before it had prepared, so each of their connections lost a batch of heartbeats. The
-- function has its four columns again, and the statement of the present version calls another one.

alter function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[])
	rename to agent_store_heartbeats;

-- For processes of earlier versions.
create function agent_heartbeat(
	p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[],
	p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]
)
returns table (
	ordinal integer, device_id text,
	heartbeat_interval_seconds integer, posture_interval_seconds integer
)
language sql security definer set search_path = public, pg_temp
as $$
	select s.ordinal, s.device_id, s.heartbeat_interval_seconds, s.posture_interval_seconds
	from agent_store_heartbeats(
		p_key_hash, p_hardware_uuid, p_serial_number, p_hostname,
		p_platform, p_os_version, p_agent_version, p_address
	) s
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
