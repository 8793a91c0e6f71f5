-- A device that enrolls with an enrollment key of a group had the organization's policy until the
-- service looked at the groups again, up to a minute later. It has the group's policy at once now.

grant insert on device_group_policy_spans to assay_agent;
create policy agent on device_group_policy_spans for insert to assay_agent with check (true);

-- As in 0062. If the group of the key has a policy, it applies to the devices from the beginning.
-- A group with a filter may contain such a device too. If its policy comes first, the device gets
-- that policy within a minute.
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
