-- The checks of a device that are not canonical, and the day on which it last used each. Limits how
-- many keys of its own one device may use, so that it cannot make its organization's lists unusable.

create table device_check_keys (
	organization_id typed_id not null,
	device_id typed_id not null,
	check_key text collate "C" not null check (check_key <> ''),
	last_used_on date not null default current_date,
	primary key (organization_id, device_id, check_key),
	foreign key (organization_id, device_id) references devices on delete cascade
);

alter table device_check_keys enable row level security;
alter table device_check_keys force row level security;
create policy tenant on device_check_keys to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on device_check_keys to assay_agent using (true);
grant select on device_check_keys to assay_app;
grant select, insert, update, delete on device_check_keys to assay_agent;
select allow_backup();

-- Notes that devices use these checks today. Notes nothing for a device that would then have used
-- more than p_most within p_days, and returns its position in p_key_hash. The devices are sorted
-- by key; r_device says which one (from 1) uses which key. Keys used before are always accepted.
create function agent_note_check_keys(
	p_key_hash bytea[], r_device integer[], r_check_key text[], p_most integer, p_days integer
) returns setof integer
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '500ms'
as $$
begin
	-- The lock that agent_store_postures takes, so two processes cannot both take the last place.
	perform pg_advisory_xact_lock(('x' || encode(substring(k.key_hash for 8), 'hex'))::bit(64)::bigint)
	from unnest(p_key_hash) k (key_hash);

	delete from device_check_keys c
	using devices d
	where d.key_hash = any (p_key_hash)
		and c.organization_id = d.organization_id and c.device_id = d.id
		and c.last_used_on <= current_date - p_days;

	return query
	with used as (
		select distinct r.device, d.organization_id, d.id, r.check_key
		from unnest(r_device, r_check_key) r (device, check_key)
		join devices d on d.key_hash = p_key_hash[r.device] and d.status = 'ACTIVE'
	), known as (
		select d.organization_id, d.id, c.check_key, c.last_used_on
		from (select distinct u.organization_id, u.id from used u) d
		join device_check_keys c on c.organization_id = d.organization_id and c.device_id = d.id
	), over as (
		select u.device
		from used u
		left join known k on k.organization_id = u.organization_id and k.id = u.id and k.check_key = u.check_key
		where k.check_key is null
		group by u.device, u.organization_id, u.id
		having count(*) + (
			select count(*) from known o where o.organization_id = u.organization_id and o.id = u.id
		) > p_most
	), noted as (
		insert into device_check_keys as c (organization_id, device_id, check_key)
		select u.organization_id, u.id, u.check_key
		from used u
		left join known k on k.organization_id = u.organization_id and k.id = u.id and k.check_key = u.check_key
		where u.device not in (select o.device from over o)
			and (k.last_used_on is null or k.last_used_on < current_date)
		on conflict on constraint device_check_keys_pkey do update set last_used_on = current_date
	)
	select o.device from over o;
end
$$;

do $$
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	alter function agent_note_check_keys(bytea[], integer[], text[], integer, integer) owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function agent_note_check_keys(bytea[], integer[], text[], integer, integer) from public;
grant execute on function agent_note_check_keys(bytea[], integer[], text[], integer, integer) to assay_app;
