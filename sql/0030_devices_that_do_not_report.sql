-- Counts ACTIVE devices that send heartbeats but have observed nothing for two posture intervals, as
-- REPORTING and FRESHNESS in src/devices/device-record.ts. It reads a span of every device and runs
-- seldom, so it is not part of count_devices.
create function count_devices_not_reporting() returns bigint
language sql stable security definer set search_path = public, pg_temp
as $$
	select count(*)
	from devices t
	join organizations o on o.id = t.organization_id
	cross join lateral (
		select now() - (2 * o.posture_interval_seconds + 60) * interval '1 second' as since
	) p
	where t.status = 'ACTIVE'
		and t.last_seen_at >= now() - (2 * o.heartbeat_interval_seconds + 60) * interval '1 second'
		and t.activated_at < p.since
		and not exists (
			select from posture_spans s
			where s.organization_id = t.organization_id and s.device_id = t.id and s.is_current
				and s.last_observed_at >= p.since
			-- Keeps the planner from reading the spans of all devices.
			offset 0
		)
$$;

grant create on schema public to assay_agent;
alter function count_devices_not_reporting() owner to assay_agent;
revoke execute on function count_devices_not_reporting() from public;
grant execute on function count_devices_not_reporting() to assay_app;
revoke create on schema public from assay_agent;
