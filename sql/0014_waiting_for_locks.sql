-- What devices call waits for nobody's lock for long: the places in which their statements travel
-- are few, and a lock that somebody keeps in one organization must not take those of all.
-- `create or replace` forgets a function's settings: who replaces one of these repeats its own.

-- Of one device each, for which the log of its organization may be locked; the service asks again.
alter function agent_enroll(bytea, bytea) set lock_timeout = '200ms';
alter function agent_activate(bytea, text, text, text, text, text, text) set lock_timeout = '200ms';
alter function agent_unenroll(bytea) set lock_timeout = '200ms';

-- Batches: after one that met a lock the service asks agent_lock first, for a while.
alter function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[])
	set lock_timeout = '500ms';
alter function agent_store_postures(
	bytea[], text[], text[], timestamptz[], jsonb, integer[], integer[], text[], text[], bigint[], boolean[]
) set lock_timeout = '500ms';

-- Takes the locks that heartbeats (or, p_are_reports, reports) of these devices will take until the
-- transaction ends, and waits for none. Gives the ordinals of those that somebody else has.
create function agent_lock(p_key_hash bytea[], p_are_reports boolean) returns setof integer
language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '500ms'
as $$
begin
	if p_are_reports then
		return query
		with turn as materialized (
			-- As agent_store_postures.
			select k.n, k.key_hash, pg_try_advisory_xact_lock(
				('x' || encode(substring(k.key_hash for 8), 'hex'))::bit(64)::bigint
			) as is_free
			from unnest(p_key_hash) with ordinality k (key_hash, n)
		), free as materialized (
			-- As a foreign key to the device.
			select d.key_hash from devices d where d.key_hash = any (p_key_hash) for key share skip locked
		)
		select t.n::integer
		from turn t
		left join devices d on d.key_hash = t.key_hash
		where not t.is_free
			or d.key_hash is not null and d.key_hash not in (select f.key_hash from free f);
	else
		return query
		with free as materialized (
			select d.key_hash from devices d where d.key_hash = any (p_key_hash) for no key update skip locked
		)
		select k.n::integer
		from unnest(p_key_hash) with ordinality k (key_hash, n)
		join devices d on d.key_hash = k.key_hash
		where d.key_hash not in (select f.key_hash from free f);
	end if;
end
$$;

-- As in 0002, with the organization, in which the service gives out turns; and of an enrollment
-- token too, whose status is 'TOKEN'.
drop function agent_authenticate(bytea[]);
create function agent_authenticate(p_key_hash bytea[])
returns table (ordinal integer, status text, organization_id text)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select k.n::integer, d.status, d.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join devices d on d.key_hash = k.key_hash
	union all
	select k.n::integer, 'TOKEN', t.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join enrollment_tokens t on t.token_hash = k.key_hash;
end
$$;

-- Takes the lock of an organization's log if nobody has it; false when somebody has.
create function audit_lock(p_organization_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	perform from audit_heads where organization_id = p_organization_id for update skip locked;
	return found or not exists (select from audit_heads where organization_id = p_organization_id);
end
$$;

-- As in 0006. But a batch of heartbeats does not wait for one organization's log longer than others
-- have it for a change of theirs: what looks like a clone meanwhile is noted by the next heartbeat.
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

do $$
begin
	grant create on schema public to assay_agent, assay_audit;
	alter function agent_lock(bytea[], boolean) owner to assay_agent;
	alter function agent_authenticate(bytea[]) owner to assay_agent;
	alter function audit_lock(text) owner to assay_audit;
	revoke create on schema public from assay_agent, assay_audit;
	revoke execute on function agent_lock(bytea[], boolean), agent_authenticate(bytea[]), audit_lock(text) from public;
	grant execute on function agent_lock(bytea[], boolean), agent_authenticate(bytea[]) to assay_app;
	grant execute on function audit_lock(text) to assay_agent;
end
$$;
