-- What the metrics say of the whole installation: numbers, of no organization in particular.

-- How many devices there are by status and by how lately they were heard of. The same cases as
-- FRESHNESS in src/devices/device-record.ts. Reads every device: ask it seldom.
create function count_devices() returns table (status text, freshness text, devices bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select t.status,
		case
			when t.last_seen_at is null then 'NEVER'
			when t.last_seen_at >= now() - (2 * o.heartbeat_interval_seconds + 60) * interval '1 second' then 'ONLINE'
			when t.last_seen_at >= now() - interval '7 days' then 'STALE'
			else 'MISSING'
		end,
		count(*)
	from devices t
	join organizations o on o.id = t.organization_id
	group by 1, 2
$$;

grant create on schema public to assay_agent;
alter function count_devices() owner to assay_agent;
revoke execute on function count_devices() from public;
grant execute on function count_devices() to assay_app;
revoke create on schema public from assay_agent;
