-- Enrollment keys warned too early or never: a key for at most nine devices had no tenth that could be
-- left, and a key for seven days was in its last week from the beginning. Nothing told of keys that
-- had ended. And a device that enrolled with the key of a group got the group's exceptions up to a
-- minute later.

-- The state of an enrollment key. It runs out when at most a tenth of its devices is left, or the
-- last one, or when the last tenth of its time has begun, at most seven days before its end. A key
-- that nobody has used does not run out by its devices, because one for a single device would do so
-- from the beginning.
create function enrollment_key_state(
	p_created_at timestamptz, p_expires_at timestamptz, p_revoked_at timestamptz,
	p_max_devices integer, p_used integer
) returns text
language sql stable
as $$
	select case
		when p_revoked_at is not null then 'REVOKED'
		when p_expires_at <= now() then 'EXPIRED'
		when p_used >= p_max_devices then 'USED_UP'
		when p_expires_at - now() <= least((p_expires_at - p_created_at) / 10, interval '7 days')
			then 'RUNNING_OUT'
		when p_used > 0 and p_max_devices - p_used <= greatest(p_max_devices / 10, 1)
			then 'RUNNING_OUT'
		else 'OPEN'
	end
$$;

-- What administrators are told of a key: that it runs out, or that it ended in the last 14 days. Null
-- if there is nothing to tell.
create function enrollment_key_warning(
	p_created_at timestamptz, p_expires_at timestamptz, p_revoked_at timestamptz,
	p_max_devices integer, p_used integer, p_last_used_at timestamptz
) returns text
language sql stable
as $$
	select case enrollment_key_state(p_created_at, p_expires_at, p_revoked_at, p_max_devices, p_used)
		when 'RUNNING_OUT' then 'RUNNING_OUT'
		when 'EXPIRED' then case
			when least(
				p_expires_at, case when p_used >= p_max_devices then p_last_used_at end
			) > now() - interval '14 days' then 'ENDED'
		end
		when 'USED_UP' then case when p_last_used_at > now() - interval '14 days' then 'ENDED' end
	end
$$;

alter table enrollment_keys
	-- The last warning of which an event was made.
	add column told text check (told in ('RUNNING_OUT', 'ENDED'));

-- Counts the enrollment keys that can be used, those of them that run out, those that ended in the
-- last 14 days, and the devices that wait for approval.
create function count_enrollment_key_states()
returns table (usable bigint, running_out bigint, ended bigint, awaiting_approval bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select
		count(*) filter (where k.expires_at > now() and k.used < k.max_devices),
		count(*) filter (where w.warning = 'RUNNING_OUT'),
		count(*) filter (where w.warning = 'ENDED'),
		(select count(*) from devices d where d.awaits_approval and d.status = 'PENDING')
	from enrollment_keys k
	cross join lateral enrollment_key_warning(
		k.created_at, k.expires_at, k.revoked_at, k.max_devices, k.used, k.last_used_at
	) w (warning)
	where k.revoked_at is null
$$;

-- Processes of the version before this one call it.
create or replace function count_enrollment_keys()
returns table (usable bigint, running_out bigint, awaiting_approval bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select c.usable, c.running_out, c.awaiting_approval from count_enrollment_key_states() c
$$;

-- As in 0077, and organizations without devices that have an enrollment key.
create or replace function organizations_with_devices() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select o.id::text from organizations o
	where (
		exists (select from devices d where d.organization_id = o.id)
		or exists (select from device_exceptions e where e.organization_id = o.id)
		or exists (
			select from enrollment_keys k where k.organization_id = o.id and k.revoked_at is null
		)
	)
	and not exists (select from organization_closures c where c.organization_id = o.id)
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function count_enrollment_key_states() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function count_enrollment_key_states() from public;
grant execute on function count_enrollment_key_states() to assay_app;
revoke execute on function
	enrollment_key_state(timestamptz, timestamptz, timestamptz, integer, integer),
	enrollment_key_warning(timestamptz, timestamptz, timestamptz, integer, integer, timestamptz)
	from public;
grant execute on function
	enrollment_key_state(timestamptz, timestamptz, timestamptz, integer, integer),
	enrollment_key_warning(timestamptz, timestamptz, timestamptz, integer, integer, timestamptz)
	to assay_app, assay_agent;

grant insert on device_exception_members to assay_agent;
create policy agent on device_exception_members for insert to assay_agent with check (true);

-- As in 0100. The approved exceptions of the key's group count for the devices from the beginning.
create or replace function agent_enroll_with_key(
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
	), joined as (
		insert into device_group_members (organization_id, group_id, device_id)
		select found_key.organization_id, found_key.group_id, m.id
		from made m
		where found_key.group_id is not null
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
			'group_id', case when found_key.group_id is not null
				then jsonb_build_object('after', found_key.group_id) end,
			'awaits_approval', case when found_key.requires_approval
				then jsonb_build_object('after', true) end,
			'claimed_owner_id', case when m.claimed_owner_id is not null
				then jsonb_build_object('after', m.claimed_owner_id) end
		))
	) order by m.id)
	into entries
	from made m;
	-- As noteGroupDevices in src/devices/exceptions/group-exceptions.ts does for other devices.
	if found_key.group_id is not null then
		insert into device_exception_members (organization_id, exception_id, device_id)
		select found_key.organization_id, e.id, d.id
		from device_exceptions e
		cross join unnest(p_device_id[1:room]) d (id)
		where e.organization_id = found_key.organization_id and e.group_id = found_key.group_id
			and e.decision = 'APPROVED' and e.ends_at > now();
	end if;
	if exists (
		select from device_group_policies p
		where p.organization_id = found_key.organization_id and p.group_id = found_key.group_id
			and p.priority is not null
	) then
		-- A policy that is removed at the same time would otherwise stay with these devices. The
		-- group is locked by now, so this locks in the same order as a change of the group's devices.
		perform pg_advisory_xact_lock_shared(
			hashtextextended('group policies ' || found_key.organization_id, 0)
		);
		with governed as (
			update devices d set group_policy_id = p.id
			from device_group_policies p
			where d.organization_id = found_key.organization_id
				and d.id = any (p_device_id[1:room])
				and p.organization_id = found_key.organization_id and p.group_id = found_key.group_id
				and p.priority is not null
			returning d.id, p.id as policy_id
		)
		insert into device_group_policy_spans (organization_id, device_id, since, policy_id)
		select found_key.organization_id, g.id, clock_timestamp(), g.policy_id
		from governed g;
	end if;
	perform audit_append(found_key.organization_id, entries);
	return room;
end
$$;
