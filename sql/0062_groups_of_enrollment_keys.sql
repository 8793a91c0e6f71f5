-- An enrollment key may name a group, which the devices that enroll with it join.

alter table enrollment_keys
	add column group_id typed_id,
	add constraint enrollment_keys_group_id_fkey
		foreign key (organization_id, group_id) references device_groups
		on delete set null (group_id);
create index enrollment_keys_group_id on enrollment_keys (organization_id, group_id)
	where group_id is not null;

grant insert on device_group_members to assay_agent;
create policy agent on device_group_members for insert to assay_agent with check (true);

-- Makes devices with an enrollment key, as many of the given ones as it still has room for, and
-- returns how many (the first ones). One update counts them all, and one write of the audit log
-- names them. An address that belongs to exactly one person makes that person the claimed owner.
-- The devices join the group of the key.
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
	perform audit_append(found_key.organization_id, entries);
	return room;
end
$$;
