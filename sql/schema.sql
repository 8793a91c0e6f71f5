CREATE EXTENSION IF NOT EXISTS btree_gin WITH SCHEMA public;

COMMENT ON EXTENSION btree_gin IS 'support for indexing common datatypes in GIN';

CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA public;

COMMENT ON EXTENSION pg_trgm IS 'text similarity measurement and index searching based on trigrams';

CREATE EXTENSION IF NOT EXISTS unaccent WITH SCHEMA public;

COMMENT ON EXTENSION unaccent IS 'text search dictionary that removes accents';

CREATE DOMAIN public.typed_id AS text COLLATE pg_catalog."C"
	CONSTRAINT typed_id_check CHECK ((octet_length(VALUE) = 32));

CREATE FUNCTION public.accept_invitation(p_token_hash bytea) RETURNS TABLE(invitation_id text, organization_id text, role text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller text := current_setting('assay.user_id', true);
	invitation invitations;
begin
	update invitations i
	set accepted_at = now()
	from users u
	where u.id = caller and i.email = u.email and i.token_hash = p_token_hash
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	returning i.* into invitation;
	if not found then
		return;
	end if;
	insert into memberships (organization_id, user_id, role)
	values (invitation.organization_id, caller, invitation.role)
	on conflict do nothing;
	return query
	select invitation.id::text, m.organization_id::text, m.role
	from memberships m
	where m.organization_id = invitation.organization_id and m.user_id = caller;
end
$$;

CREATE FUNCTION public.accept_invitation_with_tokens(p_token_hash bytea, p_session_id text, p_token_ids text[]) RETURNS TABLE(invitation_id text, organization_id text, role text, is_first_proof boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller text := current_setting('assay.user_id', true);
	invitation invitations;
	is_first boolean := false;
	earlier text[];
begin
	update invitations i
	set accepted_at = now()
	from users u
	where u.id = caller and i.email = u.email and (i.token_hash = p_token_hash or i.mailed_token_hash = p_token_hash)
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	returning i.* into invitation;
	if not found then
		return;
	end if;
	if invitation.mailed_token_hash = p_token_hash then
		is_first := prove_address(caller, p_session_id);
	end if;
	select array_agg(m.organization_id order by m.organization_id) into earlier
	from memberships m where m.user_id = caller and m.organization_id <> invitation.organization_id;
	insert into memberships (organization_id, user_id, role)
	values (invitation.organization_id, caller, invitation.role)
	on conflict do nothing;
	if found then
		update api_tokens t
		set revoked_at = case when earlier is null then now() end,
			organization_ids = coalesce(t.organization_ids, earlier[1:100]::typed_id[])
		where t.user_id = caller and t.revoked_at is null
			and t.organization_ids is null and t.id <> all (p_token_ids);
		update api_tokens t set organization_ids = t.organization_ids || invitation.organization_id
		where t.user_id = caller and t.revoked_at is null
			and cardinality(t.organization_ids) < 100 and t.id = any (p_token_ids);
	end if;
	return query
	select invitation.id::text, m.organization_id::text, m.role, is_first
	from memberships m
	where m.organization_id = invitation.organization_id and m.user_id = caller;
end
$$;

CREATE FUNCTION public.add_password_reset(p_token_hash bytea, p_user_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	if not administers_account(caller, p_user_id) then
		return false;
	end if;
	delete from account_links l where l.user_id = p_user_id;
	insert into account_links (token_hash, purpose, user_id, made_by, expires_at)
	values (p_token_hash, 'PASSWORD_RESET', p_user_id, caller, now() + interval '24 hours');
	return true;
end
$$;

CREATE FUNCTION public.add_setup_link(p_token_hash bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	perform pg_advisory_xact_lock(4723119);
	delete from account_links where purpose = 'SETUP';
	if exists (select from users) then
		return false;
	end if;
	insert into account_links (token_hash, purpose, expires_at)
	values (p_token_hash, 'SETUP', now() + interval '24 hours');
	return true;
end
$$;

CREATE FUNCTION public.administers_account(p_admin_id text, p_user_id text) RETURNS boolean
    LANGUAGE plpgsql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return exists (select from memberships m where m.user_id = p_user_id)
		and not exists (
			select from memberships m
			where m.user_id = p_user_id and not exists (
				select from memberships a
				where a.organization_id = m.organization_id and a.user_id = p_admin_id and a.role = 'admin'
			)
		);
end
$$;

CREATE FUNCTION public.agent_activate(p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
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

CREATE FUNCTION public.agent_authenticate(p_key_hash bytea[]) RETURNS TABLE(ordinal integer, status text, organization_id text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select k.n::integer, d.status, d.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join devices d on d.key_hash = k.key_hash
	union all
	select k.n::integer, 'TOKEN', t.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join enrollment_tokens t on t.token_hash = k.key_hash
	union all
	select k.n::integer, 'KEY', e.organization_id::text
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join enrollment_keys e on e.secret_hash = k.key_hash
	where e.revoked_at is null and e.expires_at > now() and e.used < e.max_devices;
end
$$;

CREATE TABLE public.device_policies (
    organization_id public.typed_id NOT NULL,
    min_password_length integer DEFAULT 8 NOT NULL,
    max_lock_delay_seconds integer DEFAULT 900 NOT NULL,
    max_patch_age_days integer DEFAULT 60 NOT NULL,
    max_definitions_age_days integer DEFAULT 7 NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    max_silence_days integer DEFAULT 3 NOT NULL,
    linux_malware_protection text DEFAULT 'MANDATORY_ACCESS_CONTROL_COUNTS'::text NOT NULL,
    exceptions_need_two_people boolean DEFAULT false NOT NULL,
    CONSTRAINT device_policies_linux_malware_protection_check CHECK ((linux_malware_protection = ANY (ARRAY['MANDATORY_ACCESS_CONTROL_COUNTS'::text, 'SCANNER_REQUIRED'::text]))),
    CONSTRAINT device_policies_max_definitions_age_days_check CHECK (((max_definitions_age_days >= 1) AND (max_definitions_age_days <= 30))),
    CONSTRAINT device_policies_max_lock_delay_seconds_check CHECK (((max_lock_delay_seconds >= 60) AND (max_lock_delay_seconds <= 3600))),
    CONSTRAINT device_policies_max_patch_age_days_check CHECK (((max_patch_age_days >= 7) AND (max_patch_age_days <= 180))),
    CONSTRAINT device_policies_max_silence_days_check CHECK (((max_silence_days >= 1) AND (max_silence_days <= 30))),
    CONSTRAINT device_policies_min_password_length_check CHECK (((min_password_length >= 6) AND (min_password_length <= 64)))
);

ALTER TABLE ONLY public.device_policies FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.agent_device_policies() RETURNS SETOF public.device_policies
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
	select * from device_policies
$$;

CREATE FUNCTION public.agent_enroll(p_token_hash bytea, p_key_hash bytea) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
	token record;
	before devices;
	device devices;
begin
	delete from enrollment_tokens t
	using devices d
	where t.token_hash = p_token_hash
		and t.expires_at > now()
		and t.revoked_at is null
		and d.organization_id = t.organization_id
		and d.id = t.device_id
		and d.status <> 'REVOKED'
	returning t.organization_id, t.device_id, t.name into token;
	if not found then
		return null;
	end if;
	select * into before from devices d
	where d.organization_id = token.organization_id and d.id = token.device_id
	for no key update;
	-- Revoked in the meantime.
	if before.status = 'REVOKED' then
		return null;
	end if;
	update devices d
	set
		key_hash = p_key_hash, status = 'PENDING', enrolled_at = now(), enrolled_with = token.name,
		updated_at = now()
	where d.organization_id = token.organization_id and d.id = token.device_id
	returning * into device;
	perform audit_device(device, 'enrollDevice', jsonb_build_object(
		'status', jsonb_build_object('before', before.status, 'after', device.status),
		'enrolled_with', jsonb_build_object('before', before.enrolled_with, 'after', device.enrolled_with)
	));
	return token.device_id;
end
$$;

CREATE FUNCTION public.agent_enroll_with_key(p_secret_hash bytea, p_device_id text[], p_key_hash bytea[], p_owner_email text[], p_address text[]) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '200ms'
    AS $$
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

CREATE FUNCTION public.agent_extend_packed_report(p_organization_id text, p_device_id text, p_month date, p_report_id text, p_further jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
	in_part integer;
	ids text[];
	times timestamptz[];
	contents jsonb[];
	place integer;
begin
	select p.part into in_part
	from packed_posture_reports p
	where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month
		and p_report_id = any (p.report_ids)
	order by p.part
	limit 1
	for update;
	if in_part is null then
		return;
	end if;
	select
		array_agg(r.report_id order by r.received_at, r.report_id),
		array_agg(r.received_at order by r.received_at, r.report_id),
		array_agg(r.results::jsonb order by r.received_at, r.report_id)
	into ids, times, contents
	from packed_posture_reports p
	cross join lateral unpack_reports(
		p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
	) r
	where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month
		and p.part = in_part;
	place := array_position(ids, p_report_id);
	contents[place] := contents[place] || p_further;
	update packed_posture_reports p
	set (report_of, variant_of, observed_at, variants) = (
		select n.report_of, n.variant_of, n.observed_at, n.variants
		from pack_posture_reports(p_organization_id, p_device_id, p_month, ids, times, contents) n
	)
	where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month
		and p.part = in_part;
end
$$;

CREATE FUNCTION public.agent_extend_report(p_organization_id text, p_device_id text, p_report_id text, p_not_before timestamp with time zone, p_results jsonb) RETURNS bigint[]
    LANGUAGE plpgsql
    AS $$
declare
	stored record;
	further jsonb;
	positions bigint[];
begin
	select r.received_at, r.results, r.packed_in into stored
	from find_posture_report(p_organization_id, p_device_id, p_report_id, p_not_before) r
	order by r.received_at
	limit 1;

	select jsonb_agg(e.result order by e.n), array_agg(e.n)
	into further, positions
	from jsonb_array_elements(p_results) with ordinality e (result, n)
	where not exists (
		select from jsonb_array_elements(stored.results) s (result)
		where posture_result_identity(s.result) = posture_result_identity(e.result)
	);

	if further is not null and stored.packed_in is not null then
		perform agent_extend_packed_report(
			p_organization_id, p_device_id, stored.packed_in, p_report_id, further
		);
	elsif further is not null then
		update posture_reports r
		set results = r.results || further
		where r.organization_id = p_organization_id and r.device_id = p_device_id
			and r.report_id = p_report_id and r.received_at = stored.received_at;
	end if;
	return coalesce(positions, '{}');
end
$$;

CREATE TABLE public.device_group_policies (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    group_id public.typed_id,
    priority integer,
    min_password_length integer,
    max_lock_delay_seconds integer,
    max_patch_age_days integer,
    max_definitions_age_days integer,
    linux_malware_protection text,
    max_silence_days integer,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT device_group_policies_linux_malware_protection_check CHECK ((linux_malware_protection = ANY (ARRAY['MANDATORY_ACCESS_CONTROL_COUNTS'::text, 'SCANNER_REQUIRED'::text]))),
    CONSTRAINT device_group_policies_max_definitions_age_days_check CHECK (((max_definitions_age_days >= 1) AND (max_definitions_age_days <= 30))),
    CONSTRAINT device_group_policies_max_lock_delay_seconds_check CHECK (((max_lock_delay_seconds >= 60) AND (max_lock_delay_seconds <= 3600))),
    CONSTRAINT device_group_policies_max_patch_age_days_check CHECK (((max_patch_age_days >= 7) AND (max_patch_age_days <= 180))),
    CONSTRAINT device_group_policies_max_silence_days_check CHECK (((max_silence_days >= 1) AND (max_silence_days <= 30))),
    CONSTRAINT device_group_policies_min_password_length_check CHECK (((min_password_length >= 6) AND (min_password_length <= 64))),
    CONSTRAINT device_group_policies_priority_check CHECK ((priority > 0))
);

ALTER TABLE ONLY public.device_group_policies FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.agent_group_policies() RETURNS SETOF public.device_group_policies
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
	select * from device_group_policies where priority is not null
$$;

CREATE FUNCTION public.agent_heartbeat(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) RETURNS TABLE(ordinal integer, device_id text, heartbeat_interval_seconds integer, posture_interval_seconds integer)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select s.ordinal, s.device_id, s.heartbeat_interval_seconds, s.posture_interval_seconds
	from agent_store_heartbeats(
		p_key_hash, p_hardware_uuid, p_serial_number, p_hostname,
		p_platform, p_os_version, p_agent_version, p_address
	) s
$$;

CREATE FUNCTION public.agent_judge_unknown_keys(p_key_hash bytea[], p_claims jsonb, p_most integer) RETURNS TABLE(ordinal integer, verdict text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	why text := (select s.reason from unknown_key_state() s);
begin
	delete from unknown_device_keys u where u.last_seen_at < now() - interval '7 days';
	if why is not null then
		insert into unknown_device_keys as u
			(key_hash, address, hardware_uuid, serial_number, hostname, platform)
		select k.key_hash, c ->> 'address', c ->> 'hardware_uuid', c ->> 'serial_number',
			c ->> 'hostname', c ->> 'platform'
		from unnest(p_key_hash) with ordinality k (key_hash, n)
		cross join lateral (select p_claims -> (k.n::int - 1)) l (c)
		where not exists (select from revoked_device_keys r where r.key_hash = k.key_hash)
			and (
				exists (select from unknown_device_keys o where o.key_hash = k.key_hash)
				or (select count(*) from unknown_device_keys) < p_most
			)
		order by k.key_hash
		on conflict (key_hash) do update set
			last_seen_at = now(), requests = u.requests + 1,
			address = coalesce(excluded.address, u.address),
			hardware_uuid = coalesce(excluded.hardware_uuid, u.hardware_uuid),
			serial_number = coalesce(excluded.serial_number, u.serial_number),
			hostname = coalesce(excluded.hostname, u.hostname),
			platform = coalesce(excluded.platform, u.platform);
	end if;
	return query
	select k.n::int, case
		when why is null then 'STRICT'
		when exists (select from revoked_device_keys r where r.key_hash = k.key_hash) then 'REVOKED'
		else why
	end
	from unnest(p_key_hash) with ordinality k (key_hash, n);
end
$$;

CREATE FUNCTION public.agent_lock(p_key_hash bytea[], p_are_reports boolean) RETURNS SETOF integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    AS $$
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

CREATE FUNCTION public.agent_note_check_keys(p_key_hash bytea[], r_device integer[], r_check_key text[], p_most integer, p_days integer) RETURNS SETOF integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '500ms'
    AS $$
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

CREATE FUNCTION public.agent_note_silences(p_organization_id text, p_device_id text, p_last_at timestamp with time zone, p_observed_at bigint[]) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
	first_at timestamptz;
	last_at timestamptz := p_last_at;
	moment timestamptz;
	silence record;
begin
	select min(s.since) into first_at from posture_spans s
	where s.organization_id = p_organization_id and s.device_id = p_device_id;

	for moment in
		select distinct timestamptz 'epoch' + o.at * interval '1 microsecond'
		from unnest(p_observed_at) o (at) order by 1
	loop
		if last_at is null then
			first_at := moment;
			last_at := moment;
		elsif moment > last_at then
			insert into device_silences
			select p_organization_id, p_device_id, last_at, moment
			where moment > last_at + interval '24 hours';
			last_at := moment;
		elsif moment < first_at then
			insert into device_silences
			select p_organization_id, p_device_id, moment, first_at
			where first_at > moment + interval '24 hours';
			first_at := moment;
		else
			delete from device_silences s
			where s.organization_id = p_organization_id and s.device_id = p_device_id
				and s.since < moment and s.until > moment
			returning s.since, s.until into silence;
			if found then
				insert into device_silences
				select p_organization_id, p_device_id, p.since, p.until
				from (values (silence.since, moment), (moment, silence.until)) p (since, until)
				where p.until > p.since + interval '24 hours';
			end if;
		end if;
	end loop;
end
$$;

CREATE FUNCTION public.agent_record_observation(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_observed_at timestamp with time zone, p_report_id text) RETURNS void
    LANGUAGE plpgsql
    AS $$
declare
	before posture_spans;
	after posture_spans;
	-- The observations of the same status that stand nearest to a contradiction inside a span.
	left_at timestamptz;
	left_report text;
	right_at timestamptz;
	right_report text;
	is_taken boolean;
begin
	select * into before
	from posture_spans s
	where s.organization_id = p_organization_id and s.device_id = p_device_id
		and s.check_key = p_check_key and s.since <= p_observed_at
	order by s.since desc
	limit 1;

	if before.since is not null and p_observed_at <= before.last_observed_at then
		-- Known already; or of the same instant as a known one, and then the first to arrive stands.
		if before.status = p_status or p_observed_at in (before.since, before.last_observed_at) then
			return;
		end if;
		-- A contradiction inside the span splits it. Where the raw reports are gone, what is
		-- known of its two sides are the span's own ends.
		select
			(array_agg(o.observed_at order by o.observed_at desc) filter (where o.observed_at < p_observed_at))[1],
			(array_agg(o.report_id order by o.observed_at desc) filter (where o.observed_at < p_observed_at))[1],
			(array_agg(o.observed_at order by o.observed_at) filter (where o.observed_at > p_observed_at))[1],
			(array_agg(o.report_id order by o.observed_at) filter (where o.observed_at > p_observed_at))[1],
			bool_or(o.observed_at = p_observed_at)
		into left_at, left_report, right_at, right_report, is_taken
		from (
			select (e ->> 'observed_at')::timestamptz as observed_at, r.report_id
			from posture_reports r, jsonb_array_elements(r.results) e
			where r.organization_id = p_organization_id and r.device_id = p_device_id
				-- Nothing is observed more than five minutes after it was received.
				and r.received_at >= before.since - interval '6 minutes'
				and e ->> 'check_key' = p_check_key and e ->> 'status' = before.status
			union all
			select coalesce(e.observed_at, (v.variant::jsonb ->> 'observed_at')::timestamptz), i.report_id
			from packed_posture_reports p
			cross join lateral unnest(p.report_of, p.variant_of, p.observed_at) e (report, variant, observed_at)
			join unnest(p.variants) with ordinality v (variant, n) on v.n = e.variant
			join unnest(p.report_ids) with ordinality i (report_id, n) on i.n = e.report
			where p.organization_id = p_organization_id and p.device_id = p_device_id
				and p.month >= posture_report_month(before.since - interval '6 minutes')
				and v.variant::jsonb ->> 'check_key' = p_check_key
				and v.variant::jsonb ->> 'status' = before.status
		) o
		where o.observed_at between before.since and before.last_observed_at;
		if is_taken then
			return;
		end if;

		update posture_spans s
		set
			last_observed_at = coalesce(left_at, before.since),
			last_report_id = coalesce(left_report, before.first_report_id),
			is_current = false
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = before.since;
		insert into posture_spans values
			(
				p_organization_id, p_device_id, p_check_key, p_observed_at, p_observed_at,
				p_status, p_report_id, p_report_id, false
			),
			(
				p_organization_id, p_device_id, p_check_key,
				coalesce(right_at, before.last_observed_at), before.last_observed_at, before.status,
				coalesce(right_report, before.last_report_id), before.last_report_id, before.is_current
			);
		if before.is_current then
			insert into events (organization_id, type, record_id, data)
			select e.* from event_of_span(
				p_organization_id, p_device_id, p_check_key, before.status, p_status,
				coalesce(right_at, before.last_observed_at), coalesce(right_report, before.last_report_id)
			) e;
		end if;
		return;
	end if;

	if before.status = p_status then
		update posture_spans s
		set last_observed_at = p_observed_at, last_report_id = p_report_id
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = before.since;
		return;
	end if;

	select * into after
	from posture_spans s
	where s.organization_id = p_organization_id and s.device_id = p_device_id
		and s.check_key = p_check_key and s.since > p_observed_at
	order by s.since
	limit 1;

	if after.status = p_status then
		update posture_spans s
		set since = p_observed_at, first_report_id = p_report_id
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = after.since;
		return;
	end if;

	if before.is_current then
		update posture_spans s
		set
			since = p_observed_at, last_observed_at = p_observed_at, status = p_status,
			first_report_id = p_report_id, last_report_id = p_report_id
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = before.since;
		before.is_current := false;
		insert into posture_spans select (before).*;
	else
		insert into posture_spans values (
			p_organization_id, p_device_id, p_check_key, p_observed_at, p_observed_at,
			p_status, p_report_id, p_report_id, after.since is null
		);
	end if;
	if after.since is null then
		insert into events (organization_id, type, record_id, data)
		select e.* from event_of_span(
			p_organization_id, p_device_id, p_check_key, p_status, before.status, p_observed_at, p_report_id
		) e;
	end if;
end
$$;

CREATE FUNCTION public.agent_store_heartbeats(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) RETURNS TABLE(ordinal integer, device_id text, heartbeat_interval_seconds integer, posture_interval_seconds integer, group_policy_id text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    AS $$
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
			b.n, d.organization_id, d.id, d.group_policy_id,
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
		t.n::integer, t.id::text, o.heartbeat_interval_seconds, o.posture_interval_seconds,
		t.group_policy_id::text
	from touched t
	join organizations o on o.id = t.organization_id;
end
$$;

CREATE FUNCTION public.agent_store_postures(p_key_hash bytea[], p_tenant text[], p_report_id text[], p_not_before timestamp with time zone[], p_results jsonb, r_report integer[], r_position integer[], r_check_key text[], r_status text[], r_observed_at bigint[], r_is_only boolean[]) RETURNS TABLE(ordinal integer, outcome text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '500ms'
    SET enable_seqscan TO 'off'
    AS $$
declare
	epoch constant timestamptz := 'epoch';
	odd record;
	organization_ids text[];
	device_ids text[];
	report_ids text[];
	outcomes text[];
	-- Time of the device's last observation before these reports.
	last_at timestamptz[];
	results_of jsonb[] := array(select e from jsonb_array_elements(p_results) with ordinality r (e, n) order by n);
	late record;
	extended_report integer;
	-- Positions in that report of the results it did not have.
	further bigint[];
begin
	-- A device's reports are taken one after the other, whichever process they reach. The
	-- statements below begin after the lock, so each sees what the one before has committed.
	perform pg_advisory_xact_lock(('x' || encode(substring(k.key_hash for 8), 'hex'))::bit(64)::bigint)
	from unnest(p_key_hash) k (key_hash);

	select
		array_agg(d.organization_id order by r.n),
		array_agg(d.id order by r.n),
		array_agg(left(d.organization_id, 11) || substring(r.report_id from 12) order by r.n),
		array_agg(
			case
				when d.status = 'PENDING' then 'pending'
				when d.status is distinct from 'ACTIVE' then 'unauthorized'
				when r.tenant <> left(d.organization_id, 11) then 'foreign_report'
				else 'stored'
			end
			order by r.n
		),
		array_agg(l.at order by r.n)
	into organization_ids, device_ids, report_ids, outcomes, last_at
	from unnest(p_key_hash, p_tenant, p_report_id) with ordinality r (key_hash, tenant, report_id, n)
	left join devices d on d.key_hash = r.key_hash
	left join lateral (
		select max(s.last_observed_at) as at from posture_spans s
		where s.organization_id = d.organization_id and s.device_id = d.id and s.is_current
	) l on true;

	-- Only a device that was away for a day, or that sends old observations, has more to do.
	for odd in
		select
			r.organization_id, r.device_id, min(r.last_at) as last_at,
			array_agg(o.observed_at) as observed_at
		from unnest(organization_ids, device_ids, outcomes, last_at)
			with ordinality r (organization_id, device_id, outcome, last_at, n)
		join unnest(r_report, r_observed_at) o (report, observed_at) on o.report = r.n
		where r.outcome = 'stored'
		group by r.organization_id, r.device_id
		having epoch + min(o.observed_at) * interval '1 microsecond' < min(r.last_at)
			or epoch + max(o.observed_at) * interval '1 microsecond' > interval '24 hours'
				+ coalesce(min(r.last_at), epoch + min(o.observed_at) * interval '1 microsecond')
	loop
		perform agent_note_silences(odd.organization_id, odd.device_id, odd.last_at, odd.observed_at);
	end loop;

	for late in
		with report as (
			select r.n, r.organization_id, r.device_id, r.report_id, r.results, r.not_before,
				r.last_at is null as is_first,
				r.not_before is not null and exists (
					select from find_posture_report(r.organization_id, r.device_id, r.report_id, r.not_before)
				) as is_known
			from unnest(organization_ids, device_ids, report_ids, outcomes, results_of, p_not_before, last_at)
				with ordinality r (organization_id, device_id, report_id, outcome, results, not_before, last_at, n)
			where r.outcome = 'stored'
		), raw as (
			insert into posture_reports (organization_id, device_id, report_id, results)
			select r.organization_id, r.device_id, r.report_id, r.results
			from report r
			where not r.is_known
		), observation as (
			select
				o.n, o.report, o.position, r.is_known, r.not_before, r.organization_id, r.device_id, r.report_id,
				o.check_key, o.status, epoch + o.observed_at * interval '1 microsecond' as observed_at,
				o.is_only and not r.is_known as is_plain, r.is_first
			from unnest(r_report, r_position, r_check_key, r_status, r_observed_at, r_is_only)
				with ordinality o (report, position, check_key, status, observed_at, is_only, n)
			join report r on r.n = o.report
		), extended as (
			-- The usual case: newer than the current span, which goes on.
			update posture_spans s
			set last_observed_at = o.observed_at, last_report_id = o.report_id
			from observation o
			where o.is_plain and not o.is_first
				and s.organization_id = o.organization_id and s.device_id = o.device_id
				and s.check_key = o.check_key and s.is_current and s.status = o.status
				and s.last_observed_at < o.observed_at
			returning o.n
		), rest as (
			-- Not "not exists": the planner expects one row here and would compare all with all.
			select o.* from observation o
			where o.n not in (select e.n from extended e)
		), changing as (
			select o.*, s.span
			from rest o
			cross join lateral (
				select s as span from posture_spans s
				where s.organization_id = o.organization_id and s.device_id = o.device_id
					and s.check_key = o.check_key and s.is_current
					and s.last_observed_at < o.observed_at
				limit 1
			) s
			where o.is_plain and not o.is_first
		), changed as (
			update posture_spans s
			set
				since = c.observed_at, last_observed_at = c.observed_at, status = c.status,
				first_report_id = c.report_id, last_report_id = c.report_id
			from changing c
			where s.organization_id = c.organization_id and s.device_id = c.device_id
				and s.check_key = c.check_key and s.is_current
			returning
				c.n, c.organization_id, c.device_id, c.check_key, c.observed_at, c.status, c.report_id, c.span
		), ended as (
			insert into posture_spans
			select
				c.organization_id, c.device_id, c.check_key, (c.span).since, (c.span).last_observed_at,
				(c.span).status, (c.span).first_report_id, (c.span).last_report_id, false
			from changed c
		), first as (
			-- A device without a span has none of any check, so nobody looks for one.
			select o.* from rest o where o.is_plain and o.is_first
			union all
			select o.* from rest o
			where o.is_plain and not o.is_first and not exists (
				select from posture_spans s
				where s.organization_id = o.organization_id and s.device_id = o.device_id
					and s.check_key = o.check_key and s.is_current
			)
		), opened as (
			insert into posture_spans
			select
				o.organization_id, o.device_id, o.check_key, o.observed_at, o.observed_at,
				o.status, o.report_id, o.report_id, true
			from first o
		), added as (
			select
				c.organization_id, c.device_id, c.check_key, c.observed_at, c.status, c.report_id,
				(c.span).status as previous_status
			from changed c
			union all
			select f.organization_id, f.device_id, f.check_key, f.observed_at, f.status, f.report_id, null
			from first f
		), news as (
			insert into events (organization_id, type, record_id, data)
			select e.* from added o
			cross join lateral event_of_span(
				o.organization_id, o.device_id, o.check_key, o.status, o.previous_status, o.observed_at, o.report_id
			) e
		)
		select o.* from rest o
		where o.n not in (select c.n from changed c) and o.n not in (select f.n from first f)
		order by o.report, o.observed_at, o.position
	loop
		if late.is_known then
			if late.report is distinct from extended_report then
				extended_report := late.report;
				further := agent_extend_report(
					late.organization_id, late.device_id, late.report_id,
					late.not_before, results_of[late.report]
				);
			end if;
			continue when late.position <> all (further);
		end if;
		perform agent_record_observation(
			late.organization_id, late.device_id, late.check_key,
			late.status, late.observed_at, late.report_id
		);
	end loop;

	return query
	select o.n::integer, o.outcome from unnest(outcomes) with ordinality o (outcome, n);
end
$$;

CREATE FUNCTION public.agent_unenroll(p_key_hash bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET lock_timeout TO '200ms'
    AS $$
declare
	before devices;
	device devices;
begin
	select * into before from devices d where d.key_hash = p_key_hash for no key update;
	if not found then
		return false;
	end if;
	update devices d
	set status = 'REVOKED', revoked_at = now(), updated_at = now(), key_hash = null
	where d.organization_id = before.organization_id and d.id = before.id
	returning * into device;
	perform audit_device(device, 'unenrollDevice', jsonb_build_object(
		'status', jsonb_build_object('before', before.status, 'after', device.status)
	));
	return true;
end
$$;

CREATE FUNCTION public.allow_backup() RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity
			and c.relname <> all (array[
				'account_links', 'audit_sealing', 'events', 'last_backup', 'last_retention', 'mails',
				'maintenance', 'my_devices_links', 'notification_messages', 'sessions', 'sign_in_failures',
				'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
	for name in
		select c.relname from pg_class c
		join pg_policy b on b.polrelid = c.oid and b.polname = 'backup'
		left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
		where (a.attname is not null or c.relname = 'organizations')
			and c.relname <> all (array[
				'api_token_usage', 'archive_changes', 'archive_files', 'deleted_organizations', 'emergency_members',
				'emergency_sign_ins', 'enrollment_keys', 'enrollment_tokens', 'idempotency_keys',
				'identity_providers', 'invitations', 'memberships', 'organization_closures',
				'organization_domains', 'record_watches', 'revoked_device_keys', 'scim_credentials',
				'scim_group_members', 'scim_groups', 'scim_requests', 'scim_users', 'sign_in_rules'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'import')
	loop
		execute format(
			'create policy import on %I for insert to assay_backup'
			' with check (%I = current_setting(''assay.importing'', true))',
			name, case name when 'organizations' then 'id' else 'organization_id' end
		);
		execute format('grant insert on %I to assay_backup', name);
	end loop;
end
$$;

CREATE FUNCTION public.attach_packed_month(p_month date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	packed constant text := 'packed_posture_reports_' || to_char(p_month, 'YYYY_MM');
begin
	execute format('revoke select, insert, delete on %I from assay_agent', packed);
	execute format('alter table %I enable row level security, force row level security', packed);
	execute format(
		'alter table packed_posture_reports attach partition %I for values from (%L) to (%L)',
		packed, p_month, (p_month + interval '1 month')::date
	);
end
$$;

CREATE FUNCTION public.audit_append(p_organization_id text, p_entries jsonb) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	own constant text := nullif(current_setting('assay.organization_id', true), '');
begin
	if own <> p_organization_id then
		raise exception 'a transaction of % cannot write to the audit log of %', own, p_organization_id
			using errcode = 'insufficient_privilege';
	end if;
	-- audit_seal relies on this: a transaction that has taken an id has an xid.
	perform pg_current_xact_id();
	insert into audit_entries (
		organization_id, id, at, actor_kind, actor_id, actor_name, token_id, token_name, client, address,
		operation, outcome, record_kind, record_id, record_name, changes, import_id, hash_version, digests, salts
	)
	select p_organization_id, nextval('audit_entry_ids'), clock_timestamp(), e.actor_kind, e.actor_id,
		e.actor_name, e.token_id, e.token_name, e.client, e.address, e.operation,
		coalesce(e.outcome, 'DONE'), e.record_kind, e.record_id, e.record_name, coalesce(e.changes, '{}'),
		e.import_id, 2, d.digests, d.salts
	from jsonb_populate_recordset(null::audit_entries, p_entries) e
	cross join lateral (
		select coalesce(jsonb_object_agg(s.field, s.salt), '{}') as salts,
			coalesce(jsonb_object_agg(
				s.field, encode(sha256(convert_to(s.salt || s.value, 'UTF8')), 'hex')
			), '{}') as digests
		from (
			-- A random UUID has 122 random bits from the system's generator.
			select f.field, f.value, replace(gen_random_uuid()::text, '-', '') as salt
			from audit_erasable_fields(e) f
		) s
	) d;
end
$$;

CREATE FUNCTION public.sort_key(text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
declare
	folded constant text := pg_catalog.lower(public.unaccent('public.unaccent', $1));
begin
	if $1 operator(pg_catalog.!~) '\d' then
		return pg_catalog.left(folded, 200);
	end if;
	return pg_catalog.left(
		pg_catalog.regexp_replace(
			pg_catalog.regexp_replace(folded, '(\d+)', '000000000\1', 'g'), '\d*(\d{10})', '\1', 'g'
		), 200
	);
end
$_$;

CREATE TABLE public.devices (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text,
    status text DEFAULT 'PENDING'::text NOT NULL,
    key_hash bytea,
    hardware_uuid text,
    hardware_hash bytea,
    serial_number text,
    hostname text,
    platform text,
    os_version text,
    agent_version text,
    enrolled_with text,
    enrolled_at timestamp with time zone,
    activated_at timestamp with time zone,
    last_seen_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    owner_id public.typed_id,
    name_key text GENERATED ALWAYS AS (COALESCE(public.sort_key(name), ''::text)) STORED NOT NULL COLLATE pg_catalog."C",
    hostname_key text DEFAULT ''::text NOT NULL COLLATE pg_catalog."C",
    search_text text DEFAULT ''::text NOT NULL,
    enrollment_key_id public.typed_id,
    awaits_approval boolean DEFAULT false NOT NULL,
    claimed_owner_id public.typed_id,
    predecessor_id public.typed_id,
    group_policy_id public.typed_id,
    agent_name text,
    CONSTRAINT devices_agent_name_check CHECK (((agent_name <> ''::text) AND (length(agent_name) <= 64))),
    CONSTRAINT devices_check CHECK (((status = 'REVOKED'::text) = (revoked_at IS NOT NULL))),
    CONSTRAINT devices_check1 CHECK (((status <> 'REVOKED'::text) OR (key_hash IS NULL))),
    CONSTRAINT devices_check2 CHECK (((status <> 'ACTIVE'::text) OR ((hardware_hash IS NOT NULL) AND (platform IS NOT NULL)))),
    CONSTRAINT devices_check3 CHECK (((NOT awaits_approval) OR (status <> 'ACTIVE'::text))),
    CONSTRAINT devices_key_hash_check CHECK ((octet_length(key_hash) = 32)),
    CONSTRAINT devices_name_check CHECK ((name <> ''::text)),
    CONSTRAINT devices_platform_check CHECK ((platform = ANY (ARRAY['DARWIN'::text, 'LINUX'::text, 'FREEBSD'::text, 'WINDOWS'::text]))),
    CONSTRAINT devices_status_check CHECK ((status = ANY (ARRAY['PENDING'::text, 'ACTIVE'::text, 'REVOKED'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.devices FORCE ROW LEVEL SECURITY;

COMMENT ON COLUMN public.devices.enrolled_with IS 'name of the enrollment token that gave the present key';

COMMENT ON COLUMN public.devices.agent_name IS 'name that the agent gave in the header User-Agent of its first heartbeat; null if it gave none';

CREATE FUNCTION public.audit_device(device public.devices, operation text, changes jsonb) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
	perform audit_append(device.organization_id, jsonb_build_array(jsonb_build_object(
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
end
$$;

CREATE FUNCTION public.audit_device_conflict() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
	device devices;
begin
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

CREATE TABLE public.audit_entries (
    organization_id public.typed_id NOT NULL,
    id bigint NOT NULL,
    at timestamp with time zone NOT NULL,
    actor_kind text NOT NULL,
    actor_id text,
    actor_name text NOT NULL,
    token_id text,
    token_name text,
    client text,
    address text,
    operation text NOT NULL,
    outcome text NOT NULL,
    record_kind text,
    record_id text,
    record_name text,
    changes jsonb DEFAULT '{}'::jsonb NOT NULL,
    hash_version smallint,
    digests jsonb,
    salts jsonb,
    import_id public.typed_id,
    CONSTRAINT audit_entries_actor_kind_check CHECK ((actor_kind = ANY (ARRAY['USER'::text, 'TOKEN'::text, 'AGENT'::text, 'SYSTEM'::text]))),
    CONSTRAINT audit_entries_changes_check CHECK ((jsonb_typeof(changes) = 'object'::text)),
    CONSTRAINT audit_entries_id_check CHECK ((id > 0)),
    CONSTRAINT audit_entries_outcome_check CHECK ((outcome = ANY (ARRAY['DONE'::text, 'REFUSED'::text]))),
    CONSTRAINT audit_entries_version_check CHECK ((((hash_version IS NULL) AND (digests IS NULL) AND (salts IS NULL)) OR ((hash_version = 2) AND (digests IS NOT NULL) AND (salts IS NOT NULL) AND (jsonb_typeof(digests) = 'object'::text) AND (jsonb_typeof(salts) = 'object'::text))))
);

ALTER TABLE ONLY public.audit_entries FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.audit_entry_hash(entry public.audit_entries, p_sequence bigint, p_previous_hash bytea) RETURNS bytea
    LANGUAGE plpgsql STABLE
    AS $$
begin
	return sha256(convert_to(audit_entry_text(entry, p_sequence, p_previous_hash), 'UTF8'));
end
$$;

CREATE FUNCTION public.audit_entry_text(entry public.audit_entries, p_sequence bigint, p_previous_hash bytea) RETURNS text
    LANGUAGE plpgsql STABLE
    SET "TimeZone" TO 'UTC'
    SET bytea_output TO 'hex'
    AS $$
begin
	return (
		to_jsonb(entry) - case
			when entry.hash_version is null then '{id,hash_version,digests,salts}'::text[]
			else '{id,salts,actor_name,token_name,client,address,record_name,changes}'::text[]
		end
		- case when entry.import_id is null then '{import_id}' else '{}' end::text[]
		|| jsonb_build_object('sequence', p_sequence, 'previous_hash', p_previous_hash)
	)::text;
end
$$;

CREATE FUNCTION public.audit_erasable_fields(entry public.audit_entries) RETURNS TABLE(field text, value text)
    LANGUAGE sql IMMUTABLE
    AS $$
	select f.field, f.value
	from (values
		('actor_name', entry.actor_name), ('token_name', entry.token_name), ('client', entry.client),
		('address', entry.address), ('record_name', entry.record_name)
	) f (field, value)
	where f.value is not null
	union all
	select 'changes.' || c.key, c.value::text from jsonb_each(entry.changes) c
$$;

CREATE FUNCTION public.audit_seal(p_limit integer, p_wait boolean, p_except text[] DEFAULT '{}'::text[]) RETURNS TABLE(sealed integer, broken text[])
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET bytea_output TO 'hex'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
declare
	state audit_sealing;
	newest_id bigint;
	has_xid boolean;
	is_next_settled boolean;
	chain record;
	head audit_heads;
	last record;
	entry audit_entries;
	hash bytea;
	ids bigint[];
	sequences bigint[];
	previous_hashes bytea[];
	hashes bytea[];
begin
	broken := '{}';
	if p_wait then
		perform pg_advisory_xact_lock(4723121);
	elsif not pg_try_advisory_xact_lock(4723121) then
		return next;
		return;
	end if;
	sealed := 0;
	has_xid := pg_current_xact_id_if_assigned() is not null;
	select s.* into state from audit_sealing s;
	-- Read before this transaction takes an xid. Every transaction with an id up to this one has a
	-- lower xid then.
	select case when s.is_called then s.last_value else s.last_value - 1 end into newest_id
	from audit_entry_ids s;
	-- An xid that this server has not reached comes from another server.
	if state.next_xid >= pg_snapshot_xmax(pg_current_snapshot()) then
		state.next_xid := null;
	end if;
	is_next_settled := coalesce(state.next_xid < pg_snapshot_xmin(pg_current_snapshot()), false);

	for chain in
		select u.organization_id, array_agg(u.id order by u.id) as ids
		from (
			select e.organization_id, e.id from audit_entries e
			where e.id > state.settled_id and e.organization_id::text <> all (p_except)
				and not exists (
					select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
				)
			order by e.id limit p_limit
		) u
		group by u.organization_id
	loop
		select h.* into head from audit_heads h where h.organization_id = chain.organization_id;
		select s.sequence, s.hash into last from audit_seals s
		where s.organization_id = chain.organization_id order by s.sequence desc limit 1;
		head.organization_id := chain.organization_id;
		head.sequence := coalesce(head.sequence, 0);
		head.hash := coalesce(head.hash, '');
		if head.sequence <> coalesce(last.sequence, 0) or head.hash <> coalesce(last.hash, '') then
			broken := broken || chain.organization_id::text;
			continue;
		end if;
		ids := '{}'; sequences := '{}'; previous_hashes := '{}'; hashes := '{}';
		for entry in
			select e.* from audit_entries e
			where e.organization_id = chain.organization_id and e.id = any (chain.ids)
			order by e.id
		loop
			head.sequence := head.sequence + 1;
			hash := audit_entry_hash(entry, head.sequence, head.hash);
			ids := ids || entry.id;
			sequences := sequences || head.sequence;
			previous_hashes := previous_hashes || head.hash;
			hashes := hashes || hash;
			head.hash := hash;
		end loop;
		insert into audit_seals (organization_id, sequence, entry_id, previous_hash, hash)
		select chain.organization_id, n.* from unnest(sequences, ids, previous_hashes, hashes) n;
		insert into audit_heads values (head.*)
		on conflict (organization_id) do update set sequence = excluded.sequence, hash = excluded.hash;
		sealed := sealed + cardinality(ids);
	end loop;

	if is_next_settled and sealed < p_limit and broken = '{}' and p_except = '{}' then
		state.settled_id := state.next_id;
		state.next_xid := null;
	end if;
	if state.next_xid is null and not has_xid and newest_id > state.settled_id then
		state.next_id := newest_id;
		state.next_xid := pg_current_xact_id();
	end if;
	update audit_sealing s set settled_id = state.settled_id, next_id = state.next_id, next_xid = state.next_xid
	where (s.settled_id, s.next_id, s.next_xid) is distinct from (state.settled_id, state.next_id, state.next_xid);
	return next;
end
$$;

CREATE FUNCTION public.audit_settle() RETURNS void
    LANGUAGE sql
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select setval('audit_entry_ids', coalesce((select max(e.id) from audit_entries e), 0) + 1, false);
	update audit_sealing set next_xid = null, settled_id = coalesce(
		(
			select min(e.id) - 1 from audit_entries e
			left join audit_seals s on s.organization_id = e.organization_id and s.entry_id = e.id
			where s.entry_id is null
		),
		(select max(e.id) from audit_entries e),
		0
	);
$$;

CREATE FUNCTION public.authenticate_api_tokens(p_hash bytea[]) RETURNS TABLE(ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select s.ordinal, s.token_id, s.token_name, s.user_id, s.user_name, s.memberships
	from authenticate_scoped_tokens(p_hash) s
	join api_tokens t on t.id = s.token_id
	where not t.read_only and t.organization_ids is null and t.toolsets is null;
end
$$;

CREATE FUNCTION public.authenticate_scim(p_hash bytea, p_address text) RETURNS TABLE(organization_id text, credential_id text, name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	found_one scim_credentials;
begin
	select c.* into found_one from scim_credentials c
	where c.secret_hash = p_hash and c.revoked_at is null and c.expires_at > now();
	if not found then
		return;
	end if;
	if found_one.last_used_at is null or found_one.last_used_at < now() - interval '1 minute'
		or found_one.last_used_address is distinct from left(p_address, 100) then
		update scim_credentials c set last_used_at = now(), last_used_address = left(p_address, 100)
		where c.organization_id = found_one.organization_id and c.id = found_one.id;
	end if;
	return query select found_one.organization_id::text, found_one.id::text, found_one.name;
end
$$;

CREATE FUNCTION public.authenticate_scoped_tokens(p_hash bytea[]) RETURNS TABLE(ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text, read_only boolean, toolsets text[], locked text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET plan_cache_mode TO 'force_generic_plan'
    AS $$
begin
	return query
	select h.n::integer, t.id::text, t.name, u.id::text, u.name, m.all_of_them, t.read_only, t.toolsets,
		m.locked
	from unnest(p_hash) with ordinality h (hash, n)
	join api_tokens t on t.token_hash = h.hash
	join users u on u.id = t.user_id
	cross join lateral (
		-- "<id> <role>,<id> <role>": a tenth of the time that JSON takes for a user of many. A narrowed
		-- one is "<id> <role> <registers or *> <audit or ->".
		select coalesce(
			string_agg(
				one.organization_id || ' ' || one.role || case
					when one.writable_registers is not null or one.reads_audit_log
					then ' ' || coalesce(array_to_string(one.writable_registers, '+'), '*')
						|| case when one.reads_audit_log then ' audit' else ' -' end
					else ''
				end,
				',' order by one.organization_id
			) filter (where one.is_accepted), ''
		) as all_of_them,
		string_agg(one.organization_id, ',' order by one.organization_id) filter (
			where not one.is_accepted
		) as locked
		from (
			select m.organization_id, m.role, m.writable_registers, m.reads_audit_log,
				-- The rule of is_token_accepted. PostgreSQL would start that function for each membership.
				not exists (
					select from sign_in_rules r
					where r.organization_id = m.organization_id
						and t.sign_in_organization_id is distinct from m.organization_id
						and not (r.accepts_older_tokens and t.created_at < r.since)
				) as is_accepted
			from memberships m
			where m.user_id = t.user_id
				and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
				and (m.ends_on is null or is_live_membership(m.organization_id, m.ends_on))
		) one
	) m
	where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
		and (t.secret_ends_at is null or t.secret_ends_at > now());
end
$$;

CREATE FUNCTION public.begin_packed_month(p_month date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	suffix constant text := to_char(p_month, 'YYYY_MM');
	packed constant text := 'packed_posture_reports_' || suffix;
	heap constant text := 'posture_reports_' || suffix;
begin
	if to_regclass(packed) is null then
		execute format(
			'create table %I (like packed_posture_reports including all, constraint %I check (month >= %L and month < %L))',
			packed, packed || '_range', p_month, (p_month + interval '1 month')::date
		);
		execute format('grant select, insert, delete on %I to assay_agent', packed);
	end if;
	if to_regclass(heap) is not null and not exists (
		select from pg_trigger t where t.tgrelid = to_regclass(heap) and t.tgname = 'note_changes'
	) then
		execute format(
			'create trigger note_changes after update or delete on %I for each row execute function note_posture_report_change(%L)',
			heap, p_month
		);
	end if;
end
$$;

CREATE FUNCTION public.cancel_signature_requests() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	delete from document_signatures
	where organization_id = old.organization_id and person_id = old.id and state = 'REQUESTED';
	return old;
end
$$;

CREATE FUNCTION public.changed_since_packed(p_month date) RETURNS TABLE(organization_id text, device_id text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select c.organization_id, c.device_id from posture_report_changes c where c.month = p_month
$$;

CREATE FUNCTION public.compare_packed_reports(p_month date, p_after_organization text, p_after_device text, p_most integer) RETURNS TABLE(organization_id text, device_id text, is_equal boolean)
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
declare
	packed constant text := 'packed_posture_reports_' || to_char(p_month, 'YYYY_MM');
	last_organization text;
	last_device text;
begin
	execute format(
		'select l.organization_id, l.device_id from ('
		'	select p.organization_id, p.device_id from %I p'
		'	where (p.organization_id, p.device_id) > ($1, $2) order by 1, 2 limit $3'
		') l order by 1 desc, 2 desc limit 1',
		packed
	) into last_organization, last_device using p_after_organization, p_after_device, p_most;
	return query execute format(
		'with heap as ('
		'	select r.organization_id, r.device_id, count(*) as reports from posture_reports r'
		'	where r.received_at >= $1 and r.received_at < $1 + interval ''1 month'''
		'		and (r.organization_id, r.device_id) > ($2, $3)'
		'		and ($4 is null or (r.organization_id, r.device_id) <= ($4, $5))'
		'	group by r.organization_id, r.device_id'
		'), packed as ('
		'	select p.organization_id, p.device_id, sum(cardinality(p.report_ids)) as reports from %I p'
		'	where (p.organization_id, p.device_id) > ($2, $3)'
		'		and ($4 is null or (p.organization_id, p.device_id) <= ($4, $5))'
		'	group by p.organization_id, p.device_id'
		')'
		'select coalesce(h.organization_id, p.organization_id)::text,'
		'	coalesce(h.device_id, p.device_id)::text, false'
		' from heap h full join packed p'
		'	on p.organization_id = h.organization_id and p.device_id = h.device_id'
		' where p.reports is distinct from h.reports',
		packed
	) using p_month, p_after_organization, p_after_device, last_organization, last_device;
	return query select last_organization, last_device, true;
end
$_$;

CREATE FUNCTION public.count_check_states() RETURNS TABLE(check_key text, state text, devices bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	with latest as materialized (
		select k.counts, k.compliance
		from organizations o
		cross join lateral (
			select k.counts, k.compliance from check_count_days k
			where k.organization_id = o.id and k.counted_at > now() - interval '1 day'
			order by k.day desc limit 1
		) k
	)
	select c.key, s.key, sum(s.value::bigint)::bigint
	from latest l cross join jsonb_each(l.counts) c cross join jsonb_each_text(c.value) s
	group by 1, 2
	union all
	-- The devices as a whole have no check.
	select null, s.key, sum(s.value::bigint)::bigint
	from latest l cross join jsonb_each_text(l.compliance) s
	group by 2
$$;

CREATE FUNCTION public.count_devices() RETURNS TABLE(status text, freshness text, devices bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.count_devices_not_reporting() RETURNS bigint
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.count_enrollment_key_states() RETURNS TABLE(usable bigint, running_out bigint, ended bigint, awaiting_approval bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.count_enrollment_keys() RETURNS TABLE(usable bigint, running_out bigint, awaiting_approval bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select c.usable, c.running_out, c.awaiting_approval from count_enrollment_key_states() c
$$;

CREATE FUNCTION public.count_failing_receivers() RETURNS TABLE(kind text, failing bigint, disabled bigint)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select 'webhook', count(*) filter (where is_enabled and failing_since is not null),
		count(*) filter (where not is_enabled and given_up_at is not null)
	from webhooks
	union all
	select 'chat', count(*) filter (where is_enabled and failing_since is not null),
		count(*) filter (where not is_enabled and failing_since is not null)
	from notification_channels where kind in ('SLACK', 'TEAMS')
$$;

CREATE FUNCTION public.count_mails() RETURNS TABLE(queued bigint, retrying bigint, failed bigint, oldest_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select
		count(*) filter (where state = 'QUEUED'),
		count(*) filter (where state = 'QUEUED' and failure is not null),
		count(*) filter (where state = 'FAILED' and created_at > now() - interval '2 days'),
		coalesce(extract(epoch from now() - min(created_at) filter (where state = 'QUEUED')), 0)
	from mails
	where state = 'QUEUED' or created_at > now() - interval '2 days'
$$;

CREATE FUNCTION public.count_members_without_provider(p_issuer text) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
begin
	return (
		select count(*) from memberships m
		where m.organization_id = current_setting('assay.organization_id', true)
			and not exists (
				select from accounts a join identity_providers p on p.id::text = a.provider_id
				where a.user_id = m.user_id and p.organization_id = m.organization_id and p.is_enabled
			)
			and not exists (
				select from accounts a
				join users u on u.id = a.user_id
				join organization_domains d on d.domain = substring(lower(u.email) from '[^@]*$')
				where a.user_id = m.user_id and a.provider_id = p_issuer
					and d.organization_id = m.organization_id and d.verified_at is not null
			)
	);
end
$_$;

CREATE FUNCTION public.count_unsealed_entries(p_organization_id text DEFAULT NULL::text) RETURNS TABLE(entries bigint, oldest_seconds double precision)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_hashjoin TO 'off'
    SET enable_mergejoin TO 'off'
    SET enable_seqscan TO 'off'
    SET enable_bitmapscan TO 'off'
    AS $$
	select count(*), coalesce(greatest(extract(epoch from clock_timestamp() - min(e.at)), 0), 0)::float8
	from audit_sealing a
	join audit_entries e on e.id > a.settled_id
	where (p_organization_id is null or e.organization_id = p_organization_id) and not exists (
		select from audit_seals s where s.organization_id = e.organization_id and s.entry_id = e.id
	)
$$;

CREATE FUNCTION public.create_proven_user(p_id text, p_email text, p_name text, p_account_id text, p_password text, p_address_proof text) RETURNS TABLE(user_id text, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select c.user_id, c.is_new from create_user(p_id, p_email, p_name, p_account_id, p_password) c;
	update users u set address_proof = p_address_proof where u.id = p_id;
end
$$;

CREATE FUNCTION public.create_user(p_id text, p_email text, p_name text, p_account_id text, p_password text) RETURNS TABLE(user_id text, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	insert into users (id, email, name) values (p_id, lower(p_email), p_name)
	on conflict (email) do nothing;
	if found and p_password is not null then
		insert into accounts (id, user_id, provider_id, account_id, password)
		values (p_account_id, p_id, 'credential', p_id, p_password);
	end if;
	return query select u.id::text, u.id = p_id from users u where u.email = lower(p_email);
end
$$;

CREATE FUNCTION public.emergency_candidates(p_rp_id text) RETURNS TABLE(user_id text, name text, email text, is_named boolean, has_password boolean, has_second_factor boolean, has_passkey boolean, last_used_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select u.id::text, u.name, u.email, e.user_id is not null,
		exists (select from accounts a where a.user_id = u.id and a.password is not null),
		u.two_factor_enabled,
		exists (select from passkeys k where k.user_id = u.id and k.rp_id = p_rp_id and k.can_sign_in),
		(
			select max(s.used_at) from emergency_sign_ins s
			where s.organization_id = m.organization_id and s.user_id = u.id
		)
	from memberships m
	join users u on u.id = m.user_id
	left join emergency_members e on e.organization_id = m.organization_id and e.user_id = m.user_id
	where m.organization_id = current_setting('assay.organization_id', true) and m.role = 'admin'
	order by e.user_id is null, u.name, u.id
	limit 200;
end
$$;

CREATE FUNCTION public.end_access_after_leaving(p_user_id text) RETURNS TABLE(token_id text, name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	organization text := current_setting('assay.organization_id', true);
begin
	if exists (
		select from memberships m where m.organization_id = organization and m.user_id = p_user_id
	) or not exists (
		select from scim_users s where s.organization_id = organization and s.user_id = p_user_id
	) then
		raise exception 'the user has not left the organization' using errcode = 'check_violation';
	end if;
	if not exists (
		select from memberships m
		where m.user_id = p_user_id and is_live_membership(m.organization_id, m.ends_on)
	) then
		delete from sessions s where s.user_id = p_user_id;
		-- Devices that need no code, and sign-ins that wait for one.
		delete from verifications v where v.value = p_user_id;
	end if;
	return query
	update api_tokens t set revoked_at = now()
	where t.user_id = p_user_id and t.revoked_at is null and not exists (
		select from memberships m
		where m.user_id = p_user_id and is_live_membership(m.organization_id, m.ends_on)
			and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
	)
	returning t.id::text, t.name;
end
$$;

CREATE FUNCTION public.end_emergency_member() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	delete from emergency_members e
	where e.organization_id = old.organization_id and e.user_id = old.user_id;
	return null;
end
$$;

CREATE FUNCTION public.end_my_devices_links() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	delete from my_devices_links l
	where l.organization_id = new.organization_id and l.people_id = new.id;
	return null;
end
$$;

CREATE FUNCTION public.end_own_sessions(p_one text, p_all_but text) RETURNS SETOF text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	delete from sessions s
	where s.user_id = current_setting('assay.user_id', true)
		and (s.id = p_one or s.id <> p_all_but)
	returning s.id::text;
end
$$;

CREATE FUNCTION public.end_provider() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	delete from sessions s where s.identity_provider_id = old.id;
	if tg_op = 'DELETE' then
		delete from accounts a where a.provider_id = old.id::text;
	end if;
	return null;
end
$$;

CREATE FUNCTION public.end_provider_sessions() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	delete from sessions s
	where s.user_id = old.user_id and s.identity_provider_id in (
		select p.id from identity_providers p where p.organization_id = old.organization_id
	);
	return null;
end
$$;

CREATE FUNCTION public.ends_of_months(p_time_zone text, p_months integer) RETURNS TABLE(day date, at timestamp with time zone)
    LANGUAGE sql STABLE
    AS $$
	select m.first::date - 1, m.first at time zone p_time_zone
	from (
		select date_trunc('month', now() at time zone p_time_zone) - i * interval '1 month' as first
		from generate_series(0, p_months - 1) i
	) m
$$;

CREATE FUNCTION public.enrollment_key_state(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer) RETURNS text
    LANGUAGE sql STABLE
    AS $$
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

CREATE FUNCTION public.enrollment_key_warning(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer, p_last_used_at timestamp with time zone) RETURNS text
    LANGUAGE sql STABLE
    AS $$
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

CREATE FUNCTION public.ensure_posture_report_partitions() RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    SET lock_timeout TO '1s'
    AS $$
begin
	-- Another process is at it.
	if not pg_try_advisory_xact_lock(hashtext('ensure_posture_report_partitions')) then
		return false;
	end if;
	perform make_posture_report_partition(date_trunc('month', now(), 'UTC') + m * interval '1 month')
	from generate_series(0, 2) m;
	return true;
exception
	when lock_not_available then
		return false;
end
$$;

CREATE FUNCTION public.event_of_span(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_previous_status text, p_since timestamp with time zone, p_report_id text) RETURNS TABLE(organization_id text, type text, record_id text, data jsonb)
    LANGUAGE sql STABLE
    AS $$
	select
		p_organization_id, case p_status when 'FAIL' then 'posture.failed' else 'posture.passed' end,
		p_device_id,
		jsonb_build_object(
			'check_key', p_check_key, 'previous_status', p_previous_status,
			'since', to_char(p_since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
			'report_id', p_report_id
		)
	where p_status = 'FAIL' or p_status = 'PASS' and p_previous_status is not null
$$;

CREATE FUNCTION public.find_invitation(p_token_hash bytea) RETURNS TABLE(email text, is_mailed boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select i.email, i.mailed_token_hash is not distinct from p_token_hash
	from invitations i
	where (i.token_hash = p_token_hash or i.mailed_token_hash = p_token_hash)
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now();
end
$$;

CREATE FUNCTION public.find_my_devices_link(p_hash bytea) RETURNS TABLE(organization_id text, id text)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select l.organization_id::text, l.id::text from my_devices_links l
	where l.token_hash = p_hash or l.session_hash = p_hash
$$;

CREATE FUNCTION public.find_posture_report(p_organization_id text, p_device_id text, p_report_id text, p_not_before timestamp with time zone) RETURNS TABLE(received_at timestamp with time zone, results jsonb, packed_in date)
    LANGUAGE sql STABLE
    AS $$
	select r.received_at, r.results, null::date
	from posture_reports r
	where r.organization_id = p_organization_id and r.device_id = p_device_id
		and r.report_id = p_report_id and r.received_at >= p_not_before
	union all
	select
		p.received_at[f.place],
		coalesce((
			select u.results::jsonb
			from unpack_results(f.place, p.report_of, p.variant_of, p.observed_at, p.variants) u
		), '[]'),
		p.month
	from packed_posture_reports p
	cross join lateral array_position(p.report_ids, p_report_id) f (place)
	where p.organization_id = p_organization_id and p.device_id = p_device_id
		and p.month >= posture_report_month(p_not_before)
		and made_ms_of(p_report_id) between p.first_made_ms and p.last_made_ms
		and f.place is not null and p.received_at[f.place] >= p_not_before
$$;

CREATE FUNCTION public.find_records(p_table text, p_words text[], p_limit integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
begin
	return query execute format(
		'select t.id::text from %I t where t.organization_id = $1 and %s limit %s',
		p_table,
		(select string_agg(format('t.search_text like search_pattern(%L)', word), ' and ') from unnest(p_words) word),
		p_limit
	) using current_setting('assay.organization_id', true);
end
$_$;

CREATE FUNCTION public.find_similar(p_table text, p_words text[], p_patterns text[], p_limit integer) RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
begin
	return query execute format(
		'with hit as materialized (
			select t.id from %I t where t.organization_id = $1 and (%s)%s
		)
		select h.id::text from hit h limit %s',
		p_table,
		(select string_agg(format('t.search_text like %L', pattern), ' or ') from unnest(p_patterns) pattern),
		(select string_agg(format(' and t.search_text like search_pattern(%L)', word), '') from unnest(p_words) word),
		p_limit
	) using current_setting('assay.organization_id', true);
end
$_$;

CREATE FUNCTION public.finish_packed_month(p_month date) RETURNS boolean
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	heap constant text := 'posture_reports_' || to_char(p_month, 'YYYY_MM');
begin
	-- After it, no transaction is left that has changed a report and not committed.
	execute format('lock table %I in access exclusive mode', heap);
	if exists (select from changed_since_packed(p_month)) then
		return false;
	end if;
	execute format('drop table %I', heap);
	perform attach_packed_month(p_month);
	return true;
end
$$;

CREATE FUNCTION public.follow_nonconformity() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	if new.status = 'CLOSED' then
		update nonconformity_devices set until = now(), end_reason = 'CLOSED', is_held = true
		where organization_id = new.organization_id and nonconformity_id = new.id and until is null;
	else
		update nonconformity_devices set until = null, end_reason = null, is_held = false
		where organization_id = new.organization_id and nonconformity_id = new.id and is_held;
	end if;
	update check_nonconformities set
		closed_at = case when new.status = 'CLOSED' then now() end,
		opened_at = case when new.status = 'CLOSED' then opened_at else now() end
	where organization_id = new.organization_id and nonconformity_id = new.id;
	return null;
end
$$;

CREATE TABLE public.organizations (
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    heartbeat_interval_seconds integer DEFAULT 300 NOT NULL,
    posture_interval_seconds integer DEFAULT 3600 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    made_by_user boolean DEFAULT false NOT NULL,
    time_zone text DEFAULT 'UTC'::text NOT NULL,
    records_known_since timestamp with time zone DEFAULT now() NOT NULL,
    skipped_steps text[] DEFAULT '{}'::text[] NOT NULL,
    session_idle_minutes integer,
    session_max_hours integer,
    provisioned_role text DEFAULT 'viewer'::text NOT NULL,
    CONSTRAINT organizations_heartbeat_interval_seconds_check CHECK (((heartbeat_interval_seconds >= 30) AND (heartbeat_interval_seconds <= 86400))),
    CONSTRAINT organizations_name_check CHECK ((name <> ''::text)),
    CONSTRAINT organizations_posture_interval_seconds_check CHECK (((posture_interval_seconds >= 60) AND (posture_interval_seconds <= 604800))),
    CONSTRAINT organizations_provisioned_role_check CHECK ((provisioned_role = ANY (ARRAY['admin'::text, 'member'::text, 'viewer'::text]))),
    CONSTRAINT organizations_session_idle_minutes_check CHECK (((session_idle_minutes >= 5) AND (session_idle_minutes <= 10080))),
    CONSTRAINT organizations_session_max_hours_check CHECK (((session_max_hours >= 1) AND (session_max_hours <= 720))),
    CONSTRAINT organizations_skipped_steps_check CHECK (((skipped_steps <@ ARRAY['RECORDS'::text, 'DEVICE'::text, 'PEOPLE'::text, 'API_TOKEN'::text]) AND (cardinality(skipped_steps) <= 4))),
    CONSTRAINT organizations_time_zone_check CHECK ((time_zone ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$'::text))
);

ALTER TABLE ONLY public.organizations FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.has_organizations() RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    RETURN (EXISTS (SELECT FROM public.organizations));

CREATE FUNCTION public.has_users() RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return exists (select from users);
end
$$;

CREATE FUNCTION public.hold_deleted_nonconformity() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	update nonconformity_devices set until = now(), end_reason = 'DELETED', is_held = true
	where organization_id = old.organization_id and nonconformity_id = old.id and until is null;
	return old;
end
$$;

CREATE FUNCTION public.index_register(p_table text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $_$
declare
	wanted record;
	old record;
begin
	-- Whoever reads the register and then waits to change it would wait for this transaction, and this
	-- one for the reader, if it took a lesser lock first.
	execute format('lock table %I in access exclusive mode', p_table);
	for wanted in
		with columns as (
			select a.attname as name, a.attnum as place, a.atttypid as type, (
				-- Lists put the records without it last.
				a.atttypid = 'date'::regtype or a.atttypid = 'timestamptz'::regtype and not a.attnotnull
			) as is_time, (
				a.atttypid in ('smallint'::regtype, 'integer'::regtype)
			) as is_number, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'f' and c.conkey[2] = a.attnum
			) as is_reference, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
					and pg_get_constraintdef(c.oid) ~ '= ANY \(+ARRAY'
			) as is_choice, a.atttypid = 'smallint'::regtype and exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
					and pg_get_constraintdef(c.oid) ~ '<= \d\)'
			) as is_scale
			from pg_attribute a
			where a.attrelid = p_table::regclass and a.attnum > 0 and not a.attisdropped
		)
		select
			p_table || '_' || regexp_replace(a.name, '_key$', '') as index_name,
			array['organization_id', case
				when a.is_time then format(
					'CASE WHEN %1$I IS NULL THEN ''infinity''::%2$s ELSE %1$I END', a.name, format_type(a.type, null)
				)
				else format('%I', a.name)
			end] || case
				-- A choice has few values: each is read in the order that a list begins with.
				when a.is_choice then array['created_at', 'id']
				when a.is_reference or a.is_scale then '{}'
				else array['id']
			end || array(
				select format('%I', few.name) from columns few
				-- With the time itself, PostgreSQL sees that the index has all that the expression needs.
				where few.place = a.place and a.is_time or few.place <> a.place and (
					few.is_choice or few.is_scale or few.name = 'archived_at'
					-- A list that is filtered by one date and ordered by another may sort all records that
					-- match, and does not look them up for that.
					or a.type = 'date'::regtype and (few.type = 'date'::regtype or few.name = 'created_at')
					-- Counts of the past use this index to find the records that have not changed since.
					or a.name = 'updated_at' and (few.is_reference or few.is_number or few.type = 'date'::regtype)
				)
				-- Nearly every list asks for the records in use. If choices stood before archived_at, PostgreSQL 18
				-- would expect a search for each combination of them.
				order by few.name <> 'archived_at', few.place
			) as keys
		from columns a
		where is_reference or is_choice or is_number or a.name like '%\_key'
			or a.type in ('date'::regtype, 'timestamptz'::regtype)
		order by a.place
	loop
		select x.index_name, x.keys into old
		from (
			select c.relname as index_name, array(
				select regexp_replace(
					regexp_replace(pg_get_indexdef(i.indexrelid, n, true), '\s+', ' ', 'g'), '^\( (CASE .*)\)$', '\1'
				) from generate_series(1, i.indnatts) n
			) as keys
			from pg_index i join pg_class c on c.oid = i.indexrelid
			where i.indrelid = p_table::regclass and i.indpred is null and not i.indisunique
		) x
		where x.keys[1:2] = wanted.keys[1:2]
		-- The one of its own first.
		order by x.index_name <> wanted.index_name
		limit 1;
		if old.index_name = wanted.index_name and old.keys <> wanted.keys then
			execute format('drop index %I', old.index_name);
		end if;
		if old.index_name is null or old.index_name = wanted.index_name and old.keys <> wanted.keys then
			execute format('create index %I on %I (%s)', wanted.index_name, p_table, (
				select string_agg(case when key like 'CASE %' then format('(%s)', key) else key end, ', ' order by n)
				from unnest(wanted.keys) with ordinality k (key, n)
			));
		end if;
	end loop;
end
$_$;

CREATE FUNCTION public.invitation_email(p_token_hash bytea) RETURNS text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return (
		select i.email from invitations i
		where i.token_hash = p_token_hash
			and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	);
end
$$;

CREATE FUNCTION public.invitations_sent(p_email text) RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return (
		select count(*)::integer from invitations i
		where i.invited_by_id = current_setting('assay.user_id', true) and i.email = p_email
			and i.created_at > now() - interval '1 day'
	);
end
$$;

CREATE FUNCTION public.invitations_sent_today() RETURNS integer
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return (
		select count(distinct coalesce(i.bulk_id, i.id))::integer from invitations i
		where i.invited_by_id = current_setting('assay.user_id', true)
			and i.created_at > now() - interval '1 day'
	);
end
$$;

CREATE FUNCTION public.is_live_membership(p_organization_id text, p_ends_on date) RETURNS boolean
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select p_ends_on is null or p_ends_on >= (
		select (now() at time zone o.time_zone)::date from organizations o where o.id = p_organization_id
	)
$$;

CREATE FUNCTION public.is_setup_link(p_token_hash bytea) RETURNS boolean
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return exists (
		select from account_links l
		where l.token_hash = p_token_hash and l.purpose = 'SETUP' and l.expires_at > now()
	);
end
$$;

CREATE FUNCTION public.is_token_accepted(p_organization_id text, p_sign_in_organization_id text, p_created_at timestamp with time zone) RETURNS boolean
    LANGUAGE sql STABLE
    AS $$
	select not exists (
		select from sign_in_rules r
		where r.organization_id = p_organization_id
			and p_sign_in_organization_id is distinct from p_organization_id
			and not (r.accepts_older_tokens and p_created_at < r.since)
	)
$$;

CREATE FUNCTION public.is_trusted_inviter(p_user_id text) RETURNS boolean
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select exists (
		select from memberships m join organizations o on o.id = m.organization_id
		where m.user_id = p_user_id and m.role in ('admin', 'member') and not o.made_by_user
	)
$$;

CREATE FUNCTION public.keep_an_administrator() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	if new.role = 'admin' then
		return null;
	end if;
	perform from organizations where id = old.organization_id for no key update;
	if not exists (
		select from memberships m where m.organization_id = old.organization_id and m.role = 'admin'
	) then
		raise exception 'the last administrator of % cannot go', old.organization_id
			using errcode = 'check_violation', constraint = 'last_administrator';
	end if;
	return null;
end
$$;

CREATE FUNCTION public.keep_an_emergency_member() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	perform from organizations where id = old.organization_id for no key update;
	if exists (select from sign_in_rules r where r.organization_id = old.organization_id)
		and not exists (
			select from emergency_members e where e.organization_id = old.organization_id
		) then
		raise exception 'the last emergency account of % cannot go', old.organization_id
			using errcode = 'check_violation', constraint = 'last_emergency_member';
	end if;
	return null;
end
$$;

CREATE FUNCTION public.keep_link_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
	link constant jsonb := to_jsonb(old);
begin
	insert into record_versions
		(organization_id, register, record_id, other_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, link ->> tg_argv[0], link ->> tg_argv[1], old.created_at,
		greatest(now(), old.created_at + interval '1 microsecond'),
		link - array['organization_id', tg_argv[0], tg_argv[1]]
	);
	return null;
end
$$;

CREATE FUNCTION public.keep_link_versions_of(p_table text, p_first text, p_second text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	execute format(
		'create trigger keep_version_before_delete after delete on %I for each row
		execute function keep_link_version(%L, %L)', p_table, p_first, p_second
	);
end
$$;

CREATE FUNCTION public.keep_part() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
	part constant jsonb := to_jsonb(old);
	since constant timestamptz := coalesce(
		part ->> 'published_at', part ->> 'decided_at', part ->> 'requested_at', part ->> 'updated_at',
		part ->> 'created_at'
	)::timestamptz;
begin
	insert into record_versions
		(organization_id, register, record_id, other_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, old.id, part ->> tg_argv[0], since,
		-- A deletion has no new row.
		coalesce(
			(to_jsonb(new) ->> 'updated_at')::timestamptz,
			greatest(now(), since + interval '1 microsecond')
		),
		part - array['organization_id', 'id', tg_argv[0]]
	);
	return null;
end
$$;

CREATE FUNCTION public.keep_published_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	if old.status = 'PUBLISHED' and (
		to_jsonb(new) - array['author_id', 'author_name', 'published_by_name']
			<> to_jsonb(old) - array['author_id', 'author_name', 'published_by_name']
	) then
		raise exception 'a published version never changes' using errcode = 'restrict_violation';
	end if;
	return new;
end
$$;

CREATE FUNCTION public.keep_record_version() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	insert into record_versions (organization_id, register, record_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, old.id, old.updated_at,
		case tg_op when 'UPDATE' then new.updated_at
			else greatest(now(), old.updated_at + interval '1 microsecond') end,
		to_jsonb(old) - tg_argv[0]::text[]
	);
	return null;
end
$$;

CREATE FUNCTION public.keep_silence_limit() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
declare
	v_policy constant text := to_jsonb(new) ->> 'id';
	v_before constant integer := case tg_op when 'UPDATE' then old.max_silence_days else 3 end;
begin
	if v_before is distinct from new.max_silence_days then
		insert into silence_limits (organization_id, policy_id, valid_until, max_silence_days)
		values (new.organization_id, v_policy, now(), v_before)
		-- The value before the first change of the transaction counted.
		on conflict do nothing;
	end if;
	return null;
end
$$;

CREATE FUNCTION public.keep_versions_of(p_table text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	computed text[];
begin
	select array['organization_id', 'id', 'search_text'] || coalesce(array_agg(a.attname::text), '{}')
	into computed
	from pg_attribute a
	where a.attrelid = p_table::regclass and a.attname like '%\_key' and a.attgenerated = 's'
		and not a.attisdropped;
	execute format(
		'create trigger order_versions before update on %I for each row
		when (new.updated_at < old.updated_at) execute function order_record_versions()', p_table
	);
	execute format(
		'create trigger keep_version_before_update after update on %I for each row
		when (old.updated_at < new.updated_at) execute function keep_record_version(%L)', p_table, computed
	);
	execute format(
		'create trigger keep_version_before_delete after delete on %I for each row
		execute function keep_record_version(%L)', p_table, computed
	);
end
$$;

CREATE FUNCTION public.last_packed_device(p_month date, OUT last_organization text, OUT last_device text) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	execute format(
		'select p.organization_id, p.device_id from %I p order by 1 desc, 2 desc limit 1',
		'packed_posture_reports_' || to_char(p_month, 'YYYY_MM')
	) into last_organization, last_device;
	last_organization := coalesce(last_organization, '');
	last_device := coalesce(last_device, '');
end
$$;

CREATE FUNCTION public.link_new_user(p_id text, p_user_id text, p_provider_id text, p_subject text) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	insert into accounts (id, user_id, provider_id, account_id)
	select p_id, u.id, p_provider_id, p_subject
	from users u where u.id = p_user_id and u.created_at = now();
	if not found then
		raise exception 'the user was not made in this transaction';
	end if;
end
$$;

CREATE FUNCTION public.list_closed_organizations() RETURNS TABLE(organization_id text, name text, time_zone text, kind text, reason text, began_at timestamp with time zone, delete_after timestamp with time zone, is_due boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select c.organization_id::text, o.name, o.time_zone, c.kind, c.reason, c.began_at, c.delete_after,
		coalesce(c.delete_after <= now(), false)
	from organization_closures c join organizations o on o.id = c.organization_id
$$;

CREATE TABLE public.unknown_device_keys (
    key_hash bytea NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    requests bigint DEFAULT 1 NOT NULL,
    address text,
    hardware_uuid text,
    serial_number text,
    hostname text,
    platform text,
    CONSTRAINT unknown_device_keys_key_hash_check CHECK ((octet_length(key_hash) = 32))
);

ALTER TABLE ONLY public.unknown_device_keys FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.list_unknown_device_keys() RETURNS SETOF public.unknown_device_keys
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select * from unknown_device_keys u order by u.last_seen_at desc, u.key_hash
$$;

CREATE FUNCTION public.lock_files_of(p_organization_id text) RETURNS void
    LANGUAGE sql
    AS $$
	select pg_advisory_xact_lock(hashtextextended('files ' || p_organization_id, 0));
$$;

CREATE FUNCTION public.made_ms_of(p_id text) RETURNS bigint
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
	select ('x' || encode(substring(decode(translate(p_id, '-_', '+/'), 'base64') from 11 for 8), 'hex'))::bit(64)::bigint
$$;

CREATE FUNCTION public.mails_left_to_people(p_of_organization integer, p_of_all integer) RETURNS integer
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	current_one text := current_setting('assay.organization_id', true);
begin
	if not (select o.made_by_user from organizations o where o.id = current_one) then
		return 2147483647;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('mails to people', 0));
	return (
		select greatest(0, least(
			p_of_organization - count(*) filter (where m.organization_id = current_one),
			p_of_all - count(*)
		))
		from mails m
		join organizations o on o.id = m.organization_id
		where m.kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK')
			and m.created_at > now() - interval '1 day' and o.made_by_user and not m.is_to_member
	);
end
$$;

CREATE FUNCTION public.make_packed_report_partition(p_month date) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	perform begin_packed_month(p_month);
	perform attach_packed_month(p_month);
end
$$;

CREATE FUNCTION public.make_posture_report_partition(p_first_day timestamp with time zone) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	partition_name constant text := 'posture_reports_' || to_char(p_first_day at time zone 'UTC', 'YYYY_MM');
begin
	if to_regclass(partition_name) is not null then
		return;
	end if;
	execute format('create table %I (like posture_reports including all)', partition_name);
	execute format('alter table %I enable row level security', partition_name);
	alter table posture_reports_default no force row level security;
	execute format(
		'with waiting as (delete from posture_reports_default where received_at >= %L and received_at < %L returning *)'
		' insert into %I select * from waiting',
		p_first_day, p_first_day + interval '1 month', partition_name
	);
	alter table posture_reports_default force row level security;
	execute format('alter table %I force row level security', partition_name);
	execute format(
		'alter table posture_reports attach partition %I for values from (%L) to (%L)',
		partition_name, p_first_day, p_first_day + interval '1 month'
	);
end
$$;

CREATE FUNCTION public.make_reference_id(p_organization_id text, p_table text, p_prefix text) RETURNS text
    LANGUAGE plpgsql
    AS $_$
declare
	number integer;
	candidate text;
	is_taken boolean;
begin
	loop
		insert into reference_counters as c values (p_organization_id, p_table, 1)
		on conflict (organization_id, register) do update set last = c.last + 1
		returning last into number;
		candidate := p_prefix || '-' || lpad(number::text, greatest(3, length(number::text)), '0');
		execute format(
			'select exists (
				select from %I where organization_id = $1 and reference_id_key = sort_key($2)
					and lower(reference_id) = lower($2)
			)', p_table
		) into is_taken using p_organization_id, candidate;
		exit when not is_taken;
	end loop;
	return candidate;
end
$_$;

CREATE FUNCTION public.make_register(p_table text) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	reference record;
begin
	for reference in
		select c.conname as name, a.attname as column_name
		from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
		where c.contype = 'f' and c.conrelid = p_table::regclass
			and c.conname <> p_table || '_' || a.attname || '_fkey'
	loop
		execute format(
			'alter table %I rename constraint %I to %I',
			p_table, reference.name, p_table || '_' || reference.column_name || '_fkey'
		);
	end loop;
	perform index_register(p_table);
	execute format(
		'create index %I on %I using gin (organization_id, search_text gin_trgm_ops)',
		p_table || '_search', p_table
	);
	execute format(
		'create trigger remove_links after delete on %I for each row execute function remove_links()', p_table
	);
	perform keep_versions_of(p_table);

	execute format('alter table %I enable row level security', p_table);
	execute format('alter table %I force row level security', p_table);
	execute format(
		'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
		p_table
	);
	execute format('grant select, insert, update, delete on %I to assay_app', p_table);
	execute format('create policy search on %I for select to assay_search using (true)', p_table);
	execute format('grant select (organization_id, id, search_text) on %I to assay_search', p_table);
	execute format('create policy privacy on %I to assay_privacy using (true)', p_table);
	execute format('grant select on %I to assay_privacy', p_table);
	perform allow_backup();
end
$$;

CREATE FUNCTION public.may_mail_invitation(p_of_user integer, p_of_all integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	if is_trusted_inviter(caller) then
		return true;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('invitation mails', 0));
	return (
		select count(*) filter (where i.invited_by_id = caller) < p_of_user and count(*) < p_of_all
		from invitations i
		-- Processes of an older version set only the hash.
		where (i.is_mailed or i.mailed_token_hash is not null)
			and i.created_at > now() - interval '1 day'
			and not is_trusted_inviter(i.invited_by_id)
	);
end
$$;

CREATE FUNCTION public.may_mail_people(p_count integer, p_of_organization integer, p_of_all integer) RETURNS boolean
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select p_count <= mails_left_to_people(p_of_organization, p_of_all)
$$;

CREATE FUNCTION public.may_send_test_mail(p_of_user integer) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	perform pg_advisory_xact_lock(hashtextextended('test mails of ' || caller, 0));
	return (
		select count(*) < p_of_user from mails m
		where m.user_id = caller and m.kind = 'TEST' and m.created_at > now() - interval '1 hour'
	);
end
$$;

CREATE FUNCTION public.members_with_second_factor() RETURNS SETOF text
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select u.id::text from memberships m join users u on u.id = m.user_id
	where m.organization_id = current_setting('assay.organization_id', true) and u.two_factor_enabled;
end
$$;

CREATE FUNCTION public.missing_trend_points(p_months integer) RETURNS TABLE(organization_id text, days text[])
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select o.id::text, array_agg(m.day::text order by m.day)
	from organizations o cross join lateral ends_of_months(o.time_zone, p_months) m
	where m.at >= o.records_known_since and m.at < now() - interval '1 hour' and not exists (
		select from trend_points k where k.organization_id = o.id and k.at = m.at
	)
	group by o.id
$$;

CREATE FUNCTION public.move_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, OUT moved integer) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	next_one record;
	step record;
begin
	moved := 0;
	while moved < p_most loop
		select r.organization_id, r.device_id into next_one
		from posture_reports r
		where r.received_at >= p_month and r.received_at < p_month + interval '1 month'
			and (r.organization_id, r.device_id) > (last_organization, last_device)
			and not exists (
				select from organization_closures c
				where c.organization_id = r.organization_id and c.delete_after < now() + interval '1 hour'
			)
		order by r.organization_id, r.device_id
		limit 1;
		exit when not found;
		select * into step
		from move_report_part(p_month, next_one.organization_id, next_one.device_id, p_part_size);
		moved := moved + step.moved;
		if step.is_last then
			last_organization := next_one.organization_id;
			last_device := next_one.device_id;
		end if;
	end loop;
end
$$;

CREATE FUNCTION public.move_report_part(p_month date, p_organization_id text, p_device_id text, p_most integer, OUT moved integer, OUT is_last boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	next_part record;
	deleted integer;
begin
	-- MOVED_MONTH_LOCK of src/db/advisory-locks.ts.
	perform pg_advisory_xact_lock_shared(4723127, to_char(p_month, 'YYYYMM')::integer);
	-- Storing a report and deleting the device take the same locks, in this order.
	perform pg_advisory_xact_lock(('x' || encode(substring(d.key_hash for 8), 'hex'))::bit(64)::bigint)
	from devices d
	where d.organization_id = p_organization_id and d.id = p_device_id and d.key_hash is not null;
	perform from devices d
	where d.organization_id = p_organization_id and d.id = p_device_id
	for key share;
	select * into next_part
	from read_report_part(p_month, p_organization_id, p_device_id, '', '-infinity', p_most);
	moved := coalesce(cardinality(next_part.ids), 0);
	is_last := next_part.is_last;
	if moved = 0 then
		return;
	end if;
	perform store_report_part(
		'packed_posture_reports', p_month, p_organization_id, p_device_id,
		(
			select coalesce(max(p.part), 0) + 1 from packed_posture_reports p
			where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month
		),
		next_part.ids, next_part.times, next_part.contents
	);
	delete from posture_reports r
	using unnest(next_part.ids, next_part.times) n (report_id, received_at)
	where r.organization_id = p_organization_id and r.device_id = p_device_id
		and r.report_id = n.report_id and r.received_at = n.received_at;
	get diagnostics deleted = row_count;
	if deleted <> moved then
		raise exception 'reports of device % in % changed while they were moved', p_device_id, p_month;
	end if;
	delete from posture_report_changes c
	where c.organization_id = p_organization_id and c.device_id = p_device_id and c.month = p_month;
	delete from archived_months m where m.month = p_month;
	-- A file that has devices before and after this one is written again.
	insert into archive_changes (organization_id, month, device_id)
	select f.organization_id, f.month, p_device_id from archive_files f
	where f.organization_id = p_organization_id and f.month = p_month
		and p_device_id between f.first_device_id and f.last_device_id
	on conflict on constraint archive_changes_pkey do update set month = excluded.month;
end
$$;

CREATE FUNCTION public.narrow_membership() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	select i.ends_on, i.writable_registers, i.reads_audit_log
	into new.ends_on, new.writable_registers, new.reads_audit_log
	from invitations i join users u on u.email = i.email
	where i.organization_id = new.organization_id and u.id = new.user_id
		and i.accepted_at = now() and i.role = new.role
	limit 1;
	new.reads_audit_log := coalesce(new.reads_audit_log, false);
	return new;
end
$$;

CREATE FUNCTION public.note_archive_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	if tg_argv[0] = 'device' then
		insert into archive_changes (organization_id, month, device_id)
		select f.organization_id, f.month, old.id from archive_files f
		where f.organization_id = old.organization_id
			and old.id between f.first_device_id and f.last_device_id
		on conflict on constraint archive_changes_pkey do update set month = excluded.month;
	else
		insert into archive_changes (organization_id, month, device_id)
		select f.organization_id, f.month, old.device_id from archive_files f
		where f.organization_id = old.organization_id and f.month = old.month
			and old.device_id between f.first_device_id and f.last_device_id
		on conflict on constraint archive_changes_pkey do update set month = excluded.month;
	end if;
	return null;
end
$$;

CREATE FUNCTION public.note_archive_leftover() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	insert into archive_leftovers (name) values (old.name) on conflict do nothing;
	return null;
end
$$;

CREATE FUNCTION public.note_backup(p_made_at timestamp with time zone, p_has_sound_logs boolean) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	insert into last_backup (made_at, has_sound_logs) values (p_made_at, p_has_sound_logs)
	on conflict (singleton) do update set made_at = excluded.made_at, has_sound_logs = excluded.has_sound_logs
	where last_backup.made_at < excluded.made_at
$$;

CREATE FUNCTION public.note_device_event() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	insert into events (organization_id, type, record_id)
	select new.organization_id, e.type, new.id
	from (values
		('device.enrolled', new.enrolled_at is distinct from old.enrolled_at and new.enrolled_at is not null),
		('device.activated', new.status = 'ACTIVE' and old.status <> 'ACTIVE'),
		('device.revoked', new.status = 'REVOKED' and old.status <> 'REVOKED')
	) e (type, happened)
	where e.happened;
	return null;
end
$$;

CREATE FUNCTION public.note_duplicate_hardware(p_device public.devices, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) RETURNS void
    LANGUAGE plpgsql
    AS $$
begin
	insert into device_conflicts as c (
		organization_id, device_id, kind, other_device_id, hardware_uuid, platform,
		hostname, serial_number, os_version, agent_version
	)
	select
		p_device.organization_id, p_device.id, 'DUPLICATE_HARDWARE', d.id, p_hardware_uuid,
		p_platform, p_hostname, p_serial_number, p_os_version, p_agent_version
	from devices d
	where d.organization_id = p_device.organization_id
		and d.hardware_hash = sha256(convert_to(p_hardware_uuid, 'UTF8'))
		and d.status <> 'REVOKED'
		and d.id <> p_device.id
	on conflict on constraint device_conflicts_pkey do update set
		other_device_id = excluded.other_device_id,
		hardware_uuid = excluded.hardware_uuid,
		platform = excluded.platform,
		hostname = excluded.hostname,
		serial_number = excluded.serial_number,
		os_version = excluded.os_version,
		agent_version = excluded.agent_version,
		occurrences = c.occurrences + 1,
		last_seen_at = now();
	if not found then
		delete from device_conflicts c
		where c.organization_id = p_device.organization_id and c.device_id = p_device.id
			and c.kind = 'DUPLICATE_HARDWARE';
	end if;
end
$$;

CREATE FUNCTION public.note_new_owner() RETURNS trigger
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	update nonconformity_devices p set is_owner_new = true
	where p.organization_id = new.organization_id and p.device_id = new.id and p.until is null;
	return null;
end
$$;

CREATE FUNCTION public.note_posture_report_change() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	-- An update, so that this waits for a packing that read the reports before, and that packing for
	-- this: the last one of both leaves the row.
	insert into posture_report_changes as c (organization_id, device_id, month)
	values (old.organization_id, old.device_id, tg_argv[0]::date)
	on conflict on constraint posture_report_changes_pkey do update set month = excluded.month;
	return null;
end
$$;

CREATE FUNCTION public.note_retention() RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	insert into last_retention (done_at) values (now())
	on conflict (singleton) do update set done_at = excluded.done_at
$$;

CREATE FUNCTION public.note_revoked_key() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	if old.key_hash is not null then
		insert into revoked_device_keys (organization_id, key_hash)
		select o.id, old.key_hash from organizations o where o.id = old.organization_id
		on conflict do nothing;
	end if;
	if tg_op = 'DELETE' and not exists (select from unknown_key_wait w where w.held_device) then
		insert into unknown_key_wait (held_device) values (true)
		on conflict (singleton) do update set held_device = true;
	end if;
	return null;
end
$$;

CREATE FUNCTION public.order_record_versions() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	new.updated_at := old.updated_at + interval '1 microsecond';
	return new;
end
$$;

CREATE FUNCTION public.organization_today() RETURNS date
    LANGUAGE sql STABLE
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select (now() at time zone coalesce(
		(select time_zone from organizations where id = current_setting('assay.organization_id', true)),
		'UTC'
	))::date
$$;

CREATE FUNCTION public.organizations_with_daily_events() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select o.id::text
	from (
		select c.organization_id, c.updated_at from notification_channels c
		where c.is_enabled
			and c.event_types && array['work.overdue', 'reviews.due', 'signatures.missing']
		union all
		select w.organization_id, w.updated_at from webhooks w
		where w.is_enabled
			and w.event_types && array['work.overdue', 'reviews.due', 'signatures.missing']
	) r
	join organizations o on o.id = r.organization_id
	cross join lateral (select (now() at time zone o.time_zone)::date as today) d
	cross join lateral (select (d.today + time '07:00') at time zone o.time_zone as at) m
	where m.at <= now() and r.updated_at < m.at
		and not exists (
			select from events e
			where e.organization_id = o.id and e.type = 'work.overdue'
				and e.data ->> 'date' = to_char(d.today, 'YYYY-MM-DD')
		)
		and not exists (select from organization_closures k where k.organization_id = o.id)
	group by o.id
	limit 100
$$;

CREATE FUNCTION public.organizations_with_devices() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
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

CREATE FUNCTION public.organizations_with_due_digests() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select distinct c.organization_id::text from notification_channels c
	where c.is_enabled and c.next_digest_at <= now()
		and not exists (
			select from organization_closures k where k.organization_id = c.organization_id
		)
	limit 100
$$;

CREATE FUNCTION public.organizations_with_events() RETURNS SETOF text
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select e.organization_id::text from events e
	where e.handled_at is null and (e.retry_at is null or e.retry_at <= now())
		and not exists (
			select from organization_closures k where k.organization_id = e.organization_id
		)
	group by e.organization_id
	order by min(coalesce(e.retry_at, e.occurred_at))
	limit 100
$$;

CREATE FUNCTION public.own_account() RETURNS TABLE(two_factor_enabled boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select u.two_factor_enabled
	from users u where u.id = current_setting('assay.user_id', true);
end
$$;

CREATE FUNCTION public.own_identity_provider(p_session_id text) RETURNS TABLE(id text, name text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select p.id::text, p.name
	from sessions s join identity_providers p on p.id = s.identity_provider_id
	where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true);
end
$$;

CREATE FUNCTION public.own_passkeys() RETURNS TABLE(id text, rp_id text, name text, can_sign_in boolean, is_synced boolean, created_at timestamp with time zone, last_used_at timestamp with time zone)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select p.id::text, p.rp_id, p.name, p.can_sign_in, p.is_synced, p.created_at, p.last_used_at
	from passkeys p
	where p.user_id = current_setting('assay.user_id', true)
	order by p.created_at, p.id;
end
$$;

CREATE FUNCTION public.own_second_factors(p_rp_id text) RETURNS TABLE(has_app boolean, passkeys integer)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller constant text := current_setting('assay.user_id', true);
begin
	return query select
		exists (
			select from two_factors f join users u on u.id = f.user_id
			where f.user_id = caller and f.verified and u.two_factor_enabled
		),
		(select count(*)::integer from passkeys p where p.user_id = caller and p.rp_id = p_rp_id);
end
$$;

CREATE FUNCTION public.own_session_proved_at(p_session_id text) RETURNS timestamp with time zone
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return (
		select s.proved_at from sessions s
		where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true)
	);
end
$$;

CREATE FUNCTION public.own_sessions() RETURNS TABLE(session_id text, created_at timestamp with time zone, last_seen_at timestamp with time zone, expires_at timestamp with time zone, address text, user_agent text, last_address text, last_user_agent text, passkey text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select s.id::text, s.created_at, s.last_used_at, s.expires_at, s.ip_address, s.user_agent,
		coalesce(s.last_address, s.ip_address), coalesce(s.last_user_agent, s.user_agent), p.name
	from sessions s left join passkeys p on p.id = s.passkey_id
	where s.user_id = current_setting('assay.user_id', true) and s.expires_at > now();
end
$$;

CREATE FUNCTION public.own_sign_in(p_session_id text) RETURNS TABLE(provider text, has_password boolean)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select s.provider, exists (
		select from accounts a where a.user_id = s.user_id and a.password is not null
	)
	from sessions s
	where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true);
end
$$;

CREATE FUNCTION public.pack_device_reports(p_month date, p_organization_id text, p_device_id text) RETURNS integer
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	step record;
	parts integer := 0;
	reports integer := 0;
	after_id text := '';
	after_at timestamptz := '-infinity';
begin
	loop
		parts := parts + 1;
		select * into step
		from pack_report_part(p_month, p_organization_id, p_device_id, parts, after_id, after_at, 10000);
		reports := reports + step.packed;
		exit when step.is_last;
		after_id := step.last_id;
		after_at := step.last_at;
	end loop;
	return reports;
end
$$;

CREATE FUNCTION public.pack_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, INOUT last_part integer, INOUT last_id text, INOUT last_at timestamp with time zone, OUT packed integer) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	next_one record;
	step record;
begin
	packed := 0;
	while packed < p_most loop
		if last_part = 0 then
			select r.organization_id, r.device_id into next_one
			from posture_reports r
			where r.received_at >= p_month and r.received_at < p_month + interval '1 month'
				and (r.organization_id, r.device_id) > (last_organization, last_device)
			order by r.organization_id, r.device_id
			limit 1;
			exit when not found;
			last_organization := next_one.organization_id;
			last_device := next_one.device_id;
			last_id := '';
			last_at := '-infinity';
		end if;
		select * into step
		from pack_report_part(
			p_month, last_organization, last_device, last_part + 1, last_id, last_at, p_part_size
		);
		packed := packed + step.packed;
		last_part := case when step.is_last then 0 else last_part + 1 end;
		last_id := step.last_id;
		last_at := step.last_at;
	end loop;
end
$$;

CREATE FUNCTION public.pack_next_reports(p_month date, p_after_organization text, p_after_device text, p_most integer, OUT last_organization text, OUT last_device text, OUT packed integer) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
declare
	next_one record;
begin
	last_organization := p_after_organization;
	last_device := p_after_device;
	packed := 0;
	while packed < p_most loop
		select r.organization_id, r.device_id into next_one
		from posture_reports r
		where r.received_at >= p_month and r.received_at < p_month + interval '1 month'
			and (r.organization_id, r.device_id) > (last_organization, last_device)
		order by r.organization_id, r.device_id
		limit 1;
		exit when not found;
		last_organization := next_one.organization_id;
		last_device := next_one.device_id;
		packed := packed + pack_device_reports(p_month, last_organization, last_device);
	end loop;
end
$$;

CREATE TABLE public.packed_posture_reports (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    month date NOT NULL,
    first_made_ms bigint NOT NULL,
    last_made_ms bigint NOT NULL,
    report_ids text[] NOT NULL,
    received_at timestamp with time zone[] NOT NULL,
    report_of integer[] NOT NULL,
    variant_of integer[] NOT NULL,
    observed_at timestamp with time zone[] NOT NULL,
    variants text[] NOT NULL,
    part integer DEFAULT 1 NOT NULL,
    CONSTRAINT packed_posture_reports_check CHECK ((last_made_ms >= first_made_ms)),
    CONSTRAINT packed_posture_reports_check1 CHECK ((cardinality(received_at) = cardinality(report_ids))),
    CONSTRAINT packed_posture_reports_check2 CHECK ((cardinality(variant_of) = cardinality(report_of))),
    CONSTRAINT packed_posture_reports_check3 CHECK ((cardinality(observed_at) = cardinality(report_of))),
    CONSTRAINT packed_posture_reports_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT packed_posture_reports_part_check CHECK ((part >= 1)),
    CONSTRAINT packed_posture_reports_report_ids_check CHECK ((cardinality(report_ids) > 0))
)
PARTITION BY RANGE (month);

ALTER TABLE ONLY public.packed_posture_reports FORCE ROW LEVEL SECURITY;

CREATE FUNCTION public.pack_posture_reports(p_organization_id text, p_device_id text, p_month date, p_report_ids text[], p_received_at timestamp with time zone[], p_results jsonb[]) RETURNS public.packed_posture_reports
    LANGUAGE sql STABLE
    SET "TimeZone" TO 'UTC'
    AS $_$
	with report as materialized (
		select r.report_id, r.received_at, r.results,
			row_number() over (order by r.received_at, r.report_id)::integer as n
		from unnest(p_report_ids, p_received_at, p_results) r (report_id, received_at, results)
	), result as materialized (
		select
			r.n, e.k,
			case when t.is_usual then e.result - 'observed_at' else e.result end::text as variant,
			case when t.is_usual then (e.result ->> 'observed_at')::timestamptz end as observed_at
		from report r
		cross join jsonb_array_elements(r.results) with ordinality e (result, k)
		cross join lateral (
			-- The form in which all observations of devices are stored, beside other fields.
			select e.result ->> 'observed_at' ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$'
				and e.result ? 'check_key' as is_usual
		) t
	), variant as materialized (
		select d.variant, row_number() over (order by d.variant collate "C")::integer as n
		from (select distinct r.variant collate "C" as variant from result r) d
	)
	select
		p_organization_id::typed_id, p_device_id::typed_id, p_month,
		(select min(made_ms_of(r.report_id)) from report r),
		(select max(made_ms_of(r.report_id)) from report r),
		(select array_agg(r.report_id order by r.n) from report r),
		(select array_agg(r.received_at order by r.n) from report r),
		coalesce(f.report_of, '{}'), coalesce(f.variant_of, '{}'), coalesce(f.observed_at, '{}'),
		coalesce((select array_agg(v.variant order by v.n) from variant v), '{}'),
		1
	from (
		select
			array_agg(o.report) as report_of, array_agg(o.variant) as variant_of,
			array_agg(o.observed_at) as observed_at
		from (
			select r.n as report, v.n as variant, r.observed_at
			from result r join variant v on v.variant = r.variant
			order by r.n, r.k
		) o
	) f
$_$;

CREATE FUNCTION public.pack_report_part(p_month date, p_organization_id text, p_device_id text, p_part integer, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT packed integer, OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
declare
	into_table constant text := 'packed_posture_reports_' || to_char(p_month, 'YYYY_MM');
	next_part record;
begin
	if p_part = 1 then
		-- Waits for a transaction that changes reports of the device. The next statement sees its change,
		-- and a change after it leaves another row.
		delete from posture_report_changes c
		where c.organization_id = p_organization_id and c.device_id = p_device_id and c.month = p_month;
		execute format('delete from %I p where p.organization_id = $1 and p.device_id = $2', into_table)
			using p_organization_id, p_device_id;
	end if;
	select * into next_part
	from read_report_part(p_month, p_organization_id, p_device_id, p_after_id, p_after_at, p_most);
	packed := coalesce(cardinality(next_part.ids), 0);
	last_id := next_part.last_id;
	last_at := next_part.last_at;
	is_last := next_part.is_last;
	if packed > 0 then
		perform store_report_part(
			into_table, p_month, p_organization_id, p_device_id, p_part,
			next_part.ids, next_part.times, next_part.contents
		);
	end if;
end
$_$;

CREATE FUNCTION public.posture_report_month(p_at timestamp with time zone) RETURNS date
    LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    AS $$
	select date_trunc('month', p_at at time zone 'UTC')::date
$$;

CREATE FUNCTION public.posture_result_identity(result jsonb) RETURNS jsonb
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN ((result - 'claimed_observed_at'::text) || jsonb_build_object('observed_at', COALESCE((result -> 'claimed_observed_at'::text), (result -> 'observed_at'::text))));

CREATE FUNCTION public.prove_address(p_user_id text, p_kept_session_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	proof text;
begin
	select u.address_proof into proof from users u where u.id = p_user_id for no key update;
	if not found then
		return false;
	end if;
	update users u set address_proof = 'LINK', updated_at = now()
	where u.id = p_user_id and u.address_proof is distinct from 'LINK';
	if proof is not null then
		return false;
	end if;
	update api_tokens t set revoked_at = now() where t.user_id = p_user_id and t.revoked_at is null;
	delete from sessions s where s.user_id = p_user_id and s.id is distinct from p_kept_session_id;
	delete from verifications v where v.value = p_user_id;
	delete from two_factors f where f.user_id = p_user_id;
	delete from passkeys p where p.user_id = p_user_id;
	update users u set two_factor_enabled = false where u.id = p_user_id;
	return true;
end
$$;

CREATE FUNCTION public.provision_membership(p_user_id text, p_role text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	organization text := current_setting('assay.organization_id', true);
	earlier text[];
begin
	perform from scim_users s where s.organization_id = organization and s.user_id = p_user_id;
	if not found then
		raise exception 'the user is not provisioned' using errcode = 'check_violation';
	end if;
	select array_agg(m.organization_id order by m.organization_id) into earlier
	from memberships m where m.user_id = p_user_id and m.organization_id <> organization;
	insert into memberships (organization_id, user_id, role)
	values (organization, p_user_id, p_role)
	on conflict do nothing;
	if not found then
		return false;
	end if;
	update api_tokens t
	set revoked_at = case when earlier is null then now() end,
		organization_ids = earlier[1:100]::typed_id[]
	where t.user_id = p_user_id and t.revoked_at is null and t.organization_ids is null;
	return true;
end
$$;

CREATE FUNCTION public.provision_user(p_id text, p_email text, p_name text) RETURNS TABLE(user_id text, name text, is_new boolean)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
declare
	account users;
	made boolean;
begin
	perform from organization_domains d
	where d.organization_id = current_setting('assay.organization_id', true)
		and d.domain = substring(lower(p_email) from '[^@]*$') and d.verified_at is not null
	for share;
	if not found then
		raise exception 'the domain of the address is not verified for the organization'
			using errcode = 'check_violation', constraint = 'verified_domain';
	end if;
	select c.is_new into made from create_proven_user(p_id, lower(p_email), p_name, '', null, 'LINK') c;
	select u.* into account from users u where u.email = lower(p_email) for no key update;
	if not made and prove_address(account.id, null) then
		delete from accounts a where a.user_id = account.id and a.password is not null;
	end if;
	return query select account.id::text, account.name, made;
end
$_$;

CREATE FUNCTION public.provisioned_account(p_user_id text) RETURNS TABLE(name text, email text)
    LANGUAGE plpgsql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	return query
	select u.name, u.email from users u
	join scim_users s on s.user_id = u.id
	where u.id = p_user_id and s.organization_id = current_setting('assay.organization_id', true);
end
$$;

CREATE FUNCTION public.read_archive_backlog(OUT months bigint, OUT devices bigint) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $_$
	select
		(
			select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid
			where i.inhparent = 'packed_posture_reports'::regclass
				and c.relname ~ '^packed_posture_reports_\d{4}_\d\d$'
				and not exists (
					select from archived_months a where a.month = to_date(right(c.relname, 7), 'YYYY_MM')
				)
		),
		(select count(*) from archive_changes)
$_$;

CREATE FUNCTION public.read_archive_state(OUT months bigint, OUT devices bigint, OUT files bigint) RETURNS record
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select b.months, b.devices, (select count(*) from archive_leftovers)
	from read_archive_backlog() b
$$;

CREATE FUNCTION public.read_closed_organizations() RETURNS TABLE(organization_id text, name text, kind text, reason text, began_at timestamp with time zone, delete_after timestamp with time zone, is_due boolean)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select c.organization_id::text, o.name, c.kind, c.reason, c.began_at, c.delete_after,
		coalesce(c.delete_after <= now(), false)
	from organization_closures c join organizations o on o.id = c.organization_id
$$;

CREATE FUNCTION public.read_last_backup() RETURNS TABLE(made_at timestamp with time zone, has_sound_logs boolean, in_use_since timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select b.made_at, b.has_sound_logs, o.since
	from (select min(created_at) as since from organizations) o
	left join last_backup b on true
$$;

CREATE FUNCTION public.read_last_retention() RETURNS timestamp with time zone
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select r.done_at from last_retention r
$$;

CREATE FUNCTION public.read_maintenance() RETURNS TABLE(message text, began_at timestamp with time zone)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select m.message, m.began_at from maintenance m
$$;

CREATE FUNCTION public.read_replicas() RETURNS TABLE(name text, state text, is_synchronous boolean, behind_bytes double precision, behind_seconds double precision)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'pg_catalog', 'pg_temp'
    AS $$
	select
		r.application_name,
		r.state,
		r.sync_state in ('sync', 'quorum'),
		case when b.bytes < 0 then 0 else b.bytes end,
		-- A replica that does not answer any more reports no delay, so the age of its last answer counts.
		case when b.bytes > 0 then
			greatest(extract(epoch from r.replay_lag), extract(epoch from clock_timestamp() - r.reply_time), 0)
		when b.bytes is not null then 0 end
	from pg_stat_replication r
	cross join lateral (
		select pg_wal_lsn_diff(
			case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end,
			coalesce(r.replay_lsn, r.write_lsn, r.sent_lsn)
		)::float8 as bytes
	) b
	where r.state is null or r.state in ('catchup', 'streaming')
	order by r.application_name, r.pid
$$;

CREATE FUNCTION public.read_report_part(p_month date, p_organization_id text, p_device_id text, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT ids text[], OUT times timestamp with time zone[], OUT contents jsonb[], OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) RETURNS record
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $$
begin
	select
		array_agg(r.report_id order by r.received_at, r.report_id),
		array_agg(r.received_at order by r.received_at, r.report_id),
		array_agg(r.results order by r.received_at, r.report_id),
		(array_agg(r.report_id order by r.n desc))[1],
		(array_agg(r.received_at order by r.n desc))[1]
	into ids, times, contents, last_id, last_at
	from (
		select
			c.*, row_number() over w as n,
			sum(octet_length(c.results::text)) over (w rows between unbounded preceding and 1 preceding) as bytes_before
		from (
			select r.report_id, r.received_at, r.results
			from posture_reports r
			where r.organization_id = p_organization_id and r.device_id = p_device_id
				and r.received_at >= p_month and r.received_at < p_month + interval '1 month'
				and (r.report_id, r.received_at) > (p_after_id, p_after_at)
			order by r.report_id, r.received_at
			limit p_most
		) c
		window w as (order by c.report_id, c.received_at)
	) r
	where coalesce(r.bytes_before, 0) < 64 * 1024 * 1024;
	is_last := ids is null or not exists (
		select from posture_reports r
		where r.organization_id = p_organization_id and r.device_id = p_device_id
			and r.received_at >= p_month and r.received_at < p_month + interval '1 month'
			and (r.report_id, r.received_at) > (last_id, last_at)
	);
end
$$;

CREATE FUNCTION public.record_api_token_calls(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_organization_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[], p_called_at timestamp with time zone[], p_call_client text[], p_call_address text[]) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	perform from api_tokens t where t.id = any (p_token_id) or t.id = any (p_call_token_id)
	order by t.id for no key update;
	update api_tokens t
	set last_used_at = n.used_at, last_used_client = n.client, last_used_address = n.address
	from unnest(p_token_id, p_used_at, p_client, p_address) n (token_id, used_at, client, address)
	where t.id = n.token_id and (t.last_used_at is null or t.last_used_at < n.used_at);
	insert into api_token_usage as u (
		token_id, organization_id, day, tool, calls, errors, last_called_at, last_client, last_address
	)
	select n.*
	from unnest(
		p_call_token_id, p_organization_id, p_day, p_tool, p_calls, p_errors,
		p_called_at, p_call_client, p_call_address
	) n (token_id, organization_id, day, tool, calls, errors, called_at, client, address)
	where exists (select from api_tokens t where t.id = n.token_id)
		and (n.organization_id is null or exists (select from organizations o where o.id = n.organization_id))
	order by n.token_id, n.organization_id, n.day, n.tool
	on conflict (token_id, organization_id, day, tool)
	do update set
		calls = u.calls + excluded.calls,
		errors = u.errors + excluded.errors,
		last_called_at = greatest(u.last_called_at, excluded.last_called_at),
		last_client = case when u.last_called_at > excluded.last_called_at then u.last_client else excluded.last_client end,
		last_address = case when u.last_called_at > excluded.last_called_at then u.last_address else excluded.last_address end;
end
$$;

CREATE FUNCTION public.record_api_token_usage(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[]) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select record_api_token_calls(
		p_token_id, p_used_at, p_client, p_address,
		p_call_token_id, array_fill(null::text, array[cardinality(p_call_token_id)]), p_day, p_tool,
		p_calls, p_errors,
		array_fill(null::timestamptz, array[cardinality(p_call_token_id)]),
		array_fill(null::text, array[cardinality(p_call_token_id)]),
		array_fill(null::text, array[cardinality(p_call_token_id)])
	)
$$;

CREATE FUNCTION public.remove_links() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	delete from record_links l
	where l.organization_id = old.organization_id and (l.first_id = old.id or l.second_id = old.id);
	delete from record_comments c
	where c.organization_id = old.organization_id and c.record_id = old.id;
	delete from record_watches w
	where w.organization_id = old.organization_id and w.record_id = old.id;
	return null;
end
$$;

CREATE FUNCTION public.remove_own_passkey(p_id text, p_kept_session_id text, p_rp_id text) RETURNS TABLE(outcome text, name text)
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	caller constant text := current_setting('assay.user_id', true);
	found_name text;
begin
	-- Two calls at the same time must not remove the last two passkeys.
	perform from users u where u.id = caller for no key update;
	select p.name into found_name from passkeys p where p.id = p_id and p.user_id = caller;
	if found_name is null then
		return query select 'ABSENT', null::text;
		return;
	end if;
	if exists (select from users u where u.id = caller and u.two_factor_enabled)
		and not exists (select from two_factors f where f.user_id = caller and f.verified)
		and not exists (
			select from passkeys p where p.user_id = caller and p.id <> p_id and p.rp_id = p_rp_id
		)
	then
		return query select 'LAST_FACTOR', found_name;
		return;
	end if;
	delete from sessions s
	where s.passkey_id = p_id and s.user_id = caller and s.id is distinct from p_kept_session_id;
	delete from passkeys p where p.id = p_id and p.user_id = caller;
	return query select 'REMOVED', found_name;
end
$$;

CREATE FUNCTION public.remove_second_factor(p_user_id text) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	if not administers_account(current_setting('assay.user_id', true), p_user_id) then
		return false;
	end if;
	delete from two_factors f where f.user_id = p_user_id;
	delete from passkeys p where p.user_id = p_user_id;
	update users u set two_factor_enabled = false, updated_at = now() where u.id = p_user_id;
	-- Devices that need no code, and sign-ins that wait for one.
	delete from verifications v where v.value = p_user_id;
	delete from sessions s where s.user_id = p_user_id;
	return true;
end
$$;

CREATE FUNCTION public.remove_spans_of_devices() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    SET enable_seqscan TO 'off'
    AS $$
begin
	delete from posture_spans s
	using gone g
	where s.organization_id = g.organization_id and s.device_id = g.id;
	return null;
end
$$;

CREATE FUNCTION public.remove_unused_content() RETURNS trigger
    LANGUAGE plpgsql
    AS $$
begin
	perform lock_files_of(old.organization_id);
	delete from file_contents c
	where c.organization_id = old.organization_id and c.sha256 = old.sha256 and not exists (
		select from evidence_files f
		where f.organization_id = c.organization_id and f.sha256 = c.sha256
	);
	return null;
end
$$;

CREATE FUNCTION public.rename_own_passkey(p_id text, p_name text) RETURNS text
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	old text;
begin
	select p.name into old from passkeys p
	where p.id = p_id and p.user_id = current_setting('assay.user_id', true) for no key update;
	update passkeys p set name = p_name
	where p.id = p_id and p.user_id = current_setting('assay.user_id', true);
	return old;
end
$$;

CREATE FUNCTION public.require_devices_of_spans() RETURNS trigger
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
declare
	missing text;
begin
	if nullif(current_setting('assay.importing', true), '') is not null then
		return null;
	end if;
	with span as (
		select distinct a.organization_id, a.device_id from added a
	), locked as materialized (
		select d.organization_id, d.id
		from devices d
		join span s on s.organization_id = d.organization_id and s.device_id = d.id
		for key share of d
	)
	select s.device_id into missing from span s
	where (s.organization_id, s.device_id) not in (select l.organization_id, l.id from locked l)
	limit 1;
	if missing is not null then
		raise exception 'there is no device %', missing using errcode = 'foreign_key_violation';
	end if;
	return null;
end
$$;

CREATE FUNCTION public.search_fold(text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
begin
	return pg_catalog.lower(public.unaccent('public.unaccent', $1));
end
$_$;

CREATE FUNCTION public.search_pattern(text) RETURNS text
    LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
    AS $_$
begin
	return pg_catalog.concat(
		'%',
		pg_catalog.regexp_replace(
			pg_catalog.lower(public.unaccent('public.unaccent', $1)), '([\\%_])', '\\\1', 'g'
		),
		'%'
	);
end
$_$;

CREATE FUNCTION public.search_text(VARIADIC parts text[]) RETURNS text
    LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
    AS $$
begin
	return coalesce(
		pg_catalog.lower(
			public.unaccent('public.unaccent', pg_catalog.array_to_string(parts, ' '))
		), ''
	);
end
$$;

CREATE FUNCTION public.set_maintenance(p_message text) RETURNS void
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	delete from maintenance m where p_message is null;
	insert into maintenance (message) select p_message where p_message is not null
	on conflict (singleton) do update set message = excluded.message;
$$;

CREATE FUNCTION public.set_unknown_key_wait(p_until timestamp with time zone) RETURNS void
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	insert into unknown_key_wait (waits_until) values (p_until)
	on conflict (singleton) do update set waits_until = excluded.waits_until;
	if p_until is null then
		delete from unknown_device_keys u where true;
	end if;
end
$$;

CREATE FUNCTION public.store_report_part(p_table text, p_month date, p_organization_id text, p_device_id text, p_part integer, p_ids text[], p_times timestamp with time zone[], p_contents jsonb[]) RETURNS void
    LANGUAGE plpgsql
    SET search_path TO 'public', 'pg_temp'
    SET "TimeZone" TO 'UTC'
    AS $_$
declare
	is_equal boolean;
begin
	execute format(
		'insert into %I ('
		'	organization_id, device_id, month, first_made_ms, last_made_ms, report_ids, received_at,'
		'	report_of, variant_of, observed_at, variants, part'
		')'
		' select n.organization_id, n.device_id, n.month, n.first_made_ms, n.last_made_ms, n.report_ids,'
		'	n.received_at, n.report_of, n.variant_of, n.observed_at, n.variants, $7'
		' from pack_posture_reports($1, $2, $3, $4, $5, $6) n',
		p_table
	) using p_organization_id, p_device_id, p_month, p_ids, p_times, p_contents, p_part;
	execute format(
		'select array_agg(u.report_id) = $5 and array_agg(u.received_at) = $6'
		'	and array_agg(u.results::jsonb::text) = $7::text[]'
		' from %I p cross join lateral unpack_reports('
		'	p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants'
		' ) u where p.organization_id = $1 and p.device_id = $2 and p.month = $3 and p.part = $4',
		p_table
	) into is_equal
		using p_organization_id, p_device_id, p_month, p_part, p_ids, p_times, p_contents;
	if is_equal is not true then
		raise exception 'the packed reports of device % in % differ from the reports', p_device_id, p_month;
	end if;
end
$_$;

CREATE FUNCTION public.subject_of(VARIADIC p_texts text[]) RETURNS text
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
    SET search_path TO 'pg_catalog', 'public'
    AS $$
	select case when length(line) > 100 then left(line, 99) || '…' else line end
	from (
		select split_part(btrim(t.text, e' \t\r\n'), e'\n', 1) as line
		from unnest(p_texts) with ordinality t (text, place)
		where btrim(t.text, e' \t\r\n') <> ''
		order by t.place
		limit 1
	) first
$$;

CREATE FUNCTION public.take_domain_checks(p_count integer, p_to_one integer, p_seconds integer) RETURNS TABLE(organization_id text, id text)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	update organization_domains d
	set next_check_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the domain a moment ago.
	where d.next_check_at <= now() and (d.organization_id, d.id) in (
		select x.organization_id, x.id
		from (
			select w.organization_id, w.id, w.next_check_at, row_number() over (
				partition by w.organization_id order by w.next_check_at
			) as place
			from organization_domains w
			where w.next_check_at <= now() and not exists (
				select from organization_closures c where c.organization_id = w.organization_id
			)
		) x
		where x.place <= p_to_one
		order by x.next_check_at
		limit p_count
	)
	returning d.organization_id::text, d.id::text
$$;

CREATE FUNCTION public.take_notification_messages(p_count integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) RETURNS TABLE(organization_id text, id text, channel_id text, attempts integer)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	update notification_messages m
	set attempts = m.attempts + 1, due_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the message a moment ago. Its due_at has then moved on.
	where m.state = 'QUEUED' and m.due_at <= now() and (m.organization_id, m.id) in (
		select y.organization_id, y.id
		from (
			select x.*, row_number() over (partition by x.organization_id order by x.due_at) as turn
			from (
				select w.organization_id, w.id, w.due_at, row_number() over (
					partition by w.organization_id, w.channel_id order by w.due_at, w.id
				) as place
				from notification_messages w
				where w.state = 'QUEUED' and w.due_at <= now() and w.channel_id <> all (p_busy)
					and w.organization_id <> all (p_full)
			) x
			where x.place = 1
		) y
		where y.turn <= p_of_one
		-- Each organization has its turn before any of them has a second one.
		order by y.turn, y.due_at
		limit p_count
	)
	returning m.organization_id::text, m.id::text, m.channel_id::text, m.attempts
$$;

CREATE FUNCTION public.take_unknown_device_key(p_key_hash bytea) RETURNS SETOF public.unknown_device_keys
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	delete from unknown_device_keys u where u.key_hash = p_key_hash returning u.*
$$;

CREATE FUNCTION public.take_webhook_deliveries(p_count integer, p_to_one integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) RETURNS TABLE(organization_id text, id text, webhook_id text, attempts integer)
    LANGUAGE sql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	update webhook_deliveries d
	set attempts = d.attempts + 1, due_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the delivery a moment ago. Its due_at has then moved on.
	where d.state = 'QUEUED' and d.due_at <= now() and (d.organization_id, d.id) in (
		select y.organization_id, y.id
		from (
			select x.*, row_number() over (partition by x.organization_id order by x.due_at) as turn
			from (
				select w.organization_id, w.id, w.due_at, row_number() over (
					partition by w.organization_id, w.webhook_id order by w.due_at
				) as place
				from webhook_deliveries w
				where w.state = 'QUEUED' and w.due_at <= now() and w.webhook_id <> all (p_busy)
					and w.organization_id <> all (p_full)
					and not exists (
						select from webhook_deliveries earlier
						where earlier.organization_id = w.organization_id
							and earlier.webhook_id = w.webhook_id and earlier.record_id = w.record_id
							and earlier.state = 'QUEUED' and earlier.position < w.position
					)
			) x
			where x.place <= p_to_one
		) y
		where y.turn <= p_of_one
		-- Each organization has its turn before any of them has a second one.
		order by y.turn, y.due_at
		limit p_count
	)
	returning d.organization_id::text, d.id::text, d.webhook_id::text, d.attempts
$$;

CREATE FUNCTION public.unknown_key_state() RETURNS TABLE(reason text, waits_until timestamp with time zone, knocking integer)
    LANGUAGE sql STABLE SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
	select s.reason, s.waits_until, (
		select count(*)::int from unknown_device_keys u where u.last_seen_at > now() - interval '1 day'
	)
	from (
		select 'RESTORED' as reason, w.waits_until from unknown_key_wait w where w.waits_until > now()
		union all
		select 'NEVER_HELD', null
		where not exists (select from unknown_key_wait w where w.held_device)
			and not exists (select from devices)
	) s
	limit 1
$$;

CREATE FUNCTION public.unpack_posture_reports(p_organization_id text, p_device_id text, p_first_month date, p_last_month date) RETURNS TABLE(report_id text, received_at timestamp with time zone, results text)
    LANGUAGE sql STABLE
    AS $$
	select u.report_id, u.received_at, u.results
	from packed_posture_reports p
	cross join lateral unpack_reports(
		p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
	) u
	where p.organization_id = p_organization_id and p.device_id = p_device_id
		and p.month between p_first_month and p_last_month
$$;

CREATE FUNCTION public.unpack_reports(p_report_ids text[], p_received_at timestamp with time zone[], p_report_of integer[], p_variant_of integer[], p_observed_at timestamp with time zone[], p_variants text[]) RETURNS TABLE(report_id text, received_at timestamp with time zone, results text)
    LANGUAGE sql STABLE ROWS 700
    SET enable_nestloop TO 'off'
    AS $$
	select r.report_id, r.received_at, coalesce(u.results, '[]')
	from unnest(p_report_ids, p_received_at) with ordinality r (report_id, received_at, n)
	left join unpack_results(null, p_report_of, p_variant_of, p_observed_at, p_variants) u
		on u.report = r.n
	order by r.n
$$;

CREATE FUNCTION public.unpack_results(p_report integer, p_report_of integer[], p_variant_of integer[], p_observed_at timestamp with time zone[], p_variants text[]) RETURNS TABLE(report bigint, results text)
    LANGUAGE sql STABLE ROWS 700
    SET enable_nestloop TO 'off'
    SET "TimeZone" TO 'UTC'
    AS $$
	select
		e.report,
		'[' || string_agg(
			case
				when e.observed_at is null then v.variant
				else v.head || to_char(e.observed_at, 'YYYY-MM-DD"T"HH24:MI:SS.US"Z\"}"')
			end, ',' order by e.place
		) || ']'
	from unnest(p_report_of, p_variant_of, p_observed_at) with ordinality e (report, variant, observed_at, place)
	join (
		select v.n, v.variant, left(v.variant, -1) || ', "observed_at": "' as head
		from unnest(p_variants) with ordinality v (variant, n)
		-- Computes the texts once for each variant.
		offset 0
	) v on v.n = e.variant
	where p_report is null or e.report = p_report
	group by e.report
$$;

CREATE FUNCTION public.use_setup_link(p_token_hash bytea) RETURNS boolean
    LANGUAGE plpgsql SECURITY DEFINER
    SET search_path TO 'public', 'pg_temp'
    AS $$
begin
	perform pg_advisory_xact_lock(4723119);
	delete from account_links l
	where l.token_hash = p_token_hash and l.purpose = 'SETUP' and l.expires_at > now();
	return found and not exists (select from users);
end
$$;

CREATE TABLE public.account_links (
    token_hash bytea NOT NULL,
    purpose text NOT NULL,
    user_id public.typed_id,
    made_by public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    CONSTRAINT account_links_check CHECK (((purpose = 'SETUP'::text) = (user_id IS NULL))),
    CONSTRAINT account_links_check1 CHECK (((purpose = 'PASSWORD_RESET'::text) OR (made_by IS NULL))),
    CONSTRAINT account_links_purpose_check CHECK ((purpose = ANY (ARRAY['SETUP'::text, 'PASSWORD_RESET'::text]))),
    CONSTRAINT account_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

ALTER TABLE ONLY public.account_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.accounts (
    id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    provider_id text NOT NULL,
    account_id text NOT NULL,
    password text,
    access_token text,
    refresh_token text,
    id_token text,
    access_token_expires_at timestamp with time zone,
    refresh_token_expires_at timestamp with time zone,
    scope text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.accounts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.api_token_usage (
    token_id public.typed_id NOT NULL,
    day date NOT NULL,
    tool text NOT NULL,
    calls bigint NOT NULL,
    errors bigint NOT NULL,
    organization_id public.typed_id,
    last_called_at timestamp with time zone,
    last_client text,
    last_address text,
    CONSTRAINT api_token_usage_calls_check CHECK ((calls >= 0)),
    CONSTRAINT api_token_usage_check CHECK (((errors >= 0) AND (errors <= calls)))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.api_token_usage FORCE ROW LEVEL SECURITY;

CREATE TABLE public.api_tokens (
    id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    token_hash bytea NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    last_used_client text,
    last_used_address text,
    read_only boolean DEFAULT false NOT NULL,
    organization_ids public.typed_id[],
    toolsets text[],
    secret_ends_at timestamp with time zone,
    sign_in_organization_id public.typed_id,
    CONSTRAINT api_tokens_name_check CHECK ((name <> ''::text)),
    CONSTRAINT api_tokens_organization_ids_check CHECK (((cardinality(organization_ids) >= 1) AND (cardinality(organization_ids) <= 100))),
    CONSTRAINT api_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32)),
    CONSTRAINT api_tokens_toolsets_check CHECK (((cardinality(toolsets) >= 1) AND (cardinality(toolsets) <= 50)))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.api_tokens FORCE ROW LEVEL SECURITY;

CREATE TABLE public.applicability_statements (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    framework_id public.typed_id NOT NULL,
    version_number integer NOT NULL,
    controls jsonb NOT NULL,
    sha256 bytea NOT NULL,
    note text,
    approved_by_id public.typed_id,
    approved_by_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    check_counts jsonb,
    framework_name text NOT NULL,
    framework_version text,
    CONSTRAINT applicability_statements_note_check CHECK ((char_length(note) <= 5000)),
    CONSTRAINT applicability_statements_sha256_check CHECK ((octet_length(sha256) = 32)),
    CONSTRAINT applicability_statements_version_number_check CHECK ((version_number > 0))
);

ALTER TABLE ONLY public.applicability_statements FORCE ROW LEVEL SECURITY;

CREATE TABLE public.archive_changes (
    organization_id public.typed_id NOT NULL,
    month date NOT NULL,
    device_id public.typed_id NOT NULL
);

ALTER TABLE ONLY public.archive_changes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.archive_files (
    organization_id public.typed_id NOT NULL,
    month date NOT NULL,
    part integer NOT NULL,
    name text NOT NULL,
    first_device_id public.typed_id NOT NULL,
    last_device_id public.typed_id NOT NULL,
    results bigint,
    bytes bigint,
    sha256 bytea,
    stored_at timestamp with time zone,
    is_only_copy boolean DEFAULT false NOT NULL,
    CONSTRAINT archive_files_bytes_check CHECK ((bytes > 0)),
    CONSTRAINT archive_files_check CHECK (((last_device_id)::text >= (first_device_id)::text)),
    CONSTRAINT archive_files_check1 CHECK ((num_nulls(results, bytes, sha256, stored_at) = ANY (ARRAY[0, 4]))),
    CONSTRAINT archive_files_month_check CHECK ((EXTRACT(day FROM month) = (1)::numeric)),
    CONSTRAINT archive_files_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT archive_files_part_check CHECK (((part >= 1) AND (part <= 99999))),
    CONSTRAINT archive_files_results_check CHECK ((results >= 0)),
    CONSTRAINT archive_files_sha256_check CHECK ((octet_length(sha256) = 32))
);

ALTER TABLE ONLY public.archive_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.archive_leftovers (
    name text NOT NULL
);

ALTER TABLE ONLY public.archive_leftovers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.archived_months (
    month date NOT NULL,
    archived_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.archived_months FORCE ROW LEVEL SECURITY;

CREATE TABLE public.asset_vendors (
    organization_id public.typed_id NOT NULL,
    asset_id public.typed_id NOT NULL,
    vendor_id public.typed_id NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.asset_vendors FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE public.asset_vendors IS 'assets';

CREATE TABLE public.assets (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    amount integer DEFAULT 1 NOT NULL,
    owner_id public.typed_id,
    asset_type text NOT NULL,
    data_types_stored text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, data_types_stored])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    archived_at timestamp with time zone,
    CONSTRAINT assets_amount_check CHECK ((amount >= 0)),
    CONSTRAINT assets_asset_type_check CHECK ((asset_type = ANY (ARRAY['PHYSICAL'::text, 'VIRTUAL'::text]))),
    CONSTRAINT assets_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.assets FORCE ROW LEVEL SECURITY;

CREATE SEQUENCE public.audit_entry_ids
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1;

CREATE TABLE public.audit_heads (
    organization_id public.typed_id NOT NULL,
    sequence bigint NOT NULL,
    hash bytea NOT NULL
);

ALTER TABLE ONLY public.audit_heads FORCE ROW LEVEL SECURITY;

CREATE TABLE public.audit_sealing (
    is_only_row boolean DEFAULT true NOT NULL,
    settled_id bigint NOT NULL,
    next_id bigint NOT NULL,
    next_xid xid8,
    CONSTRAINT audit_sealing_is_only_row_check CHECK (is_only_row)
);

ALTER TABLE ONLY public.audit_sealing FORCE ROW LEVEL SECURITY;

CREATE TABLE public.audit_seals (
    organization_id public.typed_id NOT NULL,
    sequence bigint NOT NULL,
    entry_id bigint NOT NULL,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    sealed_at timestamp with time zone DEFAULT clock_timestamp() NOT NULL,
    CONSTRAINT audit_seals_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT audit_seals_sequence_check CHECK ((sequence > 0))
);

ALTER TABLE ONLY public.audit_seals FORCE ROW LEVEL SECURITY;

CREATE TABLE public.audits (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    framework_id public.typed_id NOT NULL,
    name text,
    valid_from date,
    valid_until date,
    state text DEFAULT 'NOT_STARTED'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    audit_type text DEFAULT 'NOT_STATED'::text NOT NULL,
    auditor text,
    owner_id public.typed_id,
    scope text,
    starts_on date,
    ends_on date,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, auditor, scope])) STORED NOT NULL,
    CONSTRAINT audits_audit_type_check CHECK ((audit_type = ANY (ARRAY['NOT_STATED'::text, 'INTERNAL'::text, 'EXTERNAL'::text]))),
    CONSTRAINT audits_auditor_check CHECK ((auditor <> ''::text)),
    CONSTRAINT audits_check CHECK ((valid_from <= valid_until)),
    CONSTRAINT audits_dates CHECK ((starts_on <= ends_on)),
    CONSTRAINT audits_name_check CHECK ((name <> ''::text)),
    CONSTRAINT audits_state_check CHECK ((state = ANY (ARRAY['NOT_STARTED'::text, 'IN_PROGRESS'::text, 'COMPLETED'::text, 'REJECTED'::text, 'OUTDATED'::text])))
);

ALTER TABLE ONLY public.audits FORCE ROW LEVEL SECURITY;

CREATE TABLE public.check_count_days (
    organization_id public.typed_id NOT NULL,
    day date NOT NULL,
    counted_at timestamp with time zone DEFAULT now() NOT NULL,
    counts jsonb NOT NULL,
    compliance jsonb NOT NULL,
    CONSTRAINT check_count_days_compliance_check CHECK ((jsonb_typeof(compliance) = 'object'::text)),
    CONSTRAINT check_count_days_counts_check CHECK ((jsonb_typeof(counts) = 'object'::text))
);

ALTER TABLE ONLY public.check_count_days FORCE ROW LEVEL SECURITY;

CREATE TABLE public.check_nonconformities (
    organization_id public.typed_id NOT NULL,
    nonconformity_id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    device_id public.typed_id,
    is_per_device boolean NOT NULL,
    opened_at timestamp with time zone DEFAULT now() NOT NULL,
    closed_at timestamp with time zone,
    effectiveness_check text,
    CONSTRAINT check_nonconformities_check CHECK ((is_per_device OR (device_id IS NULL))),
    CONSTRAINT check_nonconformities_check_key_check CHECK ((check_key <> ''::text))
);

ALTER TABLE ONLY public.check_nonconformities FORCE ROW LEVEL SECURITY;

CREATE TABLE public.connected_apps (
    token_id public.typed_id NOT NULL,
    client_id text NOT NULL,
    redirect_uri text NOT NULL,
    code_hash bytea NOT NULL,
    code_challenge text NOT NULL,
    code_ends_at timestamp with time zone NOT NULL,
    connected_at timestamp with time zone,
    refresh_hash bytea,
    former_refresh_hash bytea,
    refreshed_at timestamp with time zone,
    refresh_start_hash bytea,
    CONSTRAINT connected_apps_client_id_check CHECK (((octet_length(client_id) >= 1) AND (octet_length(client_id) <= 2000))),
    CONSTRAINT connected_apps_code_challenge_check CHECK ((length(code_challenge) = 43)),
    CONSTRAINT connected_apps_code_hash_check CHECK ((octet_length(code_hash) = 32)),
    CONSTRAINT connected_apps_former_refresh_hash_check CHECK ((octet_length(former_refresh_hash) = 32)),
    CONSTRAINT connected_apps_redirect_uri_check CHECK (((octet_length(redirect_uri) >= 1) AND (octet_length(redirect_uri) <= 2000))),
    CONSTRAINT connected_apps_refresh_hash_check CHECK ((octet_length(refresh_hash) = 32)),
    CONSTRAINT connected_apps_refresh_start_hash_check CHECK ((octet_length(refresh_start_hash) = 32))
);

ALTER TABLE ONLY public.connected_apps FORCE ROW LEVEL SECURITY;

CREATE TABLE public.continual_improvements (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    reference_id text NOT NULL,
    description text,
    source text,
    owner_id public.typed_id,
    target_date date,
    status text DEFAULT 'OPEN'::text NOT NULL,
    priority text DEFAULT 'LOW'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[reference_id, description, source])) STORED NOT NULL,
    reference_id_key text GENERATED ALWAYS AS (public.sort_key(reference_id)) STORED COLLATE pg_catalog."C",
    CONSTRAINT continual_improvements_priority_check CHECK ((priority = ANY (ARRAY['LOW'::text, 'MEDIUM'::text, 'HIGH'::text]))),
    CONSTRAINT continual_improvements_reference_id_check CHECK ((reference_id <> ''::text)),
    CONSTRAINT continual_improvements_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'IN_PROGRESS'::text, 'CLOSED'::text])))
);

ALTER TABLE ONLY public.continual_improvements FORCE ROW LEVEL SECURITY;

CREATE TABLE public.controls (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    framework_id public.typed_id NOT NULL,
    section_title text NOT NULL,
    name text NOT NULL,
    description text,
    status text DEFAULT 'INCLUDED'::text NOT NULL,
    exclusion_justification text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    section_title_key text GENERATED ALWAYS AS (public.sort_key(section_title)) STORED COLLATE pg_catalog."C",
    tested_by_checks text[],
    inclusion_justification text,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[section_title, name, description, inclusion_justification, exclusion_justification])) STORED NOT NULL,
    CONSTRAINT controls_check CHECK (((status = 'INCLUDED'::text) OR (exclusion_justification IS NOT NULL))),
    CONSTRAINT controls_name_check CHECK ((name <> ''::text)),
    CONSTRAINT controls_section_title_check CHECK ((section_title <> ''::text)),
    CONSTRAINT controls_status_check CHECK ((status = ANY (ARRAY['INCLUDED'::text, 'EXCLUDED'::text]))),
    CONSTRAINT controls_tested_by_checks_check CHECK ((cardinality(tested_by_checks) <= 20))
);

ALTER TABLE ONLY public.controls FORCE ROW LEVEL SECURITY;

CREATE TABLE public.data (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    data_classification text NOT NULL,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    CONSTRAINT data_data_classification_check CHECK ((data_classification = ANY (ARRAY['PUBLIC'::text, 'INTERNAL'::text, 'CONFIDENTIAL'::text, 'SECRET'::text]))),
    CONSTRAINT data_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.data FORCE ROW LEVEL SECURITY;

CREATE TABLE public.datum_vendors (
    organization_id public.typed_id NOT NULL,
    datum_id public.typed_id NOT NULL,
    vendor_id public.typed_id NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.datum_vendors FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE public.datum_vendors IS 'data';

CREATE TABLE public.deleted_organizations (
    number bigint NOT NULL,
    organization_id public.typed_id NOT NULL,
    name text NOT NULL,
    reason text NOT NULL,
    closed_at timestamp with time zone NOT NULL,
    deleted_at timestamp with time zone NOT NULL,
    last_sequence bigint NOT NULL,
    last_hash bytea,
    previous_hash bytea NOT NULL,
    hash bytea NOT NULL,
    CONSTRAINT deleted_organizations_hash_check CHECK ((octet_length(hash) = 32)),
    CONSTRAINT deleted_organizations_last_hash_check CHECK ((octet_length(last_hash) = 32)),
    CONSTRAINT deleted_organizations_number_check CHECK ((number > 0)),
    CONSTRAINT deleted_organizations_previous_hash_check CHECK ((octet_length(previous_hash) = 32))
);

ALTER TABLE ONLY public.deleted_organizations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_check_keys (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    last_used_on date DEFAULT CURRENT_DATE NOT NULL,
    CONSTRAINT device_check_keys_check_key_check CHECK ((check_key <> ''::text))
);

ALTER TABLE ONLY public.device_check_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_check_rules (
    organization_id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    is_required boolean NOT NULL,
    platforms text[] NOT NULL,
    grace_days integer NOT NULL,
    new_device_grace_days integer NOT NULL,
    opens_nonconformity boolean DEFAULT true NOT NULL,
    per_device boolean DEFAULT false NOT NULL,
    severity text DEFAULT 'MINOR'::text NOT NULL,
    owner_id public.typed_id,
    CONSTRAINT device_check_rules_check CHECK ((valid_from < valid_until)),
    CONSTRAINT device_check_rules_check_key_check CHECK (((check_key <> ''::text) AND (length(check_key) <= 500))),
    CONSTRAINT device_check_rules_grace_days_check CHECK (((grace_days >= 0) AND (grace_days <= 90))),
    CONSTRAINT device_check_rules_new_device_grace_days_check CHECK (((new_device_grace_days >= 0) AND (new_device_grace_days <= 90))),
    CONSTRAINT device_check_rules_platforms_check CHECK (((platforms <@ ARRAY['DARWIN'::text, 'LINUX'::text, 'FREEBSD'::text, 'WINDOWS'::text]) AND (platforms <> '{}'::text[]))),
    CONSTRAINT device_check_rules_severity_check CHECK ((severity = ANY (ARRAY['MINOR'::text, 'MAJOR'::text])))
);

ALTER TABLE ONLY public.device_check_rules FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_conflicts (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    kind text NOT NULL,
    other_device_id public.typed_id,
    hardware_uuid text NOT NULL,
    platform text NOT NULL,
    hostname text NOT NULL,
    serial_number text,
    os_version text NOT NULL,
    agent_version text NOT NULL,
    occurrences bigint DEFAULT 1 NOT NULL,
    first_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    last_seen_at timestamp with time zone DEFAULT now() NOT NULL,
    address text DEFAULT NULLIF(current_setting('assay.address'::text, true), ''::text),
    CONSTRAINT device_conflicts_kind_check CHECK ((kind = ANY (ARRAY['DUPLICATE_HARDWARE'::text, 'POSSIBLE_CLONE'::text])))
);

ALTER TABLE ONLY public.device_conflicts FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_exception_members (
    organization_id public.typed_id NOT NULL,
    exception_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    until timestamp with time zone,
    CONSTRAINT device_exception_members_check CHECK ((since <= until))
);

ALTER TABLE ONLY public.device_exception_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_exceptions (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    scope text NOT NULL,
    device_id public.typed_id,
    group_id public.typed_id,
    platform text,
    reason text NOT NULL,
    starts_at timestamp with time zone NOT NULL,
    ends_at timestamp with time zone NOT NULL,
    requested_by_id public.typed_id,
    requested_by_name text,
    requested_by_person_id public.typed_id,
    link_copied_by_id public.typed_id,
    decision text,
    decided_at timestamp with time zone,
    decided_by_id public.typed_id,
    decided_by_name text,
    decision_note text,
    reminded_days integer,
    end_noted_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[check_key, reason])) STORED NOT NULL,
    needs_two_people boolean DEFAULT false NOT NULL,
    is_self_approved boolean DEFAULT false NOT NULL,
    CONSTRAINT device_exceptions_check CHECK (((scope = 'DEVICE'::text) OR (device_id IS NULL))),
    CONSTRAINT device_exceptions_check1 CHECK (((scope = 'GROUP'::text) OR (group_id IS NULL))),
    CONSTRAINT device_exceptions_check2 CHECK ((starts_at <= ends_at)),
    CONSTRAINT device_exceptions_check3 CHECK (((scope = 'PLATFORM'::text) = (platform IS NOT NULL))),
    CONSTRAINT device_exceptions_check4 CHECK (((decision IS NULL) = (decided_at IS NULL))),
    CONSTRAINT device_exceptions_check_key_check CHECK (((check_key <> ''::text) AND (length(check_key) <= 500))),
    CONSTRAINT device_exceptions_decision_check CHECK ((decision = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text]))),
    CONSTRAINT device_exceptions_platform_check CHECK ((platform = ANY (ARRAY['DARWIN'::text, 'LINUX'::text, 'FREEBSD'::text, 'WINDOWS'::text]))),
    CONSTRAINT device_exceptions_reason_check CHECK ((reason <> ''::text)),
    CONSTRAINT device_exceptions_scope_check CHECK ((scope = ANY (ARRAY['DEVICE'::text, 'GROUP'::text, 'PLATFORM'::text, 'ALL'::text]))),
    CONSTRAINT device_exceptions_self_approved_check CHECK (((NOT is_self_approved) OR (decision = 'APPROVED'::text)))
);

ALTER TABLE ONLY public.device_exceptions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_group_members (
    organization_id public.typed_id NOT NULL,
    group_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.device_group_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_group_policy_rules (
    organization_id public.typed_id NOT NULL,
    policy_id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    valid_from timestamp with time zone NOT NULL,
    valid_until timestamp with time zone,
    is_required boolean,
    grace_days integer,
    new_device_grace_days integer,
    CONSTRAINT device_group_policy_rules_check CHECK ((valid_from < valid_until)),
    CONSTRAINT device_group_policy_rules_check1 CHECK ((num_nonnulls(is_required, grace_days, new_device_grace_days) > 0)),
    CONSTRAINT device_group_policy_rules_check_key_check CHECK (((check_key <> ''::text) AND (length(check_key) <= 500))),
    CONSTRAINT device_group_policy_rules_grace_days_check CHECK (((grace_days >= 0) AND (grace_days <= 90))),
    CONSTRAINT device_group_policy_rules_new_device_grace_days_check CHECK (((new_device_grace_days >= 0) AND (new_device_grace_days <= 90)))
);

ALTER TABLE ONLY public.device_group_policy_rules FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_group_policy_spans (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    since timestamp with time zone NOT NULL,
    policy_id public.typed_id NOT NULL,
    until timestamp with time zone,
    CONSTRAINT device_group_policy_spans_check CHECK ((since <= until))
);

ALTER TABLE ONLY public.device_group_policy_spans FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_groups (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    filter jsonb,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    CONSTRAINT device_groups_filter_check CHECK ((jsonb_typeof(filter) = 'object'::text)),
    CONSTRAINT device_groups_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.device_groups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.device_silences (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    since timestamp with time zone NOT NULL,
    until timestamp with time zone NOT NULL,
    CONSTRAINT device_silences_check CHECK ((until > (since + '24:00:00'::interval)))
);

ALTER TABLE ONLY public.device_silences FORCE ROW LEVEL SECURITY;

CREATE TABLE public.document_approvals (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    version_id public.typed_id NOT NULL,
    person_id public.typed_id,
    person_name text NOT NULL,
    decision text NOT NULL,
    is_current boolean DEFAULT true NOT NULL,
    note text,
    decided_at timestamp with time zone DEFAULT now() NOT NULL,
    user_id public.typed_id,
    user_name text,
    CONSTRAINT document_approvals_decision_check CHECK ((decision = ANY (ARRAY['APPROVED'::text, 'REJECTED'::text]))),
    CONSTRAINT document_approvals_note_check CHECK ((char_length(note) <= 5000)),
    CONSTRAINT document_approvals_user_check CHECK (((user_id IS NULL) = (user_name IS NULL)))
);

ALTER TABLE ONLY public.document_approvals FORCE ROW LEVEL SECURITY;

CREATE TABLE public.document_approvers (
    organization_id public.typed_id NOT NULL,
    document_id public.typed_id NOT NULL,
    person_id public.typed_id NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.document_approvers FORCE ROW LEVEL SECURITY;

COMMENT ON TABLE public.document_approvers IS 'documents';

CREATE TABLE public.document_signatures (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    version_id public.typed_id NOT NULL,
    person_id public.typed_id,
    person_name text NOT NULL,
    state text DEFAULT 'REQUESTED'::text NOT NULL,
    requested_by_name text NOT NULL,
    requested_at timestamp with time zone DEFAULT now() NOT NULL,
    signed_at timestamp with time zone,
    way text,
    address text,
    content_hash bytea,
    link_copied_at timestamp with time zone,
    link_copied_by_id public.typed_id,
    link_copied_by_name text,
    user_id public.typed_id,
    user_name text,
    reminded_at timestamp with time zone,
    mailed_to text,
    address_set_by_id public.typed_id,
    address_set_by_name text,
    address_set_at timestamp with time zone,
    is_address_doubtful boolean DEFAULT false NOT NULL,
    CONSTRAINT document_signatures_address_check CHECK ((char_length(address) <= 100)),
    CONSTRAINT document_signatures_address_set_check CHECK (((address_set_at IS NULL) = (address_set_by_name IS NULL))),
    CONSTRAINT document_signatures_check CHECK (((state = 'SIGNED'::text) = (signed_at IS NOT NULL))),
    CONSTRAINT document_signatures_check1 CHECK (((state = 'SIGNED'::text) = (content_hash IS NOT NULL))),
    CONSTRAINT document_signatures_check2 CHECK (((state = 'SIGNED'::text) = (way IS NOT NULL))),
    CONSTRAINT document_signatures_content_hash_check CHECK ((octet_length(content_hash) = 32)),
    CONSTRAINT document_signatures_copied_check CHECK (((link_copied_at IS NULL) = (link_copied_by_name IS NULL))),
    CONSTRAINT document_signatures_copied_way_check CHECK (((way <> 'COPIED_LINK'::text) OR (link_copied_at IS NOT NULL))),
    CONSTRAINT document_signatures_mailed_to_check CHECK (((mailed_to IS NULL) OR (way = 'LINK'::text))),
    CONSTRAINT document_signatures_state_check CHECK ((state = ANY (ARRAY['REQUESTED'::text, 'SIGNED'::text]))),
    CONSTRAINT document_signatures_user_check CHECK (((user_id IS NULL) = (user_name IS NULL))),
    CONSTRAINT document_signatures_way_check CHECK ((way = ANY (ARRAY['SESSION'::text, 'LINK'::text, 'COPIED_LINK'::text])))
);

ALTER TABLE ONLY public.document_signatures FORCE ROW LEVEL SECURITY;

CREATE TABLE public.document_versions (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    document_id public.typed_id NOT NULL,
    version_number integer NOT NULL,
    status text DEFAULT 'DRAFT'::text NOT NULL,
    title text NOT NULL,
    content text DEFAULT ''::text NOT NULL,
    changelog text,
    asks_again boolean DEFAULT false NOT NULL,
    author_id public.typed_id,
    author_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    published_at timestamp with time zone,
    published_by_name text,
    content_hash bytea,
    editor_ids public.typed_id[] DEFAULT '{}'::public.typed_id[] NOT NULL,
    CONSTRAINT document_versions_changelog_check CHECK ((char_length(changelog) <= 5000)),
    CONSTRAINT document_versions_check CHECK (((status = 'PUBLISHED'::text) = (published_at IS NOT NULL))),
    CONSTRAINT document_versions_check1 CHECK (((status = 'PUBLISHED'::text) = (content_hash IS NOT NULL))),
    CONSTRAINT document_versions_content_check CHECK ((char_length(content) <= 200000)),
    CONSTRAINT document_versions_content_hash_check CHECK ((octet_length(content_hash) = 32)),
    CONSTRAINT document_versions_status_check CHECK ((status = ANY (ARRAY['DRAFT'::text, 'PENDING_APPROVAL'::text, 'PUBLISHED'::text]))),
    CONSTRAINT document_versions_version_number_check CHECK ((version_number > 0))
);

ALTER TABLE ONLY public.document_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.documents (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    title text NOT NULL,
    document_type text NOT NULL,
    classification text NOT NULL,
    description text,
    owner_id public.typed_id,
    review_interval_months smallint,
    next_review_on date,
    archived_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[title, description])) STORED NOT NULL,
    title_key text GENERATED ALWAYS AS (public.sort_key(title)) STORED COLLATE pg_catalog."C",
    CONSTRAINT documents_classification_check CHECK ((classification = ANY (ARRAY['PUBLIC'::text, 'INTERNAL'::text, 'CONFIDENTIAL'::text, 'SECRET'::text]))),
    CONSTRAINT documents_document_type_check CHECK ((document_type = ANY (ARRAY['OTHER'::text, 'ISMS'::text, 'POLICY'::text, 'PROCEDURE'::text]))),
    CONSTRAINT documents_review_interval_months_check CHECK (((review_interval_months >= 1) AND (review_interval_months <= 120))),
    CONSTRAINT documents_title_check CHECK ((title <> ''::text))
);

ALTER TABLE ONLY public.documents FORCE ROW LEVEL SECURITY;

CREATE TABLE public.emergency_members (
    organization_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    added_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.emergency_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.emergency_sign_ins (
    organization_id public.typed_id NOT NULL,
    session_id text NOT NULL,
    user_id public.typed_id NOT NULL,
    used_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT emergency_sign_ins_session_id_check CHECK ((length(session_id) <= 64))
);

ALTER TABLE ONLY public.emergency_sign_ins FORCE ROW LEVEL SECURITY;

CREATE TABLE public.enrollment_keys (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    max_devices integer NOT NULL,
    used integer DEFAULT 0 NOT NULL,
    requires_approval boolean NOT NULL,
    last_used_at timestamp with time zone,
    revoked_at timestamp with time zone,
    created_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    group_id public.typed_id,
    told text,
    CONSTRAINT enrollment_keys_check CHECK (((used >= 0) AND (used <= max_devices))),
    CONSTRAINT enrollment_keys_max_devices_check CHECK (((max_devices >= 1) AND (max_devices <= 100000))),
    CONSTRAINT enrollment_keys_name_check CHECK ((name <> ''::text)),
    CONSTRAINT enrollment_keys_secret_hash_check CHECK ((octet_length(secret_hash) = 32)),
    CONSTRAINT enrollment_keys_told_check CHECK ((told = ANY (ARRAY['RUNNING_OUT'::text, 'ENDED'::text])))
);

ALTER TABLE ONLY public.enrollment_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.enrollment_tokens (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    name text NOT NULL,
    token_hash bytea NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    created_by text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT enrollment_tokens_name_check CHECK ((name <> ''::text)),
    CONSTRAINT enrollment_tokens_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

ALTER TABLE ONLY public.enrollment_tokens FORCE ROW LEVEL SECURITY;

CREATE TABLE public.events (
    organization_id public.typed_id NOT NULL,
    id bigint NOT NULL,
    type text NOT NULL,
    record_id public.typed_id NOT NULL,
    data jsonb DEFAULT '{}'::jsonb NOT NULL,
    occurred_at timestamp with time zone DEFAULT now() NOT NULL,
    handled_at timestamp with time zone,
    waiting_for text[],
    attempts integer DEFAULT 0 NOT NULL,
    retry_at timestamp with time zone,
    CONSTRAINT events_type_check CHECK ((type ~ '^[a-z_]+\.[a-z_]+$'::text))
);

ALTER TABLE ONLY public.events FORCE ROW LEVEL SECURITY;

ALTER TABLE public.events ALTER COLUMN id ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.events_id_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.evidence (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    url text,
    valid_until date,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description, url])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    archived_at timestamp with time zone,
    CONSTRAINT evidence_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.evidence FORCE ROW LEVEL SECURITY;

CREATE TABLE public.evidence_files (
    organization_id public.typed_id NOT NULL,
    evidence_id public.typed_id NOT NULL,
    sha256 bytea NOT NULL,
    file_name text NOT NULL,
    content_type text NOT NULL,
    uploaded_by_id public.typed_id,
    uploaded_by_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT evidence_files_content_type_check CHECK ((char_length(content_type) <= 100)),
    CONSTRAINT evidence_files_file_name_check CHECK (((char_length(file_name) >= 1) AND (char_length(file_name) <= 255)))
);

ALTER TABLE ONLY public.evidence_files FORCE ROW LEVEL SECURITY;

CREATE TABLE public.file_chunks (
    organization_id public.typed_id NOT NULL,
    sha256 bytea NOT NULL,
    place integer NOT NULL,
    bytes bytea NOT NULL,
    CONSTRAINT file_chunks_bytes_check CHECK (((octet_length(bytes) >= 1) AND (octet_length(bytes) <= 262144))),
    CONSTRAINT file_chunks_place_check CHECK ((place >= 0))
);
ALTER TABLE ONLY public.file_chunks ALTER COLUMN bytes SET STORAGE EXTERNAL;

ALTER TABLE ONLY public.file_chunks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.file_contents (
    organization_id public.typed_id NOT NULL,
    sha256 bytea NOT NULL,
    size_bytes bigint NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT file_contents_sha256_check CHECK ((octet_length(sha256) = 32)),
    CONSTRAINT file_contents_size_bytes_check CHECK ((size_bytes > 0))
);

ALTER TABLE ONLY public.file_contents FORCE ROW LEVEL SECURITY;

CREATE TABLE public.frameworks (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    version text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description, version])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    CONSTRAINT frameworks_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.frameworks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.idempotency_keys (
    organization_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    operation text NOT NULL,
    key text NOT NULL,
    input_hash bytea NOT NULL,
    result text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT idempotency_keys_input_hash_check CHECK ((octet_length(input_hash) = 32)),
    CONSTRAINT idempotency_keys_key_check CHECK (((length(key) >= 1) AND (length(key) <= 200))),
    CONSTRAINT idempotency_keys_operation_check CHECK ((operation <> ''::text))
);

ALTER TABLE ONLY public.idempotency_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.identity_providers (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    is_enabled boolean DEFAULT false NOT NULL,
    issuer text NOT NULL,
    client_id text,
    client_secret text,
    sign_in_url text,
    sign_out_url text,
    certificates text[] DEFAULT '{}'::text[] NOT NULL,
    trusts_addresses boolean DEFAULT false NOT NULL,
    groups_claim text DEFAULT 'groups'::text NOT NULL,
    role text,
    group_roles jsonb DEFAULT '{}'::jsonb NOT NULL,
    tested_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT identity_providers_certificates_check CHECK ((cardinality(certificates) <= 5)),
    CONSTRAINT identity_providers_check CHECK (((kind = 'OIDC'::text) = (client_id IS NOT NULL))),
    CONSTRAINT identity_providers_check1 CHECK (((kind = 'OIDC'::text) = (client_secret IS NOT NULL))),
    CONSTRAINT identity_providers_check2 CHECK (((kind = 'SAML'::text) = (sign_in_url IS NOT NULL))),
    CONSTRAINT identity_providers_check3 CHECK (((kind = 'SAML'::text) = (cardinality(certificates) > 0))),
    CONSTRAINT identity_providers_check4 CHECK (((NOT is_enabled) OR (tested_at IS NOT NULL))),
    CONSTRAINT identity_providers_client_id_check CHECK (((length(client_id) >= 1) AND (length(client_id) <= 500))),
    CONSTRAINT identity_providers_client_secret_check CHECK (((length(client_secret) >= 1) AND (length(client_secret) <= 4000))),
    CONSTRAINT identity_providers_group_roles_check CHECK ((jsonb_typeof(group_roles) = 'object'::text)),
    CONSTRAINT identity_providers_groups_claim_check CHECK (((length(groups_claim) >= 1) AND (length(groups_claim) <= 200))),
    CONSTRAINT identity_providers_issuer_check CHECK (((length(issuer) >= 1) AND (length(issuer) <= 500))),
    CONSTRAINT identity_providers_kind_check CHECK ((kind = ANY (ARRAY['OIDC'::text, 'SAML'::text]))),
    CONSTRAINT identity_providers_name_check CHECK (((length(name) >= 1) AND (length(name) <= 60))),
    CONSTRAINT identity_providers_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'member'::text]))),
    CONSTRAINT identity_providers_sign_in_url_check CHECK (((length(sign_in_url) >= 1) AND (length(sign_in_url) <= 2000))),
    CONSTRAINT identity_providers_sign_out_url_check CHECK (((length(sign_out_url) >= 1) AND (length(sign_out_url) <= 2000)))
);

ALTER TABLE ONLY public.identity_providers FORCE ROW LEVEL SECURITY;

CREATE TABLE public.imports (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    kind text NOT NULL,
    added integer NOT NULL,
    updated integer NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    rolled_back_at timestamp with time zone,
    kept integer,
    CONSTRAINT imports_added_check CHECK ((added >= 0)),
    CONSTRAINT imports_check CHECK (((added + updated) > 0)),
    CONSTRAINT imports_check1 CHECK (((rolled_back_at IS NULL) = (kept IS NULL))),
    CONSTRAINT imports_kept_check CHECK ((kept >= 0)),
    CONSTRAINT imports_kind_check CHECK ((kind <> ''::text)),
    CONSTRAINT imports_updated_check CHECK ((updated >= 0))
);

ALTER TABLE ONLY public.imports FORCE ROW LEVEL SECURITY;

CREATE TABLE public.invitations (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    email text NOT NULL,
    role text NOT NULL,
    token_hash bytea NOT NULL,
    invited_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    accepted_at timestamp with time zone,
    revoked_at timestamp with time zone,
    invited_by_id public.typed_id,
    mailed_token_hash bytea,
    is_mailed boolean DEFAULT false NOT NULL,
    ends_on date,
    writable_registers text[],
    reads_audit_log boolean DEFAULT false NOT NULL,
    bulk_id public.typed_id,
    CONSTRAINT invitations_check CHECK (((accepted_at IS NULL) OR (revoked_at IS NULL))),
    CONSTRAINT invitations_email_check CHECK (((email = lower(email)) AND (email <> ''::text))),
    CONSTRAINT invitations_mailed_token_hash_check CHECK ((octet_length(mailed_token_hash) = 32)),
    CONSTRAINT invitations_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text, 'viewer'::text]))),
    CONSTRAINT invitations_token_hash_check CHECK ((octet_length(token_hash) = 32)),
    CONSTRAINT invitations_writable_registers_check CHECK (((cardinality(writable_registers) >= 1) AND (cardinality(writable_registers) <= 50)))
);

ALTER TABLE ONLY public.invitations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.last_backup (
    singleton boolean DEFAULT true NOT NULL,
    made_at timestamp with time zone NOT NULL,
    has_sound_logs boolean,
    CONSTRAINT last_backup_singleton_check CHECK (singleton)
);

ALTER TABLE ONLY public.last_backup FORCE ROW LEVEL SECURITY;

COMMENT ON COLUMN public.last_backup.has_sound_logs IS 'Whether the audit logs in the backup were found sound. Null means that they were not verified.';

CREATE TABLE public.last_retention (
    singleton boolean DEFAULT true NOT NULL,
    done_at timestamp with time zone NOT NULL,
    CONSTRAINT last_retention_singleton_check CHECK (singleton)
);

ALTER TABLE ONLY public.last_retention FORCE ROW LEVEL SECURITY;

CREATE TABLE public.mails (
    id public.typed_id NOT NULL,
    organization_id public.typed_id,
    kind text NOT NULL,
    invitation_id public.typed_id,
    user_id public.typed_id,
    state text DEFAULT 'QUEUED'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    is_link_made boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    due_at timestamp with time zone DEFAULT now(),
    sent_at timestamp with time zone,
    failure text,
    failure_text text,
    webhook_id public.typed_id,
    people_id public.typed_id,
    channel_id public.typed_id,
    event_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    further_events integer DEFAULT 0 NOT NULL,
    record_id public.typed_id,
    record_kind text,
    is_to_member boolean DEFAULT false NOT NULL,
    CONSTRAINT mails_channel_check CHECK (((kind = ANY (ARRAY['CHAT_GIVEN_UP'::text, 'EVENTS'::text, 'DEVICE_ALERT'::text, 'DEVICE_DIGEST'::text, 'OVERDUE_WORK'::text])) = (channel_id IS NOT NULL))),
    CONSTRAINT mails_check CHECK (((kind = 'INVITATION'::text) = (invitation_id IS NOT NULL))),
    CONSTRAINT mails_check1 CHECK (((kind <> 'ORGANIZATION_DELETION'::text) OR ((organization_id IS NOT NULL) AND (user_id IS NOT NULL)))),
    CONSTRAINT mails_check2 CHECK (((kind <> ALL (ARRAY['INVITATION'::text, 'TEST'::text])) OR (organization_id IS NOT NULL))),
    CONSTRAINT mails_check3 CHECK (((state = 'QUEUED'::text) = (due_at IS NOT NULL))),
    CONSTRAINT mails_check4 CHECK (((state = 'SENT'::text) = (sent_at IS NOT NULL))),
    CONSTRAINT mails_check5 CHECK (((kind = 'WEBHOOK_GIVEN_UP'::text) = (webhook_id IS NOT NULL))),
    CONSTRAINT mails_check6 CHECK (((kind <> 'EMERGENCY_SIGN_IN'::text) OR ((organization_id IS NOT NULL) AND (user_id IS NOT NULL)))),
    CONSTRAINT mails_check7 CHECK (((kind <> 'DOMAIN_RECORD'::text) OR ((organization_id IS NOT NULL) AND (user_id IS NOT NULL)))),
    CONSTRAINT mails_failure_check CHECK ((failure = ANY (ARRAY['CERTIFICATE'::text, 'LOGIN'::text, 'TLS'::text, 'CONNECTION'::text, 'RECIPIENT'::text, 'SENDER'::text, 'OTHER'::text]))),
    CONSTRAINT mails_failure_text_check CHECK ((length(failure_text) <= 500)),
    CONSTRAINT mails_kind_check CHECK ((kind = ANY (ARRAY['INVITATION'::text, 'PASSWORD_RESET'::text, 'JOIN_ATTEMPT'::text, 'TEST'::text, 'WEBHOOK_GIVEN_UP'::text, 'CHAT_GIVEN_UP'::text, 'MY_DEVICES'::text, 'EVENTS'::text, 'DEVICE_ALERT'::text, 'DEVICE_DIGEST'::text, 'OVERDUE_WORK'::text, 'COMMENTS'::text, 'DOCUMENT'::text, 'NEW_SIGN_IN'::text, 'ORGANIZATION_DELETION'::text, 'EMERGENCY_SIGN_IN'::text, 'DOMAIN_RECORD'::text, 'NEW_PASSKEY'::text]))),
    CONSTRAINT mails_people_check CHECK (((kind = ANY (ARRAY['MY_DEVICES'::text, 'DEVICE_ALERT'::text, 'DEVICE_DIGEST'::text, 'OVERDUE_WORK'::text, 'COMMENTS'::text, 'DOCUMENT'::text])) = (people_id IS NOT NULL))),
    CONSTRAINT mails_record_check CHECK ((((kind = ANY (ARRAY['COMMENTS'::text, 'DOCUMENT'::text])) = (record_id IS NOT NULL)) AND ((record_id IS NULL) = (record_kind IS NULL)))),
    CONSTRAINT mails_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'SENT'::text, 'FAILED'::text, 'NOT_NEEDED'::text]))),
    CONSTRAINT mails_user_check CHECK (((kind = ANY (ARRAY['INVITATION'::text, 'MY_DEVICES'::text, 'DEVICE_ALERT'::text, 'DEVICE_DIGEST'::text, 'OVERDUE_WORK'::text, 'COMMENTS'::text, 'DOCUMENT'::text])) = (user_id IS NULL)))
);

ALTER TABLE ONLY public.mails FORCE ROW LEVEL SECURITY;

CREATE TABLE public.maintenance (
    singleton boolean DEFAULT true NOT NULL,
    message text NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT maintenance_message_check CHECK (((length(message) >= 1) AND (length(message) <= 500))),
    CONSTRAINT maintenance_singleton_check CHECK (singleton)
);

ALTER TABLE ONLY public.maintenance FORCE ROW LEVEL SECURITY;

CREATE TABLE public.measures (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    category text NOT NULL,
    state text DEFAULT 'NOT_STARTED'::text NOT NULL,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description, category])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    category_key text GENERATED ALWAYS AS (public.sort_key(category)) STORED COLLATE pg_catalog."C",
    verified_by_check text COLLATE pg_catalog."C",
    verified_by_percent smallint DEFAULT 100 NOT NULL,
    archived_at timestamp with time zone,
    CONSTRAINT measures_name_check CHECK ((name <> ''::text)),
    CONSTRAINT measures_state_check CHECK ((state = ANY (ARRAY['NOT_STARTED'::text, 'IN_PROGRESS'::text, 'IMPLEMENTED'::text, 'NOT_APPLICABLE'::text]))),
    CONSTRAINT measures_verified_by_check_check CHECK (((verified_by_check <> ''::text) AND (length(verified_by_check) <= 200))),
    CONSTRAINT measures_verified_by_percent_check CHECK (((verified_by_percent >= 1) AND (verified_by_percent <= 100)))
);

ALTER TABLE ONLY public.measures FORCE ROW LEVEL SECURITY;

CREATE TABLE public.memberships (
    organization_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    role text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    ends_on date,
    writable_registers text[],
    reads_audit_log boolean DEFAULT false NOT NULL,
    CONSTRAINT memberships_check CHECK (((role <> 'admin'::text) OR (ends_on IS NULL))),
    CONSTRAINT memberships_check1 CHECK (((role = 'member'::text) OR (writable_registers IS NULL))),
    CONSTRAINT memberships_check2 CHECK (((role <> 'admin'::text) OR (NOT reads_audit_log))),
    CONSTRAINT memberships_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text, 'viewer'::text]))),
    CONSTRAINT memberships_writable_registers_check CHECK (((cardinality(writable_registers) >= 1) AND (cardinality(writable_registers) <= 50)))
);

ALTER TABLE ONLY public.memberships FORCE ROW LEVEL SECURITY;

CREATE TABLE public.migrations (
    version integer NOT NULL,
    name text NOT NULL,
    checksum text NOT NULL,
    applied_at timestamp with time zone DEFAULT now() NOT NULL
);

CREATE TABLE public.my_devices_links (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    people_id public.typed_id NOT NULL,
    token_hash bytea NOT NULL,
    is_copied boolean NOT NULL,
    copied_by_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    redeemed_at timestamp with time zone,
    session_hash bytea,
    session_ends_at timestamp with time zone,
    CONSTRAINT my_devices_links_check CHECK ((is_copied OR (copied_by_id IS NULL))),
    CONSTRAINT my_devices_links_check1 CHECK (((redeemed_at IS NULL) = (session_hash IS NULL))),
    CONSTRAINT my_devices_links_check2 CHECK (((redeemed_at IS NULL) = (session_ends_at IS NULL))),
    CONSTRAINT my_devices_links_session_hash_check CHECK ((octet_length(session_hash) = 32)),
    CONSTRAINT my_devices_links_token_hash_check CHECK ((octet_length(token_hash) = 32))
);

ALTER TABLE ONLY public.my_devices_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.nonconformities (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    reference_id text NOT NULL,
    description text,
    audit_id public.typed_id,
    date_identified date,
    root_cause text,
    corrective_action text,
    owner_id public.typed_id,
    due_date date,
    status text DEFAULT 'OPEN'::text NOT NULL,
    effectiveness_check text,
    severity text DEFAULT 'MINOR'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    reference_id_key text GENERATED ALWAYS AS (public.sort_key(reference_id)) STORED COLLATE pg_catalog."C",
    title text,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[reference_id, title, description, root_cause, corrective_action, effectiveness_check])) STORED NOT NULL,
    CONSTRAINT nonconformities_reference_id_check CHECK ((reference_id <> ''::text)),
    CONSTRAINT nonconformities_severity_check CHECK ((severity = ANY (ARRAY['MINOR'::text, 'MAJOR'::text]))),
    CONSTRAINT nonconformities_status_check CHECK ((status = ANY (ARRAY['OPEN'::text, 'IN_PROGRESS'::text, 'CLOSED'::text]))),
    CONSTRAINT nonconformities_title_check CHECK ((title <> ''::text))
);

ALTER TABLE ONLY public.nonconformities FORCE ROW LEVEL SECURITY;

CREATE TABLE public.nonconformity_devices (
    organization_id public.typed_id NOT NULL,
    "position" bigint DEFAULT (floor((random() * ('9007199254740991'::bigint)::double precision)))::bigint NOT NULL,
    nonconformity_id public.typed_id,
    check_key text NOT NULL COLLATE pg_catalog."C",
    device_id public.typed_id,
    since timestamp with time zone DEFAULT now() NOT NULL,
    failing_since timestamp with time zone NOT NULL,
    report_id public.typed_id NOT NULL,
    until timestamp with time zone,
    end_reason text,
    end_report_id public.typed_id,
    is_held boolean DEFAULT false NOT NULL,
    alert_mail_id public.typed_id,
    is_owner_new boolean DEFAULT false NOT NULL,
    CONSTRAINT nonconformity_devices_check CHECK (((until IS NULL) = (end_reason IS NULL))),
    CONSTRAINT nonconformity_devices_check1 CHECK (((NOT is_held) OR (until IS NOT NULL))),
    CONSTRAINT nonconformity_devices_check_key_check CHECK ((check_key <> ''::text)),
    CONSTRAINT nonconformity_devices_end_reason_check CHECK ((end_reason = ANY (ARRAY['PASSED'::text, 'NOT_APPLICABLE'::text, 'EXCEPTED'::text, 'REVOKED'::text, 'DEVICE_DELETED'::text, 'POLICY'::text, 'CLOSED'::text, 'DELETED'::text])))
);

ALTER TABLE ONLY public.nonconformity_devices FORCE ROW LEVEL SECURITY;

CREATE TABLE public.notification_channels (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    kind text NOT NULL,
    name text NOT NULL,
    sealed_address text,
    address_host text,
    event_types text[] DEFAULT '{}'::text[] NOT NULL,
    digest_weekday integer,
    next_digest_at timestamp with time zone,
    is_enabled boolean DEFAULT true NOT NULL,
    failing_since timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    unmailed_count integer DEFAULT 0 NOT NULL,
    unmailed_at timestamp with time zone,
    CONSTRAINT notification_channels_address_host_check CHECK ((length(address_host) <= 300)),
    CONSTRAINT notification_channels_check CHECK (((kind = ANY (ARRAY['SLACK'::text, 'TEAMS'::text])) = (sealed_address IS NOT NULL))),
    CONSTRAINT notification_channels_check1 CHECK (((sealed_address IS NULL) = (address_host IS NULL))),
    CONSTRAINT notification_channels_check2 CHECK (((kind = ANY (ARRAY['DEVICE_OWNERS'::text, 'OVERDUE_WORK'::text])) = (digest_weekday IS NOT NULL))),
    CONSTRAINT notification_channels_check3 CHECK (((digest_weekday IS NULL) = (next_digest_at IS NULL))),
    CONSTRAINT notification_channels_check4 CHECK (((unmailed_count > 0) = (unmailed_at IS NOT NULL))),
    CONSTRAINT notification_channels_digest_weekday_check CHECK (((digest_weekday >= 1) AND (digest_weekday <= 7))),
    CONSTRAINT notification_channels_kind_check CHECK ((kind = ANY (ARRAY['DEVICE_OWNERS'::text, 'OVERDUE_WORK'::text, 'ADMINISTRATORS'::text, 'SLACK'::text, 'TEAMS'::text]))),
    CONSTRAINT notification_channels_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT notification_channels_sealed_address_check CHECK ((length(sealed_address) <= 4000)),
    CONSTRAINT notification_channels_unmailed_count_check CHECK ((unmailed_count >= 0))
);

ALTER TABLE ONLY public.notification_channels FORCE ROW LEVEL SECURITY;

CREATE TABLE public.notification_messages (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    channel_id public.typed_id NOT NULL,
    is_test boolean DEFAULT false NOT NULL,
    event_ids bigint[] DEFAULT '{}'::bigint[] NOT NULL,
    further_events integer DEFAULT 0 NOT NULL,
    body text,
    state text DEFAULT 'QUEUED'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    due_at timestamp with time zone DEFAULT now(),
    delivered_at timestamp with time zone,
    attempted_at timestamp with time zone,
    duration_ms integer,
    answer_status integer,
    answer text,
    failure text,
    CONSTRAINT notification_messages_answer_check CHECK ((length(answer) <= 1000)),
    CONSTRAINT notification_messages_check CHECK (((state = 'QUEUED'::text) = (due_at IS NOT NULL))),
    CONSTRAINT notification_messages_check1 CHECK (((state = 'DELIVERED'::text) = (delivered_at IS NOT NULL))),
    CONSTRAINT notification_messages_failure_check CHECK ((length(failure) <= 500)),
    CONSTRAINT notification_messages_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'DELIVERED'::text, 'FAILED'::text])))
);

ALTER TABLE ONLY public.notification_messages FORCE ROW LEVEL SECURITY;

CREATE TABLE public.notification_stops (
    organization_id public.typed_id NOT NULL,
    people_id public.typed_id NOT NULL,
    kind text NOT NULL,
    stopped_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT notification_stops_kind_check CHECK ((kind = ANY (ARRAY['DEVICE_DIGEST'::text, 'OVERDUE_WORK'::text, 'COMMENTS'::text])))
);

ALTER TABLE ONLY public.notification_stops FORCE ROW LEVEL SECURITY;

CREATE TABLE public.oauth_clients (
    id text NOT NULL,
    name text NOT NULL,
    redirect_uris text[] NOT NULL,
    is_registered boolean NOT NULL,
    known_at timestamp with time zone DEFAULT now() NOT NULL,
    used_at timestamp with time zone,
    CONSTRAINT oauth_clients_id_check CHECK (((octet_length(id) >= 1) AND (octet_length(id) <= 2000))),
    CONSTRAINT oauth_clients_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT oauth_clients_redirect_uris_check CHECK (((cardinality(redirect_uris) >= 1) AND (cardinality(redirect_uris) <= 20)))
);

ALTER TABLE ONLY public.oauth_clients FORCE ROW LEVEL SECURITY;

CREATE TABLE public.obligations (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    source text,
    area text,
    requirement text NOT NULL,
    actions_to_be_implemented text,
    regulator text,
    type text DEFAULT 'LEGAL'::text NOT NULL,
    owner_id public.typed_id,
    last_review_date date,
    due_date date,
    status text DEFAULT 'NON_COMPLIANT'::text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[source, area, requirement, actions_to_be_implemented, regulator])) STORED NOT NULL,
    requirement_key text GENERATED ALWAYS AS (public.sort_key(requirement)) STORED COLLATE pg_catalog."C",
    next_review_date date,
    CONSTRAINT obligations_requirement_check CHECK ((requirement <> ''::text)),
    CONSTRAINT obligations_status_check CHECK ((status = ANY (ARRAY['NON_COMPLIANT'::text, 'PARTIALLY_COMPLIANT'::text, 'COMPLIANT'::text]))),
    CONSTRAINT obligations_type_check CHECK ((type = ANY (ARRAY['LEGAL'::text, 'CONTRACTUAL'::text])))
);

ALTER TABLE ONLY public.obligations FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organization_closures (
    organization_id public.typed_id NOT NULL,
    kind text NOT NULL,
    reason text NOT NULL,
    began_at timestamp with time zone DEFAULT now() NOT NULL,
    delete_after timestamp with time zone,
    CONSTRAINT organization_closures_check CHECK (((kind = 'DELETION'::text) = (delete_after IS NOT NULL))),
    CONSTRAINT organization_closures_kind_check CHECK ((kind = ANY (ARRAY['SUSPENDED'::text, 'DELETION'::text]))),
    CONSTRAINT organization_closures_reason_check CHECK (((length(reason) >= 1) AND (length(reason) <= 500)))
);

ALTER TABLE ONLY public.organization_closures FORCE ROW LEVEL SECURITY;

CREATE TABLE public.organization_domains (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    domain text NOT NULL,
    challenge text NOT NULL,
    verified_by text,
    verified_at timestamp with time zone,
    missing_since timestamp with time zone,
    check_requested_at timestamp with time zone,
    next_check_at timestamp with time zone,
    checked_at timestamp with time zone,
    failure text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT organization_domains_challenge_check CHECK (((length(challenge) >= 20) AND (length(challenge) <= 100))),
    CONSTRAINT organization_domains_check CHECK (((verified_by IS NULL) = (verified_at IS NULL))),
    CONSTRAINT organization_domains_check1 CHECK (((missing_since IS NULL) OR (verified_by = 'DNS'::text))),
    CONSTRAINT organization_domains_domain_check CHECK (((domain = lower(domain)) AND ((length(domain) >= 3) AND (length(domain) <= 253)))),
    CONSTRAINT organization_domains_failure_check CHECK ((failure = ANY (ARRAY['NOT_FOUND'::text, 'OTHER_VALUE'::text, 'NO_ANSWER'::text, 'TAKEN'::text]))),
    CONSTRAINT organization_domains_verified_by_check CHECK ((verified_by = ANY (ARRAY['DNS'::text, 'OPERATOR'::text])))
);

ALTER TABLE ONLY public.organization_domains FORCE ROW LEVEL SECURITY;

CREATE TABLE public.passkeys (
    id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    rp_id text NOT NULL,
    credential_id bytea NOT NULL,
    public_key bytea NOT NULL,
    counter bigint DEFAULT 0 NOT NULL,
    transports text[] DEFAULT '{}'::text[] NOT NULL,
    name text NOT NULL,
    can_sign_in boolean NOT NULL,
    is_synced boolean NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    last_used_at timestamp with time zone,
    CONSTRAINT passkeys_counter_check CHECK ((counter >= 0)),
    CONSTRAINT passkeys_credential_id_check CHECK (((octet_length(credential_id) >= 1) AND (octet_length(credential_id) <= 1023))),
    CONSTRAINT passkeys_name_check CHECK (((name <> ''::text) AND (length(name) <= 100))),
    CONSTRAINT passkeys_public_key_check CHECK (((octet_length(public_key) >= 1) AND (octet_length(public_key) <= 4096))),
    CONSTRAINT passkeys_rp_id_check CHECK (((rp_id <> ''::text) AND (length(rp_id) <= 253))),
    CONSTRAINT passkeys_transports_check CHECK ((cardinality(transports) <= 10))
);

ALTER TABLE ONLY public.passkeys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.people (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    full_name text NOT NULL,
    primary_email_address text NOT NULL,
    additional_email_addresses text[] DEFAULT '{}'::text[] NOT NULL,
    kind text NOT NULL,
    "position" text,
    contract_start_date date,
    contract_end_date date,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC (ARRAY[full_name, primary_email_address, "position"] || additional_email_addresses))) STORED NOT NULL,
    full_name_key text GENERATED ALWAYS AS (public.sort_key(full_name)) STORED COLLATE pg_catalog."C",
    primary_email_address_key text GENERATED ALWAYS AS (public.sort_key(primary_email_address)) STORED COLLATE pg_catalog."C",
    CONSTRAINT people_check CHECK ((contract_start_date <= contract_end_date)),
    CONSTRAINT people_full_name_check CHECK ((full_name <> ''::text)),
    CONSTRAINT people_kind_check CHECK ((kind = ANY (ARRAY['EMPLOYEE'::text, 'CONTRACTOR'::text, 'SERVICE_ACCOUNT'::text])))
);

ALTER TABLE ONLY public.people FORCE ROW LEVEL SECURITY;

CREATE TABLE public.posture_report_changes (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    month date NOT NULL
);

ALTER TABLE ONLY public.posture_report_changes FORCE ROW LEVEL SECURITY;

CREATE TABLE public.posture_reports (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    report_id public.typed_id NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    results jsonb NOT NULL,
    CONSTRAINT posture_reports_results_check CHECK ((jsonb_typeof(results) = 'array'::text))
)
PARTITION BY RANGE (received_at);

ALTER TABLE ONLY public.posture_reports FORCE ROW LEVEL SECURITY;

CREATE TABLE public.posture_reports_default (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    report_id public.typed_id NOT NULL,
    received_at timestamp with time zone DEFAULT now() NOT NULL,
    results jsonb NOT NULL,
    CONSTRAINT posture_reports_results_check CHECK ((jsonb_typeof(results) = 'array'::text))
);

ALTER TABLE ONLY public.posture_reports_default FORCE ROW LEVEL SECURITY;

CREATE TABLE public.posture_spans (
    organization_id public.typed_id NOT NULL,
    device_id public.typed_id NOT NULL,
    check_key text NOT NULL COLLATE pg_catalog."C",
    since timestamp with time zone NOT NULL,
    last_observed_at timestamp with time zone NOT NULL,
    status text NOT NULL,
    first_report_id public.typed_id NOT NULL,
    last_report_id public.typed_id NOT NULL,
    is_current boolean NOT NULL,
    CONSTRAINT posture_spans_check CHECK ((since <= last_observed_at)),
    CONSTRAINT posture_spans_check_key_check CHECK ((check_key <> ''::text)),
    CONSTRAINT posture_spans_status_check CHECK ((status = ANY (ARRAY['PASS'::text, 'FAIL'::text, 'UNKNOWN'::text, 'NOT_APPLICABLE'::text])))
)
WITH (fillfactor='70');

ALTER TABLE ONLY public.posture_spans FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_comments (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    record_id public.typed_id NOT NULL,
    record_kind text NOT NULL,
    author_id public.typed_id NOT NULL,
    author_name text NOT NULL,
    text text NOT NULL,
    mentioned_ids text[] DEFAULT '{}'::text[] NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    edited_at timestamp with time zone,
    CONSTRAINT record_comments_mentioned_ids_check CHECK ((cardinality(mentioned_ids) <= 20)),
    CONSTRAINT record_comments_text_check CHECK (((text <> ''::text) AND (char_length(text) <= 5000)))
);

ALTER TABLE ONLY public.record_comments FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_links (
    organization_id public.typed_id NOT NULL,
    first_id public.typed_id NOT NULL,
    second_id public.typed_id NOT NULL,
    first_kind text NOT NULL,
    second_kind text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT record_links_check CHECK (((first_id)::text < (second_id)::text))
);

ALTER TABLE ONLY public.record_links FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_versions (
    organization_id public.typed_id NOT NULL,
    register text NOT NULL,
    record_id public.typed_id NOT NULL,
    other_id public.typed_id,
    valid_from timestamp with time zone NOT NULL,
    valid_to timestamp with time zone NOT NULL,
    fields jsonb NOT NULL,
    CONSTRAINT record_versions_check CHECK ((valid_from < valid_to))
);

ALTER TABLE ONLY public.record_versions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.record_watches (
    organization_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    record_id public.typed_id NOT NULL,
    record_kind text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.record_watches FORCE ROW LEVEL SECURITY;

CREATE TABLE public.reference_counters (
    organization_id public.typed_id NOT NULL,
    register text NOT NULL,
    last integer NOT NULL
);

ALTER TABLE ONLY public.reference_counters FORCE ROW LEVEL SECURITY;

CREATE TABLE public.revoked_device_keys (
    organization_id public.typed_id NOT NULL,
    key_hash bytea NOT NULL,
    CONSTRAINT revoked_device_keys_key_hash_check CHECK ((octet_length(key_hash) = 32))
);

ALTER TABLE ONLY public.revoked_device_keys FORCE ROW LEVEL SECURITY;

CREATE TABLE public.risks (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    category text NOT NULL,
    treatment text NOT NULL,
    inherent_likelihood smallint NOT NULL,
    inherent_impact smallint NOT NULL,
    residual_likelihood smallint NOT NULL,
    residual_impact smallint NOT NULL,
    inherent_risk_score smallint GENERATED ALWAYS AS ((inherent_likelihood * inherent_impact)) STORED NOT NULL,
    residual_risk_score smallint GENERATED ALWAYS AS ((residual_likelihood * residual_impact)) STORED NOT NULL,
    note text,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description, category, note])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    category_key text GENERATED ALWAYS AS (public.sort_key(category)) STORED COLLATE pg_catalog."C",
    archived_at timestamp with time zone,
    next_review_date date,
    accepted_until date,
    CONSTRAINT risks_inherent_impact_check CHECK (((inherent_impact >= 1) AND (inherent_impact <= 5))),
    CONSTRAINT risks_inherent_likelihood_check CHECK (((inherent_likelihood >= 1) AND (inherent_likelihood <= 5))),
    CONSTRAINT risks_name_check CHECK ((name <> ''::text)),
    CONSTRAINT risks_residual_impact_check CHECK (((residual_impact >= 1) AND (residual_impact <= 5))),
    CONSTRAINT risks_residual_likelihood_check CHECK (((residual_likelihood >= 1) AND (residual_likelihood <= 5))),
    CONSTRAINT risks_treatment_check CHECK ((treatment = ANY (ARRAY['MITIGATED'::text, 'ACCEPTED'::text, 'AVOIDED'::text, 'TRANSFERRED'::text])))
);

ALTER TABLE ONLY public.risks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.saved_views (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    list text NOT NULL,
    name text NOT NULL,
    search jsonb NOT NULL,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT saved_views_list_check CHECK (((list <> ''::text) AND (length(list) <= 100))),
    CONSTRAINT saved_views_name_check CHECK (((length(name) >= 1) AND (length(name) <= 100))),
    CONSTRAINT saved_views_search_check CHECK (((jsonb_typeof(search) = 'object'::text) AND (length((search)::text) <= 20000)))
);

ALTER TABLE ONLY public.saved_views FORCE ROW LEVEL SECURITY;

CREATE TABLE public.scim_credentials (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    secret_hash bytea NOT NULL,
    created_by text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    revoked_at timestamp with time zone,
    last_used_at timestamp with time zone,
    last_used_address text,
    CONSTRAINT scim_credentials_created_by_check CHECK (((length(created_by) >= 1) AND (length(created_by) <= 1000))),
    CONSTRAINT scim_credentials_last_used_address_check CHECK ((length(last_used_address) <= 100)),
    CONSTRAINT scim_credentials_name_check CHECK (((length(name) >= 1) AND (length(name) <= 200))),
    CONSTRAINT scim_credentials_secret_hash_check CHECK ((octet_length(secret_hash) = 32))
);

ALTER TABLE ONLY public.scim_credentials FORCE ROW LEVEL SECURITY;

CREATE TABLE public.scim_group_members (
    organization_id public.typed_id NOT NULL,
    group_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL
);

ALTER TABLE ONLY public.scim_group_members FORCE ROW LEVEL SECURITY;

CREATE TABLE public.scim_groups (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    display_name text NOT NULL,
    display_name_key text GENERATED ALWAYS AS (lower(display_name)) STORED NOT NULL,
    external_id text,
    role text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT scim_groups_display_name_check CHECK (((length(display_name) >= 1) AND (length(display_name) <= 320))),
    CONSTRAINT scim_groups_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 320))),
    CONSTRAINT scim_groups_role_check CHECK ((role = ANY (ARRAY['admin'::text, 'member'::text, 'viewer'::text])))
);

ALTER TABLE ONLY public.scim_groups FORCE ROW LEVEL SECURITY;

CREATE TABLE public.scim_requests (
    organization_id public.typed_id NOT NULL,
    id uuid DEFAULT gen_random_uuid() NOT NULL,
    credential_id public.typed_id NOT NULL,
    at timestamp with time zone DEFAULT now() NOT NULL,
    method text NOT NULL,
    path text NOT NULL,
    status integer NOT NULL,
    detail text,
    CONSTRAINT scim_requests_detail_check CHECK ((length(detail) <= 1000)),
    CONSTRAINT scim_requests_method_check CHECK ((length(method) <= 10)),
    CONSTRAINT scim_requests_path_check CHECK ((length(path) <= 200))
);

ALTER TABLE ONLY public.scim_requests FORCE ROW LEVEL SECURITY;

CREATE TABLE public.scim_users (
    organization_id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    user_name text NOT NULL,
    user_name_key text GENERATED ALWAYS AS (lower(user_name)) STORED NOT NULL,
    external_id text,
    is_active boolean NOT NULL,
    attributes jsonb DEFAULT '{}'::jsonb NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT scim_users_attributes_check CHECK ((pg_column_size(attributes) <= 16384)),
    CONSTRAINT scim_users_external_id_check CHECK (((length(external_id) >= 1) AND (length(external_id) <= 320))),
    CONSTRAINT scim_users_user_name_check CHECK (((length(user_name) >= 1) AND (length(user_name) <= 320)))
);

ALTER TABLE ONLY public.scim_users FORCE ROW LEVEL SECURITY;

CREATE TABLE public.sessions (
    id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    token text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    ip_address text,
    user_agent text,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    proved_at timestamp with time zone DEFAULT now() NOT NULL,
    provider text,
    last_used_at timestamp with time zone DEFAULT now() NOT NULL,
    last_address text,
    last_user_agent text,
    longest_idle interval DEFAULT '00:00:00'::interval NOT NULL,
    passkey_id public.typed_id,
    identity_provider_id public.typed_id,
    CONSTRAINT sessions_provider_check CHECK (((provider <> ''::text) AND (length(provider) <= 500)))
);

ALTER TABLE ONLY public.sessions FORCE ROW LEVEL SECURITY;

CREATE TABLE public.sign_in_failures (
    email_hash bytea NOT NULL,
    failures integer NOT NULL,
    since timestamp with time zone NOT NULL,
    ends_at timestamp with time zone DEFAULT (now() + '00:15:00'::interval) NOT NULL,
    CONSTRAINT sign_in_failures_email_hash_check CHECK ((octet_length(email_hash) = 32))
);

ALTER TABLE ONLY public.sign_in_failures FORCE ROW LEVEL SECURITY;

CREATE TABLE public.sign_in_places (
    user_id public.typed_id NOT NULL,
    browser text NOT NULL,
    network text NOT NULL,
    address text,
    first_at timestamp with time zone DEFAULT now() NOT NULL,
    last_at timestamp with time zone DEFAULT now() NOT NULL,
    mail_id public.typed_id,
    is_untold boolean DEFAULT false NOT NULL,
    CONSTRAINT sign_in_places_address_check CHECK ((length(address) <= 60)),
    CONSTRAINT sign_in_places_browser_check CHECK ((length(browser) <= 100)),
    CONSTRAINT sign_in_places_network_check CHECK ((length(network) <= 60))
);

ALTER TABLE ONLY public.sign_in_places FORCE ROW LEVEL SECURITY;

CREATE TABLE public.sign_in_rules (
    organization_id public.typed_id NOT NULL,
    since timestamp with time zone DEFAULT now() NOT NULL,
    accepts_older_tokens boolean DEFAULT true NOT NULL
);

ALTER TABLE ONLY public.sign_in_rules FORCE ROW LEVEL SECURITY;

CREATE TABLE public.silence_limits (
    organization_id public.typed_id NOT NULL,
    policy_id public.typed_id,
    valid_until timestamp with time zone NOT NULL,
    max_silence_days integer
);

ALTER TABLE ONLY public.silence_limits FORCE ROW LEVEL SECURITY;

CREATE TABLE public.snapshot_records (
    organization_id public.typed_id NOT NULL,
    snapshot_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    kind text NOT NULL,
    name text DEFAULT ''::text NOT NULL,
    fields jsonb NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C"
);

ALTER TABLE ONLY public.snapshot_records FORCE ROW LEVEL SECURITY;

CREATE TABLE public.snapshots (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    type text NOT NULL,
    description text,
    taken_by_id public.typed_id,
    taken_by_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    counts jsonb DEFAULT '{}'::jsonb NOT NULL,
    sha256 bytea NOT NULL,
    sha256_after_erasure bytea,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description])) STORED NOT NULL,
    CONSTRAINT snapshots_description_check CHECK ((char_length(description) <= 5000)),
    CONSTRAINT snapshots_name_check CHECK ((name <> ''::text)),
    CONSTRAINT snapshots_sha256_after_erasure_check CHECK ((octet_length(sha256_after_erasure) = 32)),
    CONSTRAINT snapshots_sha256_check CHECK ((octet_length(sha256) = 32))
);

ALTER TABLE ONLY public.snapshots FORCE ROW LEVEL SECURITY;

CREATE TABLE public.tasks (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    state text DEFAULT 'TODO'::text NOT NULL,
    priority text DEFAULT 'URGENT'::text NOT NULL,
    measure_id public.typed_id,
    assigned_to_id public.typed_id,
    deadline date,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC ARRAY[name, description])) STORED NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    CONSTRAINT tasks_name_check CHECK ((name <> ''::text)),
    CONSTRAINT tasks_priority_check CHECK ((priority = ANY (ARRAY['URGENT'::text, 'HIGH'::text, 'MEDIUM'::text, 'LOW'::text]))),
    CONSTRAINT tasks_state_check CHECK ((state = ANY (ARRAY['TODO'::text, 'IN_PROGRESS'::text, 'DONE'::text])))
);

ALTER TABLE ONLY public.tasks FORCE ROW LEVEL SECURITY;

CREATE TABLE public.trend_points (
    organization_id public.typed_id NOT NULL,
    at timestamp with time zone NOT NULL,
    risks integer NOT NULL,
    residual_risk double precision,
    overdue integer NOT NULL,
    CONSTRAINT trend_points_check CHECK (((residual_risk IS NULL) = (risks = 0))),
    CONSTRAINT trend_points_overdue_check CHECK ((overdue >= 0)),
    CONSTRAINT trend_points_risks_check CHECK ((risks >= 0))
);

ALTER TABLE ONLY public.trend_points FORCE ROW LEVEL SECURITY;

CREATE TABLE public.two_factors (
    id public.typed_id NOT NULL,
    user_id public.typed_id NOT NULL,
    secret text NOT NULL,
    backup_codes text NOT NULL,
    verified boolean DEFAULT true NOT NULL,
    failed_verification_count integer DEFAULT 0 NOT NULL,
    locked_until timestamp with time zone
);

ALTER TABLE ONLY public.two_factors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.unknown_key_wait (
    singleton boolean DEFAULT true NOT NULL,
    waits_until timestamp with time zone,
    held_device boolean DEFAULT false NOT NULL,
    CONSTRAINT unknown_key_wait_singleton_check CHECK (singleton)
);

ALTER TABLE ONLY public.unknown_key_wait FORCE ROW LEVEL SECURITY;

CREATE TABLE public.users (
    id public.typed_id NOT NULL,
    name text NOT NULL,
    email text NOT NULL,
    email_verified boolean DEFAULT false NOT NULL,
    image text,
    two_factor_enabled boolean DEFAULT false NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    address_proof text,
    CONSTRAINT users_address_proof_check CHECK ((address_proof = ANY (ARRAY['ASSUMED'::text, 'COMMAND'::text, 'LINK'::text]))),
    CONSTRAINT users_email_check CHECK (((email = lower(email)) AND (email <> ''::text))),
    CONSTRAINT users_name_check CHECK ((name <> ''::text))
);

ALTER TABLE ONLY public.users FORCE ROW LEVEL SECURITY;

CREATE TABLE public.vendor_reviews (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    vendor_id public.typed_id NOT NULL,
    reviewed_on date NOT NULL,
    outcome text NOT NULL,
    risk_rating text NOT NULL,
    note text,
    next_review_date date,
    evidence_ids text[] DEFAULT '{}'::text[] NOT NULL,
    reviewer_id public.typed_id,
    reviewer_name text NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT vendor_reviews_check CHECK ((next_review_date > reviewed_on)),
    CONSTRAINT vendor_reviews_evidence_ids_check CHECK ((cardinality(evidence_ids) <= 20)),
    CONSTRAINT vendor_reviews_note_check CHECK ((char_length(note) <= 5000)),
    CONSTRAINT vendor_reviews_outcome_check CHECK ((outcome = ANY (ARRAY['APPROVED'::text, 'APPROVED_WITH_CONDITIONS'::text, 'REJECTED'::text]))),
    CONSTRAINT vendor_reviews_risk_rating_check CHECK ((risk_rating = ANY (ARRAY['NOT_RATED'::text, 'LOW'::text, 'MEDIUM'::text, 'HIGH'::text, 'CRITICAL'::text])))
);

ALTER TABLE ONLY public.vendor_reviews FORCE ROW LEVEL SECURITY;

CREATE TABLE public.vendors (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    name text NOT NULL,
    description text,
    category text DEFAULT 'OTHER'::text NOT NULL,
    legal_name text,
    website_url text,
    privacy_policy_url text,
    dpa_url text,
    security_page_url text,
    status_page_url text,
    certifications text[] DEFAULT '{}'::text[] NOT NULL,
    countries text[] DEFAULT '{}'::text[] NOT NULL,
    owner_id public.typed_id,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    name_key text GENERATED ALWAYS AS (public.sort_key(name)) STORED COLLATE pg_catalog."C",
    contract_start_date date,
    contract_end_date date,
    renewal_notice_date date,
    agreement_status text DEFAULT 'NONE'::text NOT NULL,
    agreement_signed_on date,
    risk_rating text DEFAULT 'NOT_RATED'::text NOT NULL,
    last_review_date date,
    next_review_date date,
    services text[] DEFAULT '{}'::text[] NOT NULL,
    data_categories text[] DEFAULT '{}'::text[] NOT NULL,
    subprocessors text[] DEFAULT '{}'::text[] NOT NULL,
    contacts text[] DEFAULT '{}'::text[] NOT NULL,
    archived_at timestamp with time zone,
    search_text text GENERATED ALWAYS AS (public.search_text(VARIADIC (((((ARRAY[name, description, legal_name, website_url] || certifications) || services) || data_categories) || subprocessors) || contacts))) STORED NOT NULL,
    CONSTRAINT vendors_agreement_status_check CHECK ((agreement_status = ANY (ARRAY['NONE'::text, 'REQUESTED'::text, 'SIGNED'::text, 'NOT_NEEDED'::text]))),
    CONSTRAINT vendors_category_check CHECK ((category = ANY (ARRAY['ANALYTICS'::text, 'CLOUD_MONITORING'::text, 'CLOUD_PROVIDER'::text, 'COLLABORATION'::text, 'CUSTOMER_SUPPORT'::text, 'DATA_STORAGE_AND_PROCESSING'::text, 'DOCUMENT_MANAGEMENT'::text, 'EMPLOYEE_MANAGEMENT'::text, 'ENGINEERING'::text, 'FINANCE'::text, 'IDENTITY_PROVIDER'::text, 'IT'::text, 'MARKETING'::text, 'OFFICE_OPERATIONS'::text, 'OTHER'::text, 'PASSWORD_MANAGEMENT'::text, 'PRODUCT_AND_DESIGN'::text, 'PROFESSIONAL_SERVICES'::text, 'RECRUITING'::text, 'SALES'::text, 'SECURITY'::text, 'VERSION_CONTROL'::text]))),
    CONSTRAINT vendors_contract_dates CHECK ((contract_start_date <= contract_end_date)),
    CONSTRAINT vendors_name_check CHECK ((name <> ''::text)),
    CONSTRAINT vendors_risk_rating_check CHECK ((risk_rating = ANY (ARRAY['NOT_RATED'::text, 'LOW'::text, 'MEDIUM'::text, 'HIGH'::text, 'CRITICAL'::text])))
);

ALTER TABLE ONLY public.vendors FORCE ROW LEVEL SECURITY;

CREATE TABLE public.verifications (
    id public.typed_id NOT NULL,
    identifier text NOT NULL,
    value text NOT NULL,
    expires_at timestamp with time zone NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL
);

ALTER TABLE ONLY public.verifications FORCE ROW LEVEL SECURITY;

CREATE TABLE public.webhook_deliveries (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    webhook_id public.typed_id NOT NULL,
    event_type text NOT NULL,
    record_id public.typed_id NOT NULL,
    body text NOT NULL,
    state text DEFAULT 'QUEUED'::text NOT NULL,
    attempts integer DEFAULT 0 NOT NULL,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    "position" bigint NOT NULL,
    due_at timestamp with time zone DEFAULT now(),
    delivered_at timestamp with time zone,
    attempted_at timestamp with time zone,
    duration_ms integer,
    answer_status integer,
    answer text,
    failure text,
    CONSTRAINT webhook_deliveries_answer_check CHECK ((length(answer) <= 1000)),
    CONSTRAINT webhook_deliveries_check CHECK (((state = 'QUEUED'::text) = (due_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_check1 CHECK (((state = 'DELIVERED'::text) = (delivered_at IS NOT NULL))),
    CONSTRAINT webhook_deliveries_failure_check CHECK ((length(failure) <= 500)),
    CONSTRAINT webhook_deliveries_state_check CHECK ((state = ANY (ARRAY['QUEUED'::text, 'DELIVERED'::text, 'FAILED'::text])))
);

ALTER TABLE ONLY public.webhook_deliveries FORCE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_deliveries ALTER COLUMN "position" ADD GENERATED ALWAYS AS IDENTITY (
    SEQUENCE NAME public.webhook_deliveries_position_seq
    START WITH 1
    INCREMENT BY 1
    NO MINVALUE
    NO MAXVALUE
    CACHE 1
);

CREATE TABLE public.webhooks (
    organization_id public.typed_id NOT NULL,
    id public.typed_id NOT NULL,
    url text NOT NULL,
    description text,
    event_types text[] NOT NULL,
    is_enabled boolean DEFAULT true NOT NULL,
    secret_version integer DEFAULT 1 NOT NULL,
    previous_secret_until timestamp with time zone,
    failing_since timestamp with time zone,
    given_up_at timestamp with time zone,
    created_at timestamp with time zone DEFAULT now() NOT NULL,
    updated_at timestamp with time zone DEFAULT now() NOT NULL,
    CONSTRAINT webhooks_description_check CHECK ((length(description) <= 1000)),
    CONSTRAINT webhooks_event_types_check CHECK ((cardinality(event_types) > 0)),
    CONSTRAINT webhooks_url_check CHECK (((length(url) >= 1) AND (length(url) <= 2000)))
);

ALTER TABLE ONLY public.webhooks FORCE ROW LEVEL SECURITY;

ALTER TABLE ONLY public.posture_reports ATTACH PARTITION public.posture_reports_default DEFAULT;

ALTER TABLE ONLY public.account_links
    ADD CONSTRAINT account_links_pkey PRIMARY KEY (token_hash);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_provider_id_account_id_key UNIQUE (provider_id, account_id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.applicability_statements
    ADD CONSTRAINT applicability_statements_organization_id_framework_id_versi_key UNIQUE (organization_id, framework_id, version_number);

ALTER TABLE ONLY public.applicability_statements
    ADD CONSTRAINT applicability_statements_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.archive_changes
    ADD CONSTRAINT archive_changes_pkey PRIMARY KEY (organization_id, month, device_id);

ALTER TABLE ONLY public.archive_files
    ADD CONSTRAINT archive_files_pkey PRIMARY KEY (organization_id, month, part);

ALTER TABLE ONLY public.archive_leftovers
    ADD CONSTRAINT archive_leftovers_pkey PRIMARY KEY (name);

ALTER TABLE ONLY public.archived_months
    ADD CONSTRAINT archived_months_pkey PRIMARY KEY (month);

ALTER TABLE ONLY public.asset_vendors
    ADD CONSTRAINT asset_vendors_pkey PRIMARY KEY (organization_id, asset_id, vendor_id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.audit_sealing
    ADD CONSTRAINT audit_sealing_pkey PRIMARY KEY (is_only_row);

ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_entry_key UNIQUE (organization_id, entry_id);

ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_pkey PRIMARY KEY (organization_id, sequence);

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.check_count_days
    ADD CONSTRAINT check_count_days_pkey PRIMARY KEY (organization_id, day);

ALTER TABLE ONLY public.check_nonconformities
    ADD CONSTRAINT check_nonconformities_pkey PRIMARY KEY (organization_id, nonconformity_id);

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_code_hash_key UNIQUE (code_hash);

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_former_refresh_hash_key UNIQUE (former_refresh_hash);

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_pkey PRIMARY KEY (token_id);

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_refresh_hash_key UNIQUE (refresh_hash);

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_refresh_start_hash_key UNIQUE (refresh_start_hash);

ALTER TABLE ONLY public.continual_improvements
    ADD CONSTRAINT continual_improvements_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.continual_improvements
    ADD CONSTRAINT continual_improvements_reference_id_key UNIQUE (organization_id, reference_id);

ALTER TABLE ONLY public.controls
    ADD CONSTRAINT controls_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.data
    ADD CONSTRAINT data_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.datum_vendors
    ADD CONSTRAINT datum_vendors_pkey PRIMARY KEY (organization_id, datum_id, vendor_id);

ALTER TABLE ONLY public.deleted_organizations
    ADD CONSTRAINT deleted_organizations_pkey PRIMARY KEY (number);

ALTER TABLE ONLY public.device_check_keys
    ADD CONSTRAINT device_check_keys_pkey PRIMARY KEY (organization_id, device_id, check_key);

ALTER TABLE ONLY public.device_check_rules
    ADD CONSTRAINT device_check_rules_pkey PRIMARY KEY (organization_id, check_key, valid_from);

ALTER TABLE ONLY public.device_conflicts
    ADD CONSTRAINT device_conflicts_pkey PRIMARY KEY (organization_id, device_id, kind);

ALTER TABLE ONLY public.device_exception_members
    ADD CONSTRAINT device_exception_members_pkey PRIMARY KEY (organization_id, exception_id, device_id, since);

ALTER TABLE ONLY public.device_exceptions
    ADD CONSTRAINT device_exceptions_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.device_group_members
    ADD CONSTRAINT device_group_members_pkey PRIMARY KEY (organization_id, group_id, device_id);

ALTER TABLE ONLY public.device_group_policies
    ADD CONSTRAINT device_group_policies_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.device_group_policy_rules
    ADD CONSTRAINT device_group_policy_rules_pkey PRIMARY KEY (organization_id, policy_id, check_key, valid_from);

ALTER TABLE ONLY public.device_group_policy_spans
    ADD CONSTRAINT device_group_policy_spans_pkey PRIMARY KEY (organization_id, device_id, since);

ALTER TABLE ONLY public.device_groups
    ADD CONSTRAINT device_groups_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.device_policies
    ADD CONSTRAINT device_policies_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.device_silences
    ADD CONSTRAINT device_silences_pkey PRIMARY KEY (organization_id, device_id, since);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_key_hash_key UNIQUE (key_hash);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.document_approvals
    ADD CONSTRAINT document_approvals_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.document_approvers
    ADD CONSTRAINT document_approvers_pkey PRIMARY KEY (organization_id, document_id, person_id);

ALTER TABLE ONLY public.document_signatures
    ADD CONSTRAINT document_signatures_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.document_versions
    ADD CONSTRAINT document_versions_organization_id_document_id_version_numbe_key UNIQUE (organization_id, document_id, version_number);

ALTER TABLE ONLY public.document_versions
    ADD CONSTRAINT document_versions_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.emergency_members
    ADD CONSTRAINT emergency_members_pkey PRIMARY KEY (organization_id, user_id);

ALTER TABLE ONLY public.emergency_sign_ins
    ADD CONSTRAINT emergency_sign_ins_pkey PRIMARY KEY (organization_id, session_id);

ALTER TABLE ONLY public.enrollment_keys
    ADD CONSTRAINT enrollment_keys_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.enrollment_keys
    ADD CONSTRAINT enrollment_keys_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.enrollment_tokens
    ADD CONSTRAINT enrollment_tokens_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.enrollment_tokens
    ADD CONSTRAINT enrollment_tokens_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.evidence_files
    ADD CONSTRAINT evidence_files_pkey PRIMARY KEY (organization_id, evidence_id);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.file_chunks
    ADD CONSTRAINT file_chunks_pkey PRIMARY KEY (organization_id, sha256, place);

ALTER TABLE ONLY public.file_contents
    ADD CONSTRAINT file_contents_pkey PRIMARY KEY (organization_id, sha256);

ALTER TABLE ONLY public.frameworks
    ADD CONSTRAINT frameworks_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_pkey PRIMARY KEY (organization_id, user_id, operation, key);

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_id_key UNIQUE (id);

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_mailed_token_hash_key UNIQUE (mailed_token_hash);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.last_backup
    ADD CONSTRAINT last_backup_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.last_retention
    ADD CONSTRAINT last_retention_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.maintenance
    ADD CONSTRAINT maintenance_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.measures
    ADD CONSTRAINT measures_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_pkey PRIMARY KEY (organization_id, user_id);

ALTER TABLE ONLY public.migrations
    ADD CONSTRAINT migrations_pkey PRIMARY KEY (version);

ALTER TABLE ONLY public.my_devices_links
    ADD CONSTRAINT my_devices_links_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.my_devices_links
    ADD CONSTRAINT my_devices_links_session_hash_key UNIQUE (session_hash);

ALTER TABLE ONLY public.my_devices_links
    ADD CONSTRAINT my_devices_links_token_hash_key UNIQUE (token_hash);

ALTER TABLE ONLY public.nonconformities
    ADD CONSTRAINT nonconformities_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.nonconformities
    ADD CONSTRAINT nonconformities_reference_id_key UNIQUE (organization_id, reference_id);

ALTER TABLE ONLY public.nonconformity_devices
    ADD CONSTRAINT nonconformity_devices_pkey PRIMARY KEY (organization_id, "position");

ALTER TABLE ONLY public.notification_channels
    ADD CONSTRAINT notification_channels_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.notification_messages
    ADD CONSTRAINT notification_messages_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.notification_stops
    ADD CONSTRAINT notification_stops_pkey PRIMARY KEY (organization_id, people_id, kind);

ALTER TABLE ONLY public.oauth_clients
    ADD CONSTRAINT oauth_clients_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.obligations
    ADD CONSTRAINT obligations_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.organization_closures
    ADD CONSTRAINT organization_closures_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_organization_id_domain_key UNIQUE (organization_id, domain);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.organizations
    ADD CONSTRAINT organizations_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.packed_posture_reports
    ADD CONSTRAINT packed_posture_reports_pkey PRIMARY KEY (organization_id, device_id, month, part);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_credential_id_key UNIQUE (credential_id);

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.posture_report_changes
    ADD CONSTRAINT posture_report_changes_pkey PRIMARY KEY (organization_id, device_id, month);

ALTER TABLE ONLY public.posture_reports
    ADD CONSTRAINT posture_reports_pkey PRIMARY KEY (organization_id, device_id, report_id, received_at);

ALTER TABLE ONLY public.posture_reports_default
    ADD CONSTRAINT posture_reports_default_pkey PRIMARY KEY (organization_id, device_id, report_id, received_at);

ALTER TABLE ONLY public.posture_spans
    ADD CONSTRAINT posture_spans_pkey PRIMARY KEY (organization_id, device_id, check_key, since);

ALTER TABLE ONLY public.record_comments
    ADD CONSTRAINT record_comments_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.record_links
    ADD CONSTRAINT record_links_pkey PRIMARY KEY (organization_id, first_id, second_id);

ALTER TABLE ONLY public.record_watches
    ADD CONSTRAINT record_watches_pkey PRIMARY KEY (organization_id, user_id, record_id);

ALTER TABLE ONLY public.reference_counters
    ADD CONSTRAINT reference_counters_pkey PRIMARY KEY (organization_id, register);

ALTER TABLE ONLY public.revoked_device_keys
    ADD CONSTRAINT revoked_device_keys_pkey PRIMARY KEY (organization_id, key_hash);

ALTER TABLE ONLY public.risks
    ADD CONSTRAINT risks_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.saved_views
    ADD CONSTRAINT saved_views_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.scim_credentials
    ADD CONSTRAINT scim_credentials_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.scim_credentials
    ADD CONSTRAINT scim_credentials_secret_hash_key UNIQUE (secret_hash);

ALTER TABLE ONLY public.scim_group_members
    ADD CONSTRAINT scim_group_members_pkey PRIMARY KEY (organization_id, group_id, user_id);

ALTER TABLE ONLY public.scim_groups
    ADD CONSTRAINT scim_groups_organization_id_display_name_key_key UNIQUE (organization_id, display_name_key);

ALTER TABLE ONLY public.scim_groups
    ADD CONSTRAINT scim_groups_organization_id_external_id_key UNIQUE (organization_id, external_id);

ALTER TABLE ONLY public.scim_groups
    ADD CONSTRAINT scim_groups_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.scim_requests
    ADD CONSTRAINT scim_requests_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.scim_users
    ADD CONSTRAINT scim_users_organization_id_external_id_key UNIQUE (organization_id, external_id);

ALTER TABLE ONLY public.scim_users
    ADD CONSTRAINT scim_users_organization_id_user_name_key_key UNIQUE (organization_id, user_name_key);

ALTER TABLE ONLY public.scim_users
    ADD CONSTRAINT scim_users_pkey PRIMARY KEY (organization_id, user_id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_token_key UNIQUE (token);

ALTER TABLE ONLY public.sign_in_failures
    ADD CONSTRAINT sign_in_failures_pkey PRIMARY KEY (email_hash);

ALTER TABLE ONLY public.sign_in_places
    ADD CONSTRAINT sign_in_places_pkey PRIMARY KEY (user_id, browser, network);

ALTER TABLE ONLY public.sign_in_rules
    ADD CONSTRAINT sign_in_rules_pkey PRIMARY KEY (organization_id);

ALTER TABLE ONLY public.silence_limits
    ADD CONSTRAINT silence_limits_organization_id_policy_id_valid_until_key UNIQUE NULLS NOT DISTINCT (organization_id, policy_id, valid_until);

ALTER TABLE ONLY public.snapshot_records
    ADD CONSTRAINT snapshot_records_pkey PRIMARY KEY (organization_id, snapshot_id, id);

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.trend_points
    ADD CONSTRAINT trend_points_pkey PRIMARY KEY (organization_id, at);

ALTER TABLE ONLY public.two_factors
    ADD CONSTRAINT two_factors_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.two_factors
    ADD CONSTRAINT two_factors_user_id_key UNIQUE (user_id);

ALTER TABLE ONLY public.unknown_device_keys
    ADD CONSTRAINT unknown_device_keys_pkey PRIMARY KEY (key_hash);

ALTER TABLE ONLY public.unknown_key_wait
    ADD CONSTRAINT unknown_key_wait_pkey PRIMARY KEY (singleton);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_email_key UNIQUE (email);

ALTER TABLE ONLY public.users
    ADD CONSTRAINT users_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.vendor_reviews
    ADD CONSTRAINT vendor_reviews_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.vendors
    ADD CONSTRAINT vendors_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.verifications
    ADD CONSTRAINT verifications_pkey PRIMARY KEY (id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_pkey PRIMARY KEY (organization_id, id);

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_pkey PRIMARY KEY (organization_id, id);

CREATE INDEX account_links_expiry ON public.account_links USING btree (expires_at);

CREATE INDEX account_links_made_by ON public.account_links USING btree (made_by);

CREATE INDEX account_links_user ON public.account_links USING btree (user_id);

CREATE INDEX accounts_user ON public.accounts USING btree (user_id);

CREATE UNIQUE INDEX api_token_usage_key ON public.api_token_usage USING btree (token_id, organization_id, day, tool) NULLS NOT DISTINCT;

CREATE INDEX api_tokens_sign_in_organization ON public.api_tokens USING btree (sign_in_organization_id) WHERE (sign_in_organization_id IS NOT NULL);

CREATE INDEX api_tokens_user ON public.api_tokens USING btree (user_id);

CREATE INDEX applicability_statements_approver ON public.applicability_statements USING btree (approved_by_id);

CREATE INDEX archive_files_devices ON public.archive_files USING btree (organization_id, month, first_device_id);

CREATE INDEX asset_vendors_vendor ON public.asset_vendors USING btree (organization_id, vendor_id);

CREATE INDEX assets_amount ON public.assets USING btree (organization_id, amount, id, archived_at, asset_type);

CREATE INDEX assets_archived_at ON public.assets USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at, asset_type);

CREATE INDEX assets_asset_type ON public.assets USING btree (organization_id, asset_type, created_at, id, archived_at);

CREATE INDEX assets_created_at ON public.assets USING btree (organization_id, created_at, id, archived_at, asset_type);

CREATE INDEX assets_name ON public.assets USING btree (organization_id, name_key, id, archived_at, asset_type);

CREATE INDEX assets_owner_id ON public.assets USING btree (organization_id, owner_id, archived_at, asset_type);

CREATE INDEX assets_search ON public.assets USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX assets_updated_at ON public.assets USING btree (organization_id, updated_at, id, archived_at, amount, owner_id, asset_type);

CREATE INDEX audit_entries_actor ON public.audit_entries USING btree (organization_id, actor_id, id) WHERE (actor_id IS NOT NULL);

CREATE INDEX audit_entries_at ON public.audit_entries USING btree (organization_id, at, id);

CREATE INDEX audit_entries_by_link ON public.audit_entries USING btree (organization_id, id) WHERE ((actor_kind = 'SYSTEM'::text) AND (actor_name ~~ '%, by a link'::text));

CREATE INDEX audit_entries_id ON public.audit_entries USING btree (id);

CREATE INDEX audit_entries_import ON public.audit_entries USING btree (organization_id, import_id, id) WHERE (import_id IS NOT NULL);

CREATE INDEX audit_entries_operation ON public.audit_entries USING btree (organization_id, operation, id);

CREATE INDEX audit_entries_record ON public.audit_entries USING btree (organization_id, record_id, id) WHERE (record_id IS NOT NULL);

CREATE INDEX audit_entries_record_kind ON public.audit_entries USING btree (organization_id, record_kind, id) WHERE (record_kind IS NOT NULL);

CREATE INDEX audit_entries_refused ON public.audit_entries USING btree (organization_id, id) WHERE (outcome = 'REFUSED'::text);

CREATE INDEX audit_entries_token ON public.audit_entries USING btree (organization_id, token_id, id) WHERE (token_id IS NOT NULL);

CREATE INDEX audits_audit_type ON public.audits USING btree (organization_id, audit_type, created_at, id, state);

CREATE INDEX audits_created_at ON public.audits USING btree (organization_id, created_at, id, state, audit_type);

CREATE INDEX audits_ends_on ON public.audits USING btree (organization_id, (
CASE
    WHEN (ends_on IS NULL) THEN 'infinity'::date
    ELSE ends_on
END), id, valid_from, valid_until, state, created_at, audit_type, starts_on, ends_on);

CREATE INDEX audits_framework_id ON public.audits USING btree (organization_id, framework_id, state, audit_type);

CREATE INDEX audits_owner_id ON public.audits USING btree (organization_id, owner_id, state, audit_type);

CREATE INDEX audits_search ON public.audits USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX audits_starts_on ON public.audits USING btree (organization_id, (
CASE
    WHEN (starts_on IS NULL) THEN 'infinity'::date
    ELSE starts_on
END), id, valid_from, valid_until, state, created_at, audit_type, starts_on, ends_on);

CREATE INDEX audits_state ON public.audits USING btree (organization_id, state, created_at, id, audit_type);

CREATE INDEX audits_updated_at ON public.audits USING btree (organization_id, updated_at, id, framework_id, valid_from, valid_until, state, audit_type, owner_id, starts_on, ends_on);

CREATE INDEX audits_valid_from ON public.audits USING btree (organization_id, (
CASE
    WHEN (valid_from IS NULL) THEN 'infinity'::date
    ELSE valid_from
END), id, valid_from, valid_until, state, created_at, audit_type, starts_on, ends_on);

CREATE INDEX audits_valid_until ON public.audits USING btree (organization_id, (
CASE
    WHEN (valid_until IS NULL) THEN 'infinity'::date
    ELSE valid_until
END), id, valid_from, valid_until, state, created_at, audit_type, starts_on, ends_on);

CREATE INDEX check_nonconformities_check ON public.check_nonconformities USING btree (organization_id, check_key, device_id);

CREATE INDEX connected_apps_unused ON public.connected_apps USING btree (code_ends_at) WHERE (connected_at IS NULL);

CREATE INDEX continual_improvements_created_at ON public.continual_improvements USING btree (organization_id, created_at, id, status, priority);

CREATE INDEX continual_improvements_open ON public.continual_improvements USING btree (organization_id, (
CASE
    WHEN (target_date IS NULL) THEN 'infinity'::date
    ELSE target_date
END), id) INCLUDE (target_date) WHERE (status <> 'CLOSED'::text);

CREATE INDEX continual_improvements_open_first ON public.continual_improvements USING btree (organization_id, (
CASE
    WHEN (status = 'CLOSED'::text) THEN 'infinity'::date
    WHEN (target_date IS NULL) THEN '9999-12-31'::date
    ELSE target_date
END), id);

CREATE INDEX continual_improvements_owner_id ON public.continual_improvements USING btree (organization_id, owner_id, status, priority);

CREATE INDEX continual_improvements_priority ON public.continual_improvements USING btree (organization_id, priority, created_at, id, status);

CREATE INDEX continual_improvements_reference_id ON public.continual_improvements USING btree (organization_id, reference_id_key, id, status, priority);

CREATE INDEX continual_improvements_search ON public.continual_improvements USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX continual_improvements_status ON public.continual_improvements USING btree (organization_id, status, created_at, id, priority);

CREATE INDEX continual_improvements_target_date ON public.continual_improvements USING btree (organization_id, (
CASE
    WHEN (target_date IS NULL) THEN 'infinity'::date
    ELSE target_date
END), id, target_date, status, priority, created_at);

CREATE INDEX continual_improvements_updated_at ON public.continual_improvements USING btree (organization_id, updated_at, id, owner_id, target_date, status, priority);

CREATE INDEX controls_created_at ON public.controls USING btree (organization_id, created_at, id, status);

CREATE INDEX controls_framework_id ON public.controls USING btree (organization_id, framework_id, status);

CREATE INDEX controls_name ON public.controls USING btree (organization_id, name_key, id, status);

CREATE INDEX controls_search ON public.controls USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX controls_section_title ON public.controls USING btree (organization_id, section_title_key, id, status);

CREATE INDEX controls_status ON public.controls USING btree (organization_id, status, created_at, id);

CREATE INDEX controls_updated_at ON public.controls USING btree (organization_id, updated_at, id, framework_id, status);

CREATE INDEX data_created_at ON public.data USING btree (organization_id, created_at, id, data_classification);

CREATE INDEX data_data_classification ON public.data USING btree (organization_id, data_classification, created_at, id);

CREATE INDEX data_name ON public.data USING btree (organization_id, name_key, id, data_classification);

CREATE INDEX data_owner_id ON public.data USING btree (organization_id, owner_id, data_classification);

CREATE INDEX data_search ON public.data USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX data_updated_at ON public.data USING btree (organization_id, updated_at, id, data_classification, owner_id);

CREATE INDEX datum_vendors_vendor ON public.datum_vendors USING btree (organization_id, vendor_id);

CREATE UNIQUE INDEX device_check_rules_in_force ON public.device_check_rules USING btree (organization_id, check_key) WHERE (valid_until IS NULL);

CREATE INDEX device_check_rules_owner_id ON public.device_check_rules USING btree (organization_id, owner_id) WHERE (owner_id IS NOT NULL);

CREATE UNIQUE INDEX device_exception_members_current ON public.device_exception_members USING btree (organization_id, exception_id, device_id) WHERE (until IS NULL);

CREATE INDEX device_exception_members_device_id ON public.device_exception_members USING btree (organization_id, device_id);

CREATE INDEX device_exceptions_approved ON public.device_exceptions USING btree (organization_id, check_key, ends_at) WHERE (decision = 'APPROVED'::text);

CREATE INDEX device_exceptions_created_at ON public.device_exceptions USING btree (organization_id, created_at, id);

CREATE INDEX device_exceptions_device_id ON public.device_exceptions USING btree (organization_id, device_id) WHERE (device_id IS NOT NULL);

CREATE INDEX device_exceptions_end_due ON public.device_exceptions USING btree (organization_id, ends_at) WHERE ((decision = 'APPROVED'::text) AND (end_noted_at IS NULL));

CREATE INDEX device_exceptions_ends_at ON public.device_exceptions USING btree (organization_id, ends_at, id);

CREATE INDEX device_exceptions_group_id ON public.device_exceptions USING btree (organization_id, group_id) WHERE (group_id IS NOT NULL);

CREATE INDEX device_exceptions_person ON public.device_exceptions USING btree (organization_id, requested_by_person_id) WHERE (requested_by_person_id IS NOT NULL);

CREATE INDEX device_exceptions_self_approved ON public.device_exceptions USING btree (organization_id, created_at, id) WHERE is_self_approved;

CREATE INDEX device_exceptions_self_approved_ends_at ON public.device_exceptions USING btree (organization_id, ends_at, id) WHERE is_self_approved;

CREATE INDEX device_group_members_device_id ON public.device_group_members USING btree (organization_id, device_id);

CREATE UNIQUE INDEX device_group_policies_group ON public.device_group_policies USING btree (organization_id, group_id) WHERE (priority IS NOT NULL);

CREATE INDEX device_group_policies_group_id ON public.device_group_policies USING btree (organization_id, group_id) WHERE (group_id IS NOT NULL);

CREATE UNIQUE INDEX device_group_policy_rules_in_force ON public.device_group_policy_rules USING btree (organization_id, policy_id, check_key) WHERE (valid_until IS NULL);

CREATE UNIQUE INDEX device_group_policy_spans_current ON public.device_group_policy_spans USING btree (organization_id, device_id) WHERE (until IS NULL);

CREATE INDEX device_group_policy_spans_policy_id ON public.device_group_policy_spans USING btree (organization_id, policy_id);

CREATE INDEX device_groups_created_at ON public.device_groups USING btree (organization_id, created_at, id);

CREATE UNIQUE INDEX device_groups_name ON public.device_groups USING btree (organization_id, name_key);

CREATE INDEX device_silences_until ON public.device_silences USING btree (organization_id, until, since);

CREATE INDEX devices_activated_at ON public.devices USING btree (organization_id, activated_at);

CREATE INDEX devices_agent_version ON public.devices USING btree (organization_id, agent_version);

CREATE INDEX devices_awaits_approval ON public.devices USING btree (organization_id, enrollment_key_id) WHERE (awaits_approval AND (status = 'PENDING'::text));

CREATE INDEX devices_claimed_owner_id ON public.devices USING btree (organization_id, claimed_owner_id) WHERE (claimed_owner_id IS NOT NULL);

CREATE INDEX devices_created_at ON public.devices USING btree (organization_id, created_at, id);

CREATE INDEX devices_enrollment_key_id ON public.devices USING btree (organization_id, enrollment_key_id) WHERE (enrollment_key_id IS NOT NULL);

CREATE INDEX devices_group_policy_id ON public.devices USING btree (organization_id, group_policy_id) WHERE (group_policy_id IS NOT NULL);

CREATE INDEX devices_hostname ON public.devices USING btree (organization_id, hostname_key, id);

CREATE UNIQUE INDEX devices_live_hardware ON public.devices USING btree (organization_id, hardware_hash) WHERE ((status <> 'REVOKED'::text) AND (hardware_hash IS NOT NULL));

CREATE INDEX devices_name ON public.devices USING btree (organization_id, name_key, id);

CREATE INDEX devices_os_version ON public.devices USING btree (organization_id, os_version);

CREATE INDEX devices_owner_id ON public.devices USING btree (organization_id, owner_id);

CREATE INDEX devices_platform ON public.devices USING btree (organization_id, platform);

CREATE INDEX devices_predecessor_id ON public.devices USING btree (organization_id, predecessor_id) WHERE (predecessor_id IS NOT NULL);

CREATE INDEX devices_search ON public.devices USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX devices_status ON public.devices USING btree (organization_id, status);

CREATE UNIQUE INDEX document_approvals_current ON public.document_approvals USING btree (organization_id, version_id, person_id) WHERE is_current;

CREATE INDEX document_approvals_person ON public.document_approvals USING btree (organization_id, person_id);

CREATE INDEX document_approvals_version ON public.document_approvals USING btree (organization_id, version_id, decided_at);

CREATE INDEX document_approvers_person ON public.document_approvers USING btree (organization_id, person_id);

CREATE UNIQUE INDEX document_signatures_of_person ON public.document_signatures USING btree (organization_id, version_id, person_id);

CREATE INDEX document_signatures_person ON public.document_signatures USING btree (organization_id, person_id, state);

CREATE INDEX document_signatures_requested ON public.document_signatures USING btree (organization_id, requested_at) WHERE (state = 'REQUESTED'::text);

CREATE INDEX document_signatures_version ON public.document_signatures USING btree (organization_id, version_id, requested_at, id);

CREATE INDEX document_versions_author ON public.document_versions USING btree (author_id);

CREATE UNIQUE INDEX document_versions_open ON public.document_versions USING btree (organization_id, document_id) WHERE (status <> 'PUBLISHED'::text);

CREATE INDEX documents_archived_at ON public.documents USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at, document_type, classification);

CREATE INDEX documents_classification ON public.documents USING btree (organization_id, classification, created_at, id, archived_at, document_type);

CREATE INDEX documents_created_at ON public.documents USING btree (organization_id, created_at, id, archived_at, document_type, classification);

CREATE INDEX documents_document_type ON public.documents USING btree (organization_id, document_type, created_at, id, archived_at, classification);

CREATE INDEX documents_next_review_on ON public.documents USING btree (organization_id, (
CASE
    WHEN (next_review_on IS NULL) THEN 'infinity'::date
    ELSE next_review_on
END), id, archived_at, document_type, classification, next_review_on, created_at);

CREATE INDEX documents_owner_id ON public.documents USING btree (organization_id, owner_id, archived_at, document_type, classification);

CREATE INDEX documents_review_interval_months ON public.documents USING btree (organization_id, review_interval_months, id, archived_at, document_type, classification);

CREATE INDEX documents_search ON public.documents USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX documents_title ON public.documents USING btree (organization_id, title_key, id, archived_at, document_type, classification);

CREATE INDEX documents_updated_at ON public.documents USING btree (organization_id, updated_at, id, archived_at, document_type, classification, owner_id, review_interval_months, next_review_on);

CREATE INDEX emergency_sign_ins_used_at ON public.emergency_sign_ins USING btree (used_at);

CREATE INDEX emergency_sign_ins_user ON public.emergency_sign_ins USING btree (user_id);

CREATE INDEX enrollment_keys_created_at ON public.enrollment_keys USING btree (organization_id, created_at, id);

CREATE INDEX enrollment_keys_group_id ON public.enrollment_keys USING btree (organization_id, group_id) WHERE (group_id IS NOT NULL);

CREATE INDEX enrollment_keys_name ON public.enrollment_keys USING btree (organization_id, name_key, id);

CREATE INDEX enrollment_tokens_device ON public.enrollment_tokens USING btree (organization_id, device_id);

CREATE UNIQUE INDEX events_daily ON public.events USING btree (organization_id, type, ((data ->> 'date'::text))) WHERE (type = ANY (ARRAY['work.overdue'::text, 'reviews.due'::text, 'signatures.missing'::text]));

CREATE INDEX events_handled_at ON public.events USING btree (handled_at) WHERE (handled_at IS NOT NULL);

CREATE INDEX events_waiting ON public.events USING btree (organization_id, id) WHERE (handled_at IS NULL);

CREATE INDEX evidence_archived_at ON public.evidence USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at);

CREATE INDEX evidence_created_at ON public.evidence USING btree (organization_id, created_at, id, archived_at);

CREATE INDEX evidence_files_content ON public.evidence_files USING btree (organization_id, sha256);

CREATE INDEX evidence_files_uploader ON public.evidence_files USING btree (uploaded_by_id);

CREATE INDEX evidence_name ON public.evidence USING btree (organization_id, name_key, id, archived_at);

CREATE INDEX evidence_owner_id ON public.evidence USING btree (organization_id, owner_id, archived_at);

CREATE INDEX evidence_search ON public.evidence USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX evidence_updated_at ON public.evidence USING btree (organization_id, updated_at, id, archived_at, valid_until, owner_id);

CREATE INDEX evidence_valid_until ON public.evidence USING btree (organization_id, (
CASE
    WHEN (valid_until IS NULL) THEN 'infinity'::date
    ELSE valid_until
END), id, archived_at, valid_until, created_at);

CREATE INDEX frameworks_created_at ON public.frameworks USING btree (organization_id, created_at, id);

CREATE INDEX frameworks_name ON public.frameworks USING btree (organization_id, name_key, id);

CREATE INDEX frameworks_search ON public.frameworks USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX frameworks_updated_at ON public.frameworks USING btree (organization_id, updated_at, id);

CREATE INDEX idempotency_keys_created_at ON public.idempotency_keys USING btree (created_at);

CREATE INDEX idempotency_keys_user ON public.idempotency_keys USING btree (user_id);

CREATE INDEX imports_created_at ON public.imports USING btree (organization_id, created_at, id);

CREATE INDEX imports_kind ON public.imports USING btree (organization_id, kind, created_at, id);

CREATE INDEX invitations_mailed_at ON public.invitations USING btree (created_at) WHERE (is_mailed OR (mailed_token_hash IS NOT NULL));

CREATE INDEX invitations_open ON public.invitations USING btree (email) WHERE ((accepted_at IS NULL) AND (revoked_at IS NULL));

CREATE INDEX invitations_over ON public.invitations USING btree (LEAST(expires_at, accepted_at, revoked_at));

CREATE INDEX invitations_sent ON public.invitations USING btree (invited_by_id, email) WHERE (invited_by_id IS NOT NULL);

CREATE INDEX invitations_sent_at ON public.invitations USING btree (invited_by_id, created_at) WHERE (invited_by_id IS NOT NULL);

CREATE INDEX mails_channel ON public.mails USING btree (organization_id, channel_id, created_at) WHERE (channel_id IS NOT NULL);

CREATE UNIQUE INDEX mails_comments ON public.mails USING btree (organization_id, people_id, record_id) WHERE ((kind = 'COMMENTS'::text) AND (state = 'QUEUED'::text));

CREATE INDEX mails_created_at ON public.mails USING btree (created_at);

CREATE UNIQUE INDEX mails_document ON public.mails USING btree (organization_id, people_id, record_id) WHERE ((kind = 'DOCUMENT'::text) AND (state = 'QUEUED'::text));

CREATE INDEX mails_due ON public.mails USING btree (due_at) WHERE (state = 'QUEUED'::text);

CREATE INDEX mails_invitation ON public.mails USING btree (organization_id, invitation_id);

CREATE INDEX mails_organization ON public.mails USING btree (organization_id, created_at);

CREATE INDEX mails_people ON public.mails USING btree (organization_id, people_id);

CREATE INDEX mails_user ON public.mails USING btree (user_id);

CREATE INDEX mails_webhook ON public.mails USING btree (organization_id, webhook_id);

CREATE INDEX measures_archived_at ON public.measures USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at, state);

CREATE INDEX measures_category ON public.measures USING btree (organization_id, category_key, id, archived_at, state);

CREATE INDEX measures_created_at ON public.measures USING btree (organization_id, created_at, id, archived_at, state);

CREATE INDEX measures_name ON public.measures USING btree (organization_id, name_key, id, archived_at, state);

CREATE INDEX measures_owner_id ON public.measures USING btree (organization_id, owner_id, archived_at, state);

CREATE INDEX measures_search ON public.measures USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX measures_state ON public.measures USING btree (organization_id, state, created_at, id, archived_at);

CREATE INDEX measures_updated_at ON public.measures USING btree (organization_id, updated_at, id, archived_at, state, owner_id, verified_by_percent);

CREATE INDEX measures_verified_by_check ON public.measures USING btree (organization_id, verified_by_check, created_at, id, archived_at, state);

CREATE INDEX measures_verified_by_percent ON public.measures USING btree (organization_id, verified_by_percent, id, archived_at, state);

CREATE INDEX memberships_user ON public.memberships USING btree (user_id);

CREATE INDEX my_devices_links_copied_by ON public.my_devices_links USING btree (copied_by_id) WHERE (copied_by_id IS NOT NULL);

CREATE INDEX my_devices_links_expires_at ON public.my_devices_links USING btree (expires_at);

CREATE INDEX my_devices_links_people ON public.my_devices_links USING btree (organization_id, people_id);

CREATE INDEX nonconformities_audit_id ON public.nonconformities USING btree (organization_id, audit_id, status, severity);

CREATE INDEX nonconformities_created_at ON public.nonconformities USING btree (organization_id, created_at, id, status, severity);

CREATE INDEX nonconformities_date_identified ON public.nonconformities USING btree (organization_id, (
CASE
    WHEN (date_identified IS NULL) THEN 'infinity'::date
    ELSE date_identified
END), id, date_identified, due_date, status, severity, created_at);

CREATE INDEX nonconformities_due_date ON public.nonconformities USING btree (organization_id, (
CASE
    WHEN (due_date IS NULL) THEN 'infinity'::date
    ELSE due_date
END), id, date_identified, due_date, status, severity, created_at);

CREATE INDEX nonconformities_open ON public.nonconformities USING btree (organization_id, (
CASE
    WHEN (due_date IS NULL) THEN 'infinity'::date
    ELSE due_date
END), id) INCLUDE (due_date) WHERE (status <> 'CLOSED'::text);

CREATE INDEX nonconformities_open_first ON public.nonconformities USING btree (organization_id, (
CASE
    WHEN (status = 'CLOSED'::text) THEN 'infinity'::date
    WHEN (due_date IS NULL) THEN '9999-12-31'::date
    ELSE due_date
END), id);

CREATE INDEX nonconformities_owner_id ON public.nonconformities USING btree (organization_id, owner_id, status, severity);

CREATE INDEX nonconformities_reference_id ON public.nonconformities USING btree (organization_id, reference_id_key, id, status, severity);

CREATE INDEX nonconformities_search ON public.nonconformities USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX nonconformities_severity ON public.nonconformities USING btree (organization_id, severity, created_at, id, status);

CREATE INDEX nonconformities_status ON public.nonconformities USING btree (organization_id, status, created_at, id, severity);

CREATE INDEX nonconformities_updated_at ON public.nonconformities USING btree (organization_id, updated_at, id, audit_id, date_identified, owner_id, due_date, status, severity);

CREATE INDEX nonconformity_devices_alert_mail_id ON public.nonconformity_devices USING btree (organization_id, alert_mail_id) WHERE (alert_mail_id IS NOT NULL);

CREATE UNIQUE INDEX nonconformity_devices_current ON public.nonconformity_devices USING btree (organization_id, check_key, device_id) WHERE ((until IS NULL) OR is_held);

CREATE INDEX nonconformity_devices_device_id ON public.nonconformity_devices USING btree (organization_id, device_id);

CREATE INDEX nonconformity_devices_open ON public.nonconformity_devices USING btree (organization_id, nonconformity_id) WHERE (until IS NULL);

CREATE INDEX nonconformity_devices_owner_new ON public.nonconformity_devices USING btree (organization_id) WHERE is_owner_new;

CREATE INDEX nonconformity_devices_since ON public.nonconformity_devices USING btree (organization_id, nonconformity_id, since, "position");

CREATE INDEX nonconformity_devices_walk ON public.nonconformity_devices USING btree (organization_id, "position") WHERE ((until IS NULL) OR is_held);

CREATE INDEX notification_channels_daily ON public.notification_channels USING btree (organization_id) WHERE (is_enabled AND (event_types && ARRAY['work.overdue'::text, 'reviews.due'::text, 'signatures.missing'::text]));

CREATE INDEX notification_channels_digest ON public.notification_channels USING btree (next_digest_at) WHERE (is_enabled AND (next_digest_at IS NOT NULL));

CREATE UNIQUE INDEX notification_channels_mail ON public.notification_channels USING btree (organization_id, kind) WHERE (kind <> ALL (ARRAY['SLACK'::text, 'TEAMS'::text]));

CREATE INDEX notification_messages_channel ON public.notification_messages USING btree (organization_id, channel_id, created_at);

CREATE INDEX notification_messages_created_at ON public.notification_messages USING btree (created_at);

CREATE INDEX notification_messages_due ON public.notification_messages USING btree (due_at) WHERE (state = 'QUEUED'::text);

CREATE INDEX oauth_clients_unused ON public.oauth_clients USING btree (known_at) WHERE (used_at IS NULL);

CREATE INDEX obligations_created_at ON public.obligations USING btree (organization_id, created_at, id, type, status);

CREATE INDEX obligations_due_date ON public.obligations USING btree (organization_id, (
CASE
    WHEN (due_date IS NULL) THEN 'infinity'::date
    ELSE due_date
END), id, type, last_review_date, due_date, status, created_at, next_review_date);

CREATE INDEX obligations_last_review_date ON public.obligations USING btree (organization_id, (
CASE
    WHEN (last_review_date IS NULL) THEN 'infinity'::date
    ELSE last_review_date
END), id, type, last_review_date, due_date, status, created_at, next_review_date);

CREATE INDEX obligations_next_review_date ON public.obligations USING btree (organization_id, (
CASE
    WHEN (next_review_date IS NULL) THEN 'infinity'::date
    ELSE next_review_date
END), id, type, last_review_date, due_date, status, created_at, next_review_date);

CREATE INDEX obligations_open ON public.obligations USING btree (organization_id, (
CASE
    WHEN (due_date IS NULL) THEN 'infinity'::date
    ELSE due_date
END), id) INCLUDE (due_date) WHERE (status <> 'COMPLIANT'::text);

CREATE INDEX obligations_open_first ON public.obligations USING btree (organization_id, (
CASE
    WHEN (status = 'COMPLIANT'::text) THEN 'infinity'::date
    WHEN (due_date IS NULL) THEN '9999-12-31'::date
    ELSE due_date
END), id);

CREATE INDEX obligations_owner_id ON public.obligations USING btree (organization_id, owner_id, type, status);

CREATE INDEX obligations_requirement ON public.obligations USING btree (organization_id, requirement_key, id, type, status);

CREATE INDEX obligations_search ON public.obligations USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX obligations_status ON public.obligations USING btree (organization_id, status, created_at, id, type);

CREATE INDEX obligations_type ON public.obligations USING btree (organization_id, type, created_at, id, status);

CREATE INDEX obligations_updated_at ON public.obligations USING btree (organization_id, updated_at, id, type, owner_id, last_review_date, due_date, status, next_review_date);

CREATE INDEX organization_domains_due ON public.organization_domains USING btree (next_check_at) WHERE (next_check_at IS NOT NULL);

CREATE UNIQUE INDEX organization_domains_verified ON public.organization_domains USING btree (domain) WHERE (verified_at IS NOT NULL);

CREATE INDEX passkeys_user ON public.passkeys USING btree (user_id);

CREATE INDEX people_contract_end_date ON public.people USING btree (organization_id, (
CASE
    WHEN (contract_end_date IS NULL) THEN 'infinity'::date
    ELSE contract_end_date
END), id, kind, contract_start_date, contract_end_date, created_at);

CREATE INDEX people_contract_start_date ON public.people USING btree (organization_id, (
CASE
    WHEN (contract_start_date IS NULL) THEN 'infinity'::date
    ELSE contract_start_date
END), id, kind, contract_start_date, contract_end_date, created_at);

CREATE INDEX people_created_at ON public.people USING btree (organization_id, created_at, id, kind);

CREATE INDEX people_full_name ON public.people USING btree (organization_id, full_name_key, id, kind);

CREATE INDEX people_kind ON public.people USING btree (organization_id, kind, created_at, id);

CREATE INDEX people_primary_email_address ON public.people USING btree (organization_id, primary_email_address_key, id, kind);

CREATE INDEX people_search ON public.people USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX people_updated_at ON public.people USING btree (organization_id, updated_at, id, kind, contract_start_date, contract_end_date);

CREATE UNIQUE INDEX posture_spans_current ON public.posture_spans USING btree (organization_id, device_id, check_key) WHERE is_current;

CREATE INDEX posture_spans_failing ON public.posture_spans USING btree (organization_id, check_key, device_id) WHERE (is_current AND (status = 'FAIL'::text));

CREATE INDEX posture_spans_failing_since ON public.posture_spans USING btree (organization_id, since) WHERE (is_current AND (status = 'FAIL'::text));

CREATE INDEX posture_spans_found ON public.posture_spans USING btree (organization_id, check_key, status, since) WHERE (status = ANY (ARRAY['FAIL'::text, 'UNKNOWN'::text]));

CREATE INDEX record_comments_author ON public.record_comments USING btree (author_id);

CREATE INDEX record_comments_created_at ON public.record_comments USING btree (organization_id, created_at, id);

CREATE INDEX record_comments_record ON public.record_comments USING btree (organization_id, record_id, created_at, id);

CREATE INDEX record_links_second ON public.record_links USING btree (organization_id, second_id);

CREATE INDEX record_versions_other ON public.record_versions USING btree (organization_id, register, other_id) WHERE (other_id IS NOT NULL);

CREATE UNIQUE INDEX record_versions_record ON public.record_versions USING btree (organization_id, register, record_id, other_id, valid_to) NULLS NOT DISTINCT;

CREATE INDEX record_versions_valid ON public.record_versions USING btree (organization_id, register, valid_to, valid_from);

CREATE INDEX record_watches_record ON public.record_watches USING btree (organization_id, record_id);

CREATE UNIQUE INDEX revoked_device_keys_hash ON public.revoked_device_keys USING btree (key_hash);

CREATE INDEX risks_accepted_until ON public.risks USING btree (organization_id, (
CASE
    WHEN (accepted_until IS NULL) THEN 'infinity'::date
    ELSE accepted_until
END), id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact, created_at, next_review_date, accepted_until);

CREATE INDEX risks_archived_at ON public.risks USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_category ON public.risks USING btree (organization_id, category_key, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_created_at ON public.risks USING btree (organization_id, created_at, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_inherent_impact ON public.risks USING btree (organization_id, inherent_impact, archived_at, treatment, inherent_likelihood, residual_likelihood, residual_impact);

CREATE INDEX risks_inherent_likelihood ON public.risks USING btree (organization_id, inherent_likelihood, archived_at, treatment, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_inherent_risk_score ON public.risks USING btree (organization_id, inherent_risk_score, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_name ON public.risks USING btree (organization_id, name_key, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_next_review_date ON public.risks USING btree (organization_id, (
CASE
    WHEN (next_review_date IS NULL) THEN 'infinity'::date
    ELSE next_review_date
END), id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact, created_at, next_review_date, accepted_until);

CREATE INDEX risks_owner_id ON public.risks USING btree (organization_id, owner_id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_residual_impact ON public.risks USING btree (organization_id, residual_impact, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood);

CREATE INDEX risks_residual_likelihood ON public.risks USING btree (organization_id, residual_likelihood, archived_at, treatment, inherent_likelihood, inherent_impact, residual_impact);

CREATE INDEX risks_residual_risk_score ON public.risks USING btree (organization_id, residual_risk_score, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_search ON public.risks USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX risks_treatment ON public.risks USING btree (organization_id, treatment, created_at, id, archived_at, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact);

CREATE INDEX risks_undecided ON public.risks USING btree (organization_id, created_at, id) WHERE ((treatment = 'MITIGATED'::text) AND starts_with(COALESCE(note, ''::text), 'Suggested by Assay. Nobody has decided about its treatment and scores yet. Delete this note when somebody has.'::text));

CREATE INDEX risks_updated_at ON public.risks USING btree (organization_id, updated_at, id, archived_at, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact, inherent_risk_score, residual_risk_score, owner_id, next_review_date, accepted_until);

CREATE UNIQUE INDEX saved_views_name ON public.saved_views USING btree (organization_id, list, COALESCE((owner_id)::text, ''::text), lower(name));

CREATE INDEX saved_views_owner ON public.saved_views USING btree (organization_id, owner_id) WHERE (owner_id IS NOT NULL);

CREATE INDEX scim_group_members_user ON public.scim_group_members USING btree (organization_id, user_id);

CREATE INDEX scim_requests_at ON public.scim_requests USING btree (organization_id, at, id);

CREATE INDEX sessions_expiry ON public.sessions USING btree (expires_at);

CREATE INDEX sessions_identity_provider ON public.sessions USING btree (identity_provider_id) WHERE (identity_provider_id IS NOT NULL);

CREATE INDEX sessions_passkey ON public.sessions USING btree (passkey_id) WHERE (passkey_id IS NOT NULL);

CREATE INDEX sessions_user ON public.sessions USING btree (user_id);

CREATE INDEX sign_in_failures_end ON public.sign_in_failures USING btree (ends_at);

CREATE INDEX sign_in_failures_since ON public.sign_in_failures USING btree (since);

CREATE INDEX sign_in_places_last_at ON public.sign_in_places USING btree (last_at);

CREATE INDEX sign_in_places_mail ON public.sign_in_places USING btree (mail_id) WHERE (mail_id IS NOT NULL);

CREATE INDEX snapshot_records_kind ON public.snapshot_records USING btree (organization_id, snapshot_id, kind, name_key, id);

CREATE INDEX snapshot_records_name ON public.snapshot_records USING btree (organization_id, snapshot_id, name_key, id);

CREATE INDEX snapshots_created_at ON public.snapshots USING btree (organization_id, created_at, id);

CREATE INDEX snapshots_taken_by ON public.snapshots USING btree (taken_by_id);

CREATE INDEX tasks_assigned_to_id ON public.tasks USING btree (organization_id, assigned_to_id, state, priority);

CREATE INDEX tasks_created_at ON public.tasks USING btree (organization_id, created_at, id, state, priority);

CREATE INDEX tasks_deadline ON public.tasks USING btree (organization_id, (
CASE
    WHEN (deadline IS NULL) THEN 'infinity'::date
    ELSE deadline
END), id, state, priority, deadline, created_at);

CREATE INDEX tasks_measure_id ON public.tasks USING btree (organization_id, measure_id, state, priority);

CREATE INDEX tasks_name ON public.tasks USING btree (organization_id, name_key, id, state, priority);

CREATE INDEX tasks_open ON public.tasks USING btree (organization_id, (
CASE
    WHEN (deadline IS NULL) THEN 'infinity'::date
    ELSE deadline
END), id) INCLUDE (deadline) WHERE (state <> 'DONE'::text);

CREATE INDEX tasks_open_first ON public.tasks USING btree (organization_id, (
CASE
    WHEN (state = 'DONE'::text) THEN 'infinity'::date
    WHEN (deadline IS NULL) THEN '9999-12-31'::date
    ELSE deadline
END), id);

CREATE INDEX tasks_priority ON public.tasks USING btree (organization_id, priority, created_at, id, state);

CREATE INDEX tasks_search ON public.tasks USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX tasks_state ON public.tasks USING btree (organization_id, state, created_at, id, priority);

CREATE INDEX tasks_updated_at ON public.tasks USING btree (organization_id, updated_at, id, state, priority, measure_id, assigned_to_id, deadline);

CREATE INDEX vendor_reviews_reviewer ON public.vendor_reviews USING btree (reviewer_id);

CREATE INDEX vendor_reviews_vendor ON public.vendor_reviews USING btree (organization_id, vendor_id, created_at, id);

CREATE INDEX vendors_agreement_signed_on ON public.vendors USING btree (organization_id, (
CASE
    WHEN (agreement_signed_on IS NULL) THEN 'infinity'::date
    ELSE agreement_signed_on
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_agreement_status ON public.vendors USING btree (organization_id, agreement_status, created_at, id, archived_at, category, risk_rating);

CREATE INDEX vendors_archived_at ON public.vendors USING btree (organization_id, (
CASE
    WHEN (archived_at IS NULL) THEN 'infinity'::timestamp with time zone
    ELSE archived_at
END), id, archived_at, category, agreement_status, risk_rating);

CREATE INDEX vendors_category ON public.vendors USING btree (organization_id, category, created_at, id, archived_at, agreement_status, risk_rating);

CREATE INDEX vendors_contract_end_date ON public.vendors USING btree (organization_id, (
CASE
    WHEN (contract_end_date IS NULL) THEN 'infinity'::date
    ELSE contract_end_date
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_contract_start_date ON public.vendors USING btree (organization_id, (
CASE
    WHEN (contract_start_date IS NULL) THEN 'infinity'::date
    ELSE contract_start_date
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_created_at ON public.vendors USING btree (organization_id, created_at, id, archived_at, category, agreement_status, risk_rating);

CREATE INDEX vendors_last_review_date ON public.vendors USING btree (organization_id, (
CASE
    WHEN (last_review_date IS NULL) THEN 'infinity'::date
    ELSE last_review_date
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_name ON public.vendors USING btree (organization_id, name_key, id, archived_at, category, agreement_status, risk_rating);

CREATE INDEX vendors_next_review_date ON public.vendors USING btree (organization_id, (
CASE
    WHEN (next_review_date IS NULL) THEN 'infinity'::date
    ELSE next_review_date
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_owner_id ON public.vendors USING btree (organization_id, owner_id, archived_at, category, agreement_status, risk_rating);

CREATE INDEX vendors_renewal_notice_date ON public.vendors USING btree (organization_id, (
CASE
    WHEN (renewal_notice_date IS NULL) THEN 'infinity'::date
    ELSE renewal_notice_date
END), id, archived_at, category, created_at, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX vendors_risk_rating ON public.vendors USING btree (organization_id, risk_rating, created_at, id, archived_at, category, agreement_status);

CREATE INDEX vendors_search ON public.vendors USING gin (organization_id, search_text public.gin_trgm_ops);

CREATE INDEX vendors_updated_at ON public.vendors USING btree (organization_id, updated_at, id, archived_at, category, owner_id, contract_start_date, contract_end_date, renewal_notice_date, agreement_status, agreement_signed_on, risk_rating, last_review_date, next_review_date);

CREATE INDEX verifications_expiry ON public.verifications USING btree (expires_at);

CREATE INDEX verifications_identifier ON public.verifications USING btree (identifier);

CREATE INDEX webhook_deliveries_created_at ON public.webhook_deliveries USING btree (created_at);

CREATE INDEX webhook_deliveries_due ON public.webhook_deliveries USING btree (due_at) WHERE (state = 'QUEUED'::text);

CREATE INDEX webhook_deliveries_order ON public.webhook_deliveries USING btree (organization_id, webhook_id, record_id, "position") WHERE (state = 'QUEUED'::text);

CREATE INDEX webhook_deliveries_webhook ON public.webhook_deliveries USING btree (organization_id, webhook_id, "position");

CREATE INDEX webhooks_daily ON public.webhooks USING btree (organization_id) WHERE (is_enabled AND (event_types && ARRAY['work.overdue'::text, 'reviews.due'::text, 'signatures.missing'::text]));

ALTER INDEX public.posture_reports_pkey ATTACH PARTITION public.posture_reports_default_pkey;

CREATE TRIGGER audit_device_conflict AFTER INSERT ON public.device_conflicts FOR EACH ROW WHEN ((current_setting('assay.importing'::text, true) IS DISTINCT FROM (new.organization_id)::text)) EXECUTE FUNCTION public.audit_device_conflict();

CREATE TRIGGER cancel_signature_requests BEFORE DELETE ON public.people FOR EACH ROW EXECUTE FUNCTION public.cancel_signature_requests();

CREATE TRIGGER end_deleted AFTER DELETE ON public.identity_providers FOR EACH ROW EXECUTE FUNCTION public.end_provider();

CREATE TRIGGER end_disabled AFTER UPDATE ON public.identity_providers FOR EACH ROW WHEN ((old.is_enabled AND (NOT new.is_enabled))) EXECUTE FUNCTION public.end_provider();

CREATE TRIGGER end_emergency_member AFTER UPDATE OF role ON public.memberships FOR EACH ROW WHEN (((old.role = 'admin'::text) AND (new.role <> 'admin'::text))) EXECUTE FUNCTION public.end_emergency_member();

CREATE TRIGGER end_links AFTER UPDATE OF primary_email_address ON public.people FOR EACH ROW WHEN ((old.primary_email_address IS DISTINCT FROM new.primary_email_address)) EXECUTE FUNCTION public.end_my_devices_links();

CREATE TRIGGER end_provider_sessions AFTER DELETE ON public.memberships FOR EACH ROW EXECUTE FUNCTION public.end_provider_sessions();

CREATE TRIGGER event AFTER UPDATE OF status, enrolled_at ON public.devices FOR EACH ROW EXECUTE FUNCTION public.note_device_event();

CREATE TRIGGER event_of_new AFTER INSERT ON public.devices FOR EACH ROW WHEN (((new.enrolled_at IS NOT NULL) AND (current_setting('assay.importing'::text, true) IS DISTINCT FROM (new.organization_id)::text))) EXECUTE FUNCTION public.note_device_event();

CREATE TRIGGER follow AFTER UPDATE OF status ON public.nonconformities FOR EACH ROW WHEN (((old.status = 'CLOSED'::text) <> (new.status = 'CLOSED'::text))) EXECUTE FUNCTION public.follow_nonconformity();

CREATE TRIGGER hold BEFORE DELETE ON public.nonconformities FOR EACH ROW EXECUTE FUNCTION public.hold_deleted_nonconformity();

CREATE TRIGGER keep_an_administrator AFTER DELETE OR UPDATE OF role ON public.memberships FOR EACH ROW WHEN ((old.role = 'admin'::text)) EXECUTE FUNCTION public.keep_an_administrator();

CREATE TRIGGER keep_an_emergency_member AFTER DELETE ON public.emergency_members FOR EACH ROW EXECUTE FUNCTION public.keep_an_emergency_member();

CREATE TRIGGER keep_published_version BEFORE UPDATE ON public.document_versions FOR EACH ROW EXECUTE FUNCTION public.keep_published_version();

CREATE TRIGGER keep_silence_limit AFTER UPDATE OF max_silence_days ON public.device_group_policies FOR EACH ROW EXECUTE FUNCTION public.keep_silence_limit();

CREATE TRIGGER keep_silence_limit AFTER INSERT OR UPDATE OF max_silence_days ON public.device_policies FOR EACH ROW WHEN ((current_setting('assay.importing'::text, true) IS DISTINCT FROM (new.organization_id)::text)) EXECUTE FUNCTION public.keep_silence_limit();

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.applicability_statements FOR EACH ROW EXECUTE FUNCTION public.keep_part('framework_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.asset_vendors FOR EACH ROW EXECUTE FUNCTION public.keep_link_version('asset_id', 'vendor_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.assets FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.audits FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.continual_improvements FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,reference_id_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.controls FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,section_title_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.data FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.datum_vendors FOR EACH ROW EXECUTE FUNCTION public.keep_link_version('datum_id', 'vendor_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.document_approvals FOR EACH ROW EXECUTE FUNCTION public.keep_part('version_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.document_approvers FOR EACH ROW EXECUTE FUNCTION public.keep_link_version('document_id', 'person_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.document_signatures FOR EACH ROW EXECUTE FUNCTION public.keep_part('version_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.document_versions FOR EACH ROW EXECUTE FUNCTION public.keep_part('document_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.documents FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,title_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.evidence FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.frameworks FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.measures FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,category_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.nonconformities FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,reference_id_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.obligations FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,requirement_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.people FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,full_name_key,primary_email_address_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.record_links FOR EACH ROW EXECUTE FUNCTION public.keep_link_version('first_id', 'second_id');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.risks FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,category_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.tasks FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_delete AFTER DELETE ON public.vendors FOR EACH ROW EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.assets FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.audits FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.continual_improvements FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,reference_id_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.controls FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,section_title_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.data FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.document_versions FOR EACH ROW WHEN (((old.status <> 'PUBLISHED'::text) AND (old.updated_at < new.updated_at))) EXECUTE FUNCTION public.keep_part('document_id');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.documents FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,title_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.evidence FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.frameworks FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.measures FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,category_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.nonconformities FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,reference_id_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.obligations FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,requirement_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.people FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,full_name_key,primary_email_address_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.risks FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key,category_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.tasks FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER keep_version_before_update AFTER UPDATE ON public.vendors FOR EACH ROW WHEN ((old.updated_at < new.updated_at)) EXECUTE FUNCTION public.keep_record_version('{organization_id,id,search_text,name_key}');

CREATE TRIGGER narrow_membership BEFORE INSERT ON public.memberships FOR EACH ROW EXECUTE FUNCTION public.narrow_membership();

CREATE TRIGGER note_archive_change AFTER DELETE ON public.devices FOR EACH ROW EXECUTE FUNCTION public.note_archive_change('device');

CREATE TRIGGER note_archive_change AFTER DELETE OR UPDATE ON public.packed_posture_reports FOR EACH ROW EXECUTE FUNCTION public.note_archive_change('reports');

CREATE TRIGGER note_archive_leftover AFTER DELETE ON public.archive_files FOR EACH ROW EXECUTE FUNCTION public.note_archive_leftover();

CREATE TRIGGER note_changed_key AFTER UPDATE OF key_hash ON public.devices FOR EACH ROW WHEN ((old.key_hash IS DISTINCT FROM new.key_hash)) EXECUTE FUNCTION public.note_revoked_key();

CREATE TRIGGER note_deleted_key AFTER DELETE ON public.devices FOR EACH ROW EXECUTE FUNCTION public.note_revoked_key();

CREATE TRIGGER note_new_owner AFTER UPDATE OF owner_id ON public.devices FOR EACH ROW WHEN (((new.owner_id IS NOT NULL) AND ((new.owner_id)::text IS DISTINCT FROM (old.owner_id)::text))) EXECUTE FUNCTION public.note_new_owner();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.assets FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.audits FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.continual_improvements FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.controls FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.data FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.documents FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.evidence FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.frameworks FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.measures FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.nonconformities FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.obligations FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.people FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.risks FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.tasks FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER order_versions BEFORE UPDATE ON public.vendors FOR EACH ROW WHEN ((new.updated_at < old.updated_at)) EXECUTE FUNCTION public.order_record_versions();

CREATE TRIGGER remove_links AFTER DELETE ON public.assets FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.audits FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.continual_improvements FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.controls FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.data FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.devices FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.documents FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.evidence FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.frameworks FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.measures FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.nonconformities FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.obligations FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.people FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.risks FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.snapshots FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.tasks FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_links AFTER DELETE ON public.vendors FOR EACH ROW EXECUTE FUNCTION public.remove_links();

CREATE TRIGGER remove_spans AFTER DELETE ON public.devices REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.remove_spans_of_devices();

CREATE TRIGGER remove_unused_content AFTER DELETE ON public.evidence_files FOR EACH ROW EXECUTE FUNCTION public.remove_unused_content();

CREATE TRIGGER require_devices AFTER INSERT ON public.posture_spans REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION public.require_devices_of_spans();

ALTER TABLE ONLY public.account_links
    ADD CONSTRAINT account_links_made_by_fkey FOREIGN KEY (made_by) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.account_links
    ADD CONSTRAINT account_links_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.accounts
    ADD CONSTRAINT accounts_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.api_token_usage
    ADD CONSTRAINT api_token_usage_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.api_token_usage
    ADD CONSTRAINT api_token_usage_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.api_tokens(id);

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_sign_in_organization_id_fkey FOREIGN KEY (sign_in_organization_id) REFERENCES public.organizations(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.api_tokens
    ADD CONSTRAINT api_tokens_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.applicability_statements
    ADD CONSTRAINT applicability_statements_organization_id_framework_id_fkey FOREIGN KEY (organization_id, framework_id) REFERENCES public.frameworks(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.asset_vendors
    ADD CONSTRAINT asset_vendors_organization_id_asset_id_fkey FOREIGN KEY (organization_id, asset_id) REFERENCES public.assets(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.asset_vendors
    ADD CONSTRAINT asset_vendors_vendor_id_fkey FOREIGN KEY (organization_id, vendor_id) REFERENCES public.vendors(organization_id, id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.assets
    ADD CONSTRAINT assets_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.audit_entries
    ADD CONSTRAINT audit_entries_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audit_heads
    ADD CONSTRAINT audit_heads_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audit_seals
    ADD CONSTRAINT audit_seals_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_framework_id_fkey FOREIGN KEY (organization_id, framework_id) REFERENCES public.frameworks(organization_id, id);

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.audits
    ADD CONSTRAINT audits_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.check_count_days
    ADD CONSTRAINT check_count_days_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.check_nonconformities
    ADD CONSTRAINT check_nonconformities_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE SET NULL (device_id);

ALTER TABLE ONLY public.check_nonconformities
    ADD CONSTRAINT check_nonconformities_organization_id_nonconformity_id_fkey FOREIGN KEY (organization_id, nonconformity_id) REFERENCES public.nonconformities(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.connected_apps
    ADD CONSTRAINT connected_apps_token_id_fkey FOREIGN KEY (token_id) REFERENCES public.api_tokens(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.continual_improvements
    ADD CONSTRAINT continual_improvements_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.continual_improvements
    ADD CONSTRAINT continual_improvements_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.controls
    ADD CONSTRAINT controls_framework_id_fkey FOREIGN KEY (organization_id, framework_id) REFERENCES public.frameworks(organization_id, id);

ALTER TABLE ONLY public.controls
    ADD CONSTRAINT controls_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.data
    ADD CONSTRAINT data_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.data
    ADD CONSTRAINT data_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.datum_vendors
    ADD CONSTRAINT datum_vendors_organization_id_datum_id_fkey FOREIGN KEY (organization_id, datum_id) REFERENCES public.data(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.datum_vendors
    ADD CONSTRAINT datum_vendors_vendor_id_fkey FOREIGN KEY (organization_id, vendor_id) REFERENCES public.vendors(organization_id, id);

ALTER TABLE ONLY public.device_check_keys
    ADD CONSTRAINT device_check_keys_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_check_rules
    ADD CONSTRAINT device_check_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.device_check_rules
    ADD CONSTRAINT device_check_rules_organization_id_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id) ON DELETE SET NULL (owner_id);

ALTER TABLE ONLY public.device_conflicts
    ADD CONSTRAINT device_conflicts_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_exception_members
    ADD CONSTRAINT device_exception_members_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_exception_members
    ADD CONSTRAINT device_exception_members_organization_id_exception_id_fkey FOREIGN KEY (organization_id, exception_id) REFERENCES public.device_exceptions(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_exceptions
    ADD CONSTRAINT device_exceptions_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE SET NULL (device_id);

ALTER TABLE ONLY public.device_exceptions
    ADD CONSTRAINT device_exceptions_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.device_exceptions
    ADD CONSTRAINT device_exceptions_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES public.device_groups(organization_id, id) ON DELETE SET NULL (group_id);

ALTER TABLE ONLY public.device_exceptions
    ADD CONSTRAINT device_exceptions_organization_id_requested_by_person_id_fkey FOREIGN KEY (organization_id, requested_by_person_id) REFERENCES public.people(organization_id, id) ON DELETE SET NULL (requested_by_person_id);

ALTER TABLE ONLY public.device_group_members
    ADD CONSTRAINT device_group_members_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_group_members
    ADD CONSTRAINT device_group_members_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES public.device_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_group_policies
    ADD CONSTRAINT device_group_policies_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.device_group_policies
    ADD CONSTRAINT device_group_policies_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES public.device_groups(organization_id, id) ON DELETE SET NULL (group_id);

ALTER TABLE ONLY public.device_group_policy_rules
    ADD CONSTRAINT device_group_policy_rules_organization_id_policy_id_fkey FOREIGN KEY (organization_id, policy_id) REFERENCES public.device_group_policies(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_group_policy_spans
    ADD CONSTRAINT device_group_policy_spans_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_group_policy_spans
    ADD CONSTRAINT device_group_policy_spans_organization_id_policy_id_fkey FOREIGN KEY (organization_id, policy_id) REFERENCES public.device_group_policies(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.device_groups
    ADD CONSTRAINT device_groups_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.device_policies
    ADD CONSTRAINT device_policies_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.device_silences
    ADD CONSTRAINT device_silences_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_claimed_owner_id_fkey FOREIGN KEY (organization_id, claimed_owner_id) REFERENCES public.people(organization_id, id) ON DELETE SET NULL (claimed_owner_id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_enrollment_key_id_fkey FOREIGN KEY (organization_id, enrollment_key_id) REFERENCES public.enrollment_keys(organization_id, id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_organization_id_group_policy_id_fkey FOREIGN KEY (organization_id, group_policy_id) REFERENCES public.device_group_policies(organization_id, id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.devices
    ADD CONSTRAINT devices_predecessor_id_fkey FOREIGN KEY (organization_id, predecessor_id) REFERENCES public.devices(organization_id, id) ON DELETE SET NULL (predecessor_id);

ALTER TABLE ONLY public.document_approvals
    ADD CONSTRAINT document_approvals_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES public.people(organization_id, id) ON DELETE SET NULL (person_id);

ALTER TABLE ONLY public.document_approvals
    ADD CONSTRAINT document_approvals_organization_id_version_id_fkey FOREIGN KEY (organization_id, version_id) REFERENCES public.document_versions(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.document_approvers
    ADD CONSTRAINT document_approvers_organization_id_document_id_fkey FOREIGN KEY (organization_id, document_id) REFERENCES public.documents(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.document_approvers
    ADD CONSTRAINT document_approvers_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.document_signatures
    ADD CONSTRAINT document_signatures_organization_id_person_id_fkey FOREIGN KEY (organization_id, person_id) REFERENCES public.people(organization_id, id) ON DELETE SET NULL (person_id);

ALTER TABLE ONLY public.document_signatures
    ADD CONSTRAINT document_signatures_organization_id_version_id_fkey FOREIGN KEY (organization_id, version_id) REFERENCES public.document_versions(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.document_versions
    ADD CONSTRAINT document_versions_organization_id_document_id_fkey FOREIGN KEY (organization_id, document_id) REFERENCES public.documents(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.documents
    ADD CONSTRAINT documents_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.emergency_members
    ADD CONSTRAINT emergency_members_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES public.memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.emergency_sign_ins
    ADD CONSTRAINT emergency_sign_ins_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.emergency_sign_ins
    ADD CONSTRAINT emergency_sign_ins_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.enrollment_keys
    ADD CONSTRAINT enrollment_keys_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES public.device_groups(organization_id, id) ON DELETE SET NULL (group_id);

ALTER TABLE ONLY public.enrollment_keys
    ADD CONSTRAINT enrollment_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.enrollment_tokens
    ADD CONSTRAINT enrollment_tokens_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.events
    ADD CONSTRAINT events_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.evidence_files
    ADD CONSTRAINT evidence_files_organization_id_evidence_id_fkey FOREIGN KEY (organization_id, evidence_id) REFERENCES public.evidence(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.evidence_files
    ADD CONSTRAINT evidence_files_organization_id_sha256_fkey FOREIGN KEY (organization_id, sha256) REFERENCES public.file_contents(organization_id, sha256);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.evidence
    ADD CONSTRAINT evidence_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.file_chunks
    ADD CONSTRAINT file_chunks_organization_id_sha256_fkey FOREIGN KEY (organization_id, sha256) REFERENCES public.file_contents(organization_id, sha256) ON DELETE CASCADE;

ALTER TABLE ONLY public.file_contents
    ADD CONSTRAINT file_contents_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.frameworks
    ADD CONSTRAINT frameworks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.idempotency_keys
    ADD CONSTRAINT idempotency_keys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.identity_providers
    ADD CONSTRAINT identity_providers_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.imports
    ADD CONSTRAINT imports_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_invited_by_id_fkey FOREIGN KEY (invited_by_id) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.invitations
    ADD CONSTRAINT invitations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_organization_id_channel_id_fkey FOREIGN KEY (organization_id, channel_id) REFERENCES public.notification_channels(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_organization_id_invitation_id_fkey FOREIGN KEY (organization_id, invitation_id) REFERENCES public.invitations(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_organization_id_people_id_fkey FOREIGN KEY (organization_id, people_id) REFERENCES public.people(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_organization_id_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES public.webhooks(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.mails
    ADD CONSTRAINT mails_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.measures
    ADD CONSTRAINT measures_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.measures
    ADD CONSTRAINT measures_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.memberships
    ADD CONSTRAINT memberships_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id);

ALTER TABLE ONLY public.my_devices_links
    ADD CONSTRAINT my_devices_links_copied_by_id_fkey FOREIGN KEY (copied_by_id) REFERENCES public.users(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.my_devices_links
    ADD CONSTRAINT my_devices_links_organization_id_people_id_fkey FOREIGN KEY (organization_id, people_id) REFERENCES public.people(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.nonconformities
    ADD CONSTRAINT nonconformities_audit_id_fkey FOREIGN KEY (organization_id, audit_id) REFERENCES public.audits(organization_id, id);

ALTER TABLE ONLY public.nonconformities
    ADD CONSTRAINT nonconformities_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.nonconformities
    ADD CONSTRAINT nonconformities_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.nonconformity_devices
    ADD CONSTRAINT nonconformity_devices_organization_id_device_id_fkey FOREIGN KEY (organization_id, device_id) REFERENCES public.devices(organization_id, id) ON DELETE SET NULL (device_id);

ALTER TABLE ONLY public.nonconformity_devices
    ADD CONSTRAINT nonconformity_devices_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.nonconformity_devices
    ADD CONSTRAINT nonconformity_devices_organization_id_nonconformity_id_fkey FOREIGN KEY (organization_id, nonconformity_id) REFERENCES public.nonconformities(organization_id, id) ON DELETE SET NULL (nonconformity_id);

ALTER TABLE ONLY public.notification_channels
    ADD CONSTRAINT notification_channels_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_messages
    ADD CONSTRAINT notification_messages_organization_id_channel_id_fkey FOREIGN KEY (organization_id, channel_id) REFERENCES public.notification_channels(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.notification_stops
    ADD CONSTRAINT notification_stops_organization_id_people_id_fkey FOREIGN KEY (organization_id, people_id) REFERENCES public.people(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.obligations
    ADD CONSTRAINT obligations_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.obligations
    ADD CONSTRAINT obligations_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.organization_closures
    ADD CONSTRAINT organization_closures_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.organization_domains
    ADD CONSTRAINT organization_domains_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.passkeys
    ADD CONSTRAINT passkeys_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.people
    ADD CONSTRAINT people_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.record_comments
    ADD CONSTRAINT record_comments_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.record_links
    ADD CONSTRAINT record_links_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.record_watches
    ADD CONSTRAINT record_watches_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.record_watches
    ADD CONSTRAINT record_watches_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES public.memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.reference_counters
    ADD CONSTRAINT reference_counters_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.revoked_device_keys
    ADD CONSTRAINT revoked_device_keys_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.risks
    ADD CONSTRAINT risks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.risks
    ADD CONSTRAINT risks_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.saved_views
    ADD CONSTRAINT saved_views_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.saved_views
    ADD CONSTRAINT saved_views_organization_id_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.memberships(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_credentials
    ADD CONSTRAINT scim_credentials_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_group_members
    ADD CONSTRAINT scim_group_members_organization_id_group_id_fkey FOREIGN KEY (organization_id, group_id) REFERENCES public.scim_groups(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_group_members
    ADD CONSTRAINT scim_group_members_organization_id_user_id_fkey FOREIGN KEY (organization_id, user_id) REFERENCES public.scim_users(organization_id, user_id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_groups
    ADD CONSTRAINT scim_groups_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_requests
    ADD CONSTRAINT scim_requests_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_users
    ADD CONSTRAINT scim_users_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.scim_users
    ADD CONSTRAINT scim_users_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_identity_provider_id_fkey FOREIGN KEY (identity_provider_id) REFERENCES public.identity_providers(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_passkey_id_fkey FOREIGN KEY (passkey_id) REFERENCES public.passkeys(id) ON DELETE SET NULL;

ALTER TABLE ONLY public.sessions
    ADD CONSTRAINT sessions_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_places
    ADD CONSTRAINT sign_in_places_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.sign_in_rules
    ADD CONSTRAINT sign_in_rules_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.silence_limits
    ADD CONSTRAINT silence_limits_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.silence_limits
    ADD CONSTRAINT silence_limits_organization_id_policy_id_fkey FOREIGN KEY (organization_id, policy_id) REFERENCES public.device_group_policies(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.snapshot_records
    ADD CONSTRAINT snapshot_records_organization_id_snapshot_id_fkey FOREIGN KEY (organization_id, snapshot_id) REFERENCES public.snapshots(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.snapshots
    ADD CONSTRAINT snapshots_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_assigned_to_id_fkey FOREIGN KEY (organization_id, assigned_to_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_measure_id_fkey FOREIGN KEY (organization_id, measure_id) REFERENCES public.measures(organization_id, id);

ALTER TABLE ONLY public.tasks
    ADD CONSTRAINT tasks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.trend_points
    ADD CONSTRAINT trend_points_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.two_factors
    ADD CONSTRAINT two_factors_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;

ALTER TABLE ONLY public.vendor_reviews
    ADD CONSTRAINT vendor_reviews_organization_id_vendor_id_fkey FOREIGN KEY (organization_id, vendor_id) REFERENCES public.vendors(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.vendors
    ADD CONSTRAINT vendors_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id);

ALTER TABLE ONLY public.vendors
    ADD CONSTRAINT vendors_owner_id_fkey FOREIGN KEY (organization_id, owner_id) REFERENCES public.people(organization_id, id);

ALTER TABLE ONLY public.webhook_deliveries
    ADD CONSTRAINT webhook_deliveries_organization_id_webhook_id_fkey FOREIGN KEY (organization_id, webhook_id) REFERENCES public.webhooks(organization_id, id) ON DELETE CASCADE;

ALTER TABLE ONLY public.webhooks
    ADD CONSTRAINT webhooks_organization_id_fkey FOREIGN KEY (organization_id) REFERENCES public.organizations(id) ON DELETE CASCADE;

ALTER TABLE public.account_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.accounts ENABLE ROW LEVEL SECURITY;

CREATE POLICY agent ON public.archive_changes TO assay_agent USING (true);

CREATE POLICY agent ON public.archive_files TO assay_agent USING (true);

CREATE POLICY agent ON public.archive_leftovers TO assay_agent USING (true);

CREATE POLICY agent ON public.archived_months TO assay_agent USING (true);

CREATE POLICY agent ON public.device_check_keys TO assay_agent USING (true);

CREATE POLICY agent ON public.device_conflicts TO assay_agent USING (true);

CREATE POLICY agent ON public.device_exception_members FOR INSERT TO assay_agent WITH CHECK (true);

CREATE POLICY agent ON public.device_exceptions FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.device_group_members FOR INSERT TO assay_agent WITH CHECK (true);

CREATE POLICY agent ON public.device_group_policies FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.device_group_policy_spans FOR INSERT TO assay_agent WITH CHECK (true);

CREATE POLICY agent ON public.device_policies FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.device_silences TO assay_agent USING (true);

CREATE POLICY agent ON public.devices TO assay_agent USING (true);

CREATE POLICY agent ON public.enrollment_keys TO assay_agent USING (true);

CREATE POLICY agent ON public.enrollment_tokens TO assay_agent USING (true);

CREATE POLICY agent ON public.events TO assay_agent USING (true);

CREATE POLICY agent ON public.last_backup TO assay_agent USING (true);

CREATE POLICY agent ON public.last_retention TO assay_agent USING (true);

CREATE POLICY agent ON public.maintenance TO assay_agent USING (true);

CREATE POLICY agent ON public.notification_channels FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.notification_messages TO assay_agent USING (true);

CREATE POLICY agent ON public.organization_closures FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.organizations TO assay_agent USING (true);

CREATE POLICY agent ON public.packed_posture_reports TO assay_agent USING (true);

CREATE POLICY agent ON public.people FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.posture_report_changes TO assay_agent USING (true);

CREATE POLICY agent ON public.posture_reports TO assay_agent USING (true);

CREATE POLICY agent ON public.posture_spans TO assay_agent USING (true);

CREATE POLICY agent ON public.revoked_device_keys TO assay_agent USING (true);

CREATE POLICY agent ON public.trend_points FOR SELECT TO assay_agent USING (true);

CREATE POLICY agent ON public.unknown_device_keys TO assay_agent USING (true);

CREATE POLICY agent ON public.unknown_key_wait TO assay_agent USING (true);

CREATE POLICY agent ON public.webhook_deliveries TO assay_agent USING (true);

CREATE POLICY agent ON public.webhooks FOR SELECT TO assay_agent USING (true);

ALTER TABLE public.api_token_usage ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.api_tokens ENABLE ROW LEVEL SECURITY;

CREATE POLICY app ON public.oauth_clients FOR SELECT TO assay_app USING (true);

ALTER TABLE public.applicability_statements ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.archive_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.archive_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.archive_leftovers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.archived_months ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.asset_vendors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.assets ENABLE ROW LEVEL SECURITY;

CREATE POLICY audit ON public.audit_entries TO assay_audit USING (true);

CREATE POLICY audit ON public.audit_heads TO assay_audit USING (true);

CREATE POLICY audit ON public.audit_sealing TO assay_audit USING (true);

CREATE POLICY audit ON public.audit_seals TO assay_audit USING (true);

CREATE POLICY audit ON public.organizations FOR SELECT TO assay_audit USING (true);

ALTER TABLE public.audit_entries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_heads ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_sealing ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audit_seals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.audits ENABLE ROW LEVEL SECURITY;

CREATE POLICY backup ON public.accounts FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.api_token_usage FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.api_tokens FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.applicability_statements FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.archive_changes FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.archive_files FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.archive_leftovers FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.archived_months FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.asset_vendors FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.assets FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.audit_entries FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.audit_heads FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.audit_seals FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.audits FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.check_count_days FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.check_nonconformities FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.connected_apps FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.continual_improvements FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.controls FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.data FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.datum_vendors FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.deleted_organizations FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_check_keys FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_check_rules FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_conflicts FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_exception_members FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_exceptions FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_group_members FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_group_policies FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_group_policy_rules FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_group_policy_spans FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_groups FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_policies FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.device_silences FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.devices FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.document_approvals FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.document_approvers FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.document_signatures FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.document_versions FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.documents FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.emergency_members FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.emergency_sign_ins FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.enrollment_keys FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.enrollment_tokens FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.evidence FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.evidence_files FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.file_chunks FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.file_contents FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.frameworks FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.idempotency_keys FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.identity_providers FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.imports FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.invitations FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.measures FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.memberships FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.nonconformities FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.nonconformity_devices FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.notification_channels FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.notification_stops FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.oauth_clients FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.obligations FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.organization_closures FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.organization_domains FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.organizations FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.packed_posture_reports FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.passkeys FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.people FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.posture_report_changes FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.posture_reports FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.posture_spans FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.record_comments FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.record_links FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.record_versions FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.record_watches FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.reference_counters FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.revoked_device_keys FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.risks FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.saved_views FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.scim_credentials FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.scim_group_members FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.scim_groups FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.scim_requests FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.scim_users FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.sign_in_places FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.sign_in_rules FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.silence_limits FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.snapshot_records FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.snapshots FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.tasks FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.trend_points FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.two_factors FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.unknown_key_wait FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.users FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.vendor_reviews FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.vendors FOR SELECT TO assay_backup USING (true);

CREATE POLICY backup ON public.webhooks FOR SELECT TO assay_backup USING (true);

ALTER TABLE public.check_count_days ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.check_nonconformities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.connected_apps ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.continual_improvements ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.controls ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.data ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.datum_vendors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.deleted_organizations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_check_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_check_rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_conflicts ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_exception_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_exceptions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_group_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_group_policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_group_policy_rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_group_policy_spans ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_policies ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.device_silences ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.devices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_approvals ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_approvers ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_signatures ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.document_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.documents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.emergency_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.emergency_sign_ins ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.enrollment_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.enrollment_tokens ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.events ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.evidence_files ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.file_chunks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.file_contents ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.frameworks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.idempotency_keys ENABLE ROW LEVEL SECURITY;

CREATE POLICY identity ON public.account_links TO assay_identity USING (true);

CREATE POLICY identity ON public.accounts TO assay_identity USING (true);

CREATE POLICY identity ON public.api_token_usage TO assay_identity USING (true);

CREATE POLICY identity ON public.api_tokens TO assay_identity USING (true);

CREATE POLICY identity ON public.connected_apps TO assay_identity USING (true);

CREATE POLICY identity ON public.deleted_organizations FOR SELECT TO assay_identity USING (true);

CREATE POLICY identity ON public.emergency_members TO assay_identity USING (true);

CREATE POLICY identity ON public.emergency_sign_ins TO assay_identity USING (true);

CREATE POLICY identity ON public.events TO assay_identity USING (true);

CREATE POLICY identity ON public.idempotency_keys TO assay_identity USING (true);

CREATE POLICY identity ON public.identity_providers TO assay_identity USING (true);

CREATE POLICY identity ON public.invitations TO assay_identity USING (true);

CREATE POLICY identity ON public.mails TO assay_identity USING (true);

CREATE POLICY identity ON public.memberships TO assay_identity USING (true);

CREATE POLICY identity ON public.my_devices_links TO assay_identity USING (true);

CREATE POLICY identity ON public.notification_messages TO assay_identity USING (true);

CREATE POLICY identity ON public.oauth_clients TO assay_identity USING (true);

CREATE POLICY identity ON public.organization_closures FOR SELECT TO assay_identity USING (true);

CREATE POLICY identity ON public.organization_domains TO assay_identity USING (true);

CREATE POLICY identity ON public.organizations TO assay_identity USING (true);

CREATE POLICY identity ON public.passkeys TO assay_identity USING (true);

CREATE POLICY identity ON public.scim_credentials TO assay_identity USING (true);

CREATE POLICY identity ON public.scim_group_members TO assay_identity USING (true);

CREATE POLICY identity ON public.scim_groups TO assay_identity USING (true);

CREATE POLICY identity ON public.scim_requests TO assay_identity USING (true);

CREATE POLICY identity ON public.scim_users TO assay_identity USING (true);

CREATE POLICY identity ON public.sessions TO assay_identity USING (true);

CREATE POLICY identity ON public.sign_in_failures TO assay_identity USING (true);

CREATE POLICY identity ON public.sign_in_places TO assay_identity USING (true);

CREATE POLICY identity ON public.sign_in_rules TO assay_identity USING (true);

CREATE POLICY identity ON public.two_factors TO assay_identity USING (true);

CREATE POLICY identity ON public.users TO assay_identity USING (true);

CREATE POLICY identity ON public.verifications TO assay_identity USING (true);

CREATE POLICY identity ON public.webhook_deliveries TO assay_identity USING (true);

CREATE POLICY identity ON public.webhooks FOR SELECT TO assay_identity USING (true);

ALTER TABLE public.identity_providers ENABLE ROW LEVEL SECURITY;

CREATE POLICY import ON public.applicability_statements FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.asset_vendors FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.assets FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.audit_entries FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.audit_heads FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.audit_seals FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.audits FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.check_count_days FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.check_nonconformities FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.continual_improvements FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.controls FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.data FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.datum_vendors FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_check_keys FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_check_rules FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_conflicts FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_exception_members FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_exceptions FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_group_members FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_group_policies FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_group_policy_rules FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_group_policy_spans FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_groups FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_policies FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.device_silences FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.devices FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.document_approvals FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.document_approvers FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.document_signatures FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.document_versions FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.documents FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.evidence FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.evidence_files FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.file_chunks FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.file_contents FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.frameworks FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.imports FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.measures FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.nonconformities FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.nonconformity_devices FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.notification_channels FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.notification_stops FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.obligations FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.organizations FOR INSERT TO assay_backup WITH CHECK (((id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.packed_posture_reports FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.people FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.posture_report_changes FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.posture_reports FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.posture_spans FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.record_comments FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.record_links FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.record_versions FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.reference_counters FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.risks FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.saved_views FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.silence_limits FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.snapshot_records FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.snapshots FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.tasks FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.trend_points FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.vendor_reviews FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.vendors FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

CREATE POLICY import ON public.webhooks FOR INSERT TO assay_backup WITH CHECK (((organization_id)::text = current_setting('assay.importing'::text, true)));

ALTER TABLE public.imports ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.invitations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.last_backup ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.last_retention ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.mails ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.maintenance ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.measures ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.memberships ENABLE ROW LEVEL SECURITY;

CREATE POLICY metrics ON public.check_count_days FOR SELECT TO assay_agent USING (true);

ALTER TABLE public.my_devices_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.nonconformities ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.nonconformity_devices ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notification_channels ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notification_messages ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.notification_stops ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.oauth_clients ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.obligations ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organization_closures ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organization_domains ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.organizations ENABLE ROW LEVEL SECURITY;

CREATE POLICY own ON public.api_tokens TO assay_app USING (((user_id)::text = current_setting('assay.user_id'::text, true)));

CREATE POLICY own ON public.connected_apps FOR INSERT TO assay_app WITH CHECK ((EXISTS ( SELECT
   FROM public.api_tokens t
  WHERE (((t.id)::text = (connected_apps.token_id)::text) AND ((t.user_id)::text = current_setting('assay.user_id'::text, true))))));

CREATE POLICY own ON public.memberships FOR SELECT TO assay_app USING ((((user_id)::text = current_setting('assay.user_id'::text, true)) AND (current_setting('assay.organization_id'::text, true) = ''::text)));

CREATE POLICY own ON public.organizations FOR SELECT TO assay_app USING (((current_setting('assay.organization_id'::text, true) = ''::text) AND (EXISTS ( SELECT
   FROM public.memberships m
  WHERE (((m.organization_id)::text = (organizations.id)::text) AND ((m.user_id)::text = current_setting('assay.user_id'::text, true)))))));

CREATE POLICY own ON public.users FOR SELECT TO assay_app USING (((id)::text = current_setting('assay.user_id'::text, true)));

CREATE POLICY own_name ON public.users FOR UPDATE TO assay_app USING (((id)::text = current_setting('assay.user_id'::text, true)));

ALTER TABLE public.packed_posture_reports ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.passkeys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.people ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posture_report_changes ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posture_reports ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posture_reports_default ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.posture_spans ENABLE ROW LEVEL SECURITY;

CREATE POLICY privacy ON public.account_links TO assay_privacy USING (true);

CREATE POLICY privacy ON public.accounts TO assay_privacy USING (true);

CREATE POLICY privacy ON public.api_token_usage TO assay_privacy USING (true);

CREATE POLICY privacy ON public.api_tokens TO assay_privacy USING (true);

CREATE POLICY privacy ON public.applicability_statements TO assay_privacy USING (true);

CREATE POLICY privacy ON public.assets TO assay_privacy USING (true);

CREATE POLICY privacy ON public.audit_entries TO assay_privacy USING (true);

CREATE POLICY privacy ON public.audit_seals FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.audits TO assay_privacy USING (true);

CREATE POLICY privacy ON public.connected_apps FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.continual_improvements TO assay_privacy USING (true);

CREATE POLICY privacy ON public.controls TO assay_privacy USING (true);

CREATE POLICY privacy ON public.data TO assay_privacy USING (true);

CREATE POLICY privacy ON public.device_exceptions TO assay_privacy USING (true);

CREATE POLICY privacy ON public.devices TO assay_privacy USING (true);

CREATE POLICY privacy ON public.document_approvals TO assay_privacy USING (true);

CREATE POLICY privacy ON public.document_signatures TO assay_privacy USING (true);

CREATE POLICY privacy ON public.document_versions TO assay_privacy USING (true);

CREATE POLICY privacy ON public.documents TO assay_privacy USING (true);

CREATE POLICY privacy ON public.emergency_members FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.emergency_sign_ins FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.enrollment_keys TO assay_privacy USING (true);

CREATE POLICY privacy ON public.enrollment_tokens TO assay_privacy USING (true);

CREATE POLICY privacy ON public.evidence TO assay_privacy USING (true);

CREATE POLICY privacy ON public.evidence_files TO assay_privacy USING (true);

CREATE POLICY privacy ON public.frameworks TO assay_privacy USING (true);

CREATE POLICY privacy ON public.idempotency_keys TO assay_privacy USING (true);

CREATE POLICY privacy ON public.invitations TO assay_privacy USING (true);

CREATE POLICY privacy ON public.mails TO assay_privacy USING (true);

CREATE POLICY privacy ON public.measures TO assay_privacy USING (true);

CREATE POLICY privacy ON public.memberships TO assay_privacy USING (true);

CREATE POLICY privacy ON public.nonconformities TO assay_privacy USING (true);

CREATE POLICY privacy ON public.obligations TO assay_privacy USING (true);

CREATE POLICY privacy ON public.organizations TO assay_privacy USING (true);

CREATE POLICY privacy ON public.passkeys TO assay_privacy USING (true);

CREATE POLICY privacy ON public.people TO assay_privacy USING (true);

CREATE POLICY privacy ON public.record_comments TO assay_privacy USING (true);

CREATE POLICY privacy ON public.record_versions TO assay_privacy USING (true);

CREATE POLICY privacy ON public.record_watches TO assay_privacy USING (true);

CREATE POLICY privacy ON public.risks TO assay_privacy USING (true);

CREATE POLICY privacy ON public.saved_views FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.scim_credentials TO assay_privacy USING (true);

CREATE POLICY privacy ON public.scim_users FOR SELECT TO assay_privacy USING (true);

CREATE POLICY privacy ON public.sessions TO assay_privacy USING (true);

CREATE POLICY privacy ON public.sign_in_failures TO assay_privacy USING (true);

CREATE POLICY privacy ON public.sign_in_places TO assay_privacy USING (true);

CREATE POLICY privacy ON public.snapshot_records TO assay_privacy USING (true);

CREATE POLICY privacy ON public.snapshots TO assay_privacy USING (true);

CREATE POLICY privacy ON public.tasks TO assay_privacy USING (true);

CREATE POLICY privacy ON public.two_factors TO assay_privacy USING (true);

CREATE POLICY privacy ON public.users TO assay_privacy USING (true);

CREATE POLICY privacy ON public.vendor_reviews TO assay_privacy USING (true);

CREATE POLICY privacy ON public.vendors TO assay_privacy USING (true);

CREATE POLICY privacy ON public.verifications TO assay_privacy USING (true);

CREATE POLICY reached ON public.api_token_usage FOR SELECT TO assay_app USING (((EXISTS ( SELECT
   FROM public.api_tokens t
  WHERE ((t.id)::text = (api_token_usage.token_id)::text))) AND ((current_setting('assay.organization_id'::text, true) = ''::text) OR (current_setting('assay.organization_id'::text, true) = (organization_id)::text))));

CREATE POLICY reached ON public.connected_apps FOR SELECT TO assay_app USING ((EXISTS ( SELECT
   FROM public.api_tokens t
  WHERE ((t.id)::text = (connected_apps.token_id)::text))));

ALTER TABLE public.record_comments ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_links ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_versions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.record_watches ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.reference_counters ENABLE ROW LEVEL SECURITY;

CREATE POLICY revoke ON public.api_tokens FOR UPDATE TO assay_app USING ((((organization_ids IS NULL) OR (current_setting('assay.organization_id'::text, true) = ANY ((organization_ids)::text[]))) AND (EXISTS ( SELECT
   FROM public.memberships m
  WHERE (((m.organization_id)::text = current_setting('assay.organization_id'::text, true)) AND ((m.user_id)::text = (api_tokens.user_id)::text))))));

ALTER TABLE public.revoked_device_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.risks ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.saved_views ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scim_credentials ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scim_group_members ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scim_groups ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scim_requests ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.scim_users ENABLE ROW LEVEL SECURITY;

CREATE POLICY search ON public.assets FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.audits FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.continual_improvements FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.controls FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.data FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.devices FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.documents FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.evidence FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.frameworks FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.measures FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.nonconformities FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.obligations FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.people FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.risks FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.tasks FOR SELECT TO assay_search USING (true);

CREATE POLICY search ON public.vendors FOR SELECT TO assay_search USING (true);

ALTER TABLE public.sessions ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sign_in_failures ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sign_in_places ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.sign_in_rules ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.silence_limits ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.snapshot_records ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.snapshots ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.tasks ENABLE ROW LEVEL SECURITY;

CREATE POLICY tenant ON public.api_tokens FOR SELECT TO assay_app USING ((((organization_ids IS NULL) OR (current_setting('assay.organization_id'::text, true) = ANY ((organization_ids)::text[]))) AND (EXISTS ( SELECT
   FROM public.memberships m
  WHERE (((m.organization_id)::text = current_setting('assay.organization_id'::text, true)) AND ((m.user_id)::text = (api_tokens.user_id)::text))))));

CREATE POLICY tenant ON public.applicability_statements TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.asset_vendors TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.assets TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.audit_entries FOR SELECT TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.audit_heads FOR SELECT TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.audit_seals FOR SELECT TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.audits TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.check_count_days TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.check_nonconformities TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.continual_improvements TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.controls TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.data TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.datum_vendors TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_check_keys TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_check_rules TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_conflicts TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_exception_members TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_exceptions TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_group_members TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_group_policies TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_group_policy_rules TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_group_policy_spans TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_groups TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_policies TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.device_silences TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.devices TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.document_approvals TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.document_approvers TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.document_signatures TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.document_versions TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.documents TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.emergency_members TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.emergency_sign_ins TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.enrollment_keys TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.enrollment_tokens TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.events TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.evidence TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.evidence_files TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.file_chunks TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.file_contents TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.frameworks TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.idempotency_keys TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.identity_providers TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.imports TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.invitations TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.mails TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.measures TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.memberships TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.my_devices_links TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.nonconformities TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.nonconformity_devices TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.notification_channels TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.notification_messages TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.notification_stops TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.obligations TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.organization_closures TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.organization_domains TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.organizations TO assay_app USING (((id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.packed_posture_reports TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.people TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.posture_reports TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.posture_spans TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.record_comments TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.record_links TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.record_versions TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.record_watches TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.reference_counters TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.revoked_device_keys TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.risks TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.saved_views TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.scim_credentials TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.scim_group_members TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.scim_groups TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.scim_requests TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.scim_users TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.sign_in_rules TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true))) WITH CHECK (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.silence_limits TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.snapshot_records TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.snapshots TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.tasks TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.trend_points TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.users FOR SELECT TO assay_app USING ((EXISTS ( SELECT
   FROM public.memberships m
  WHERE (((m.organization_id)::text = current_setting('assay.organization_id'::text, true)) AND ((m.user_id)::text = (users.id)::text)))));

CREATE POLICY tenant ON public.vendor_reviews TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.vendors TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.webhook_deliveries TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

CREATE POLICY tenant ON public.webhooks TO assay_app USING (((organization_id)::text = current_setting('assay.organization_id'::text, true)));

ALTER TABLE public.trend_points ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.two_factors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.unknown_device_keys ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.unknown_key_wait ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.users ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vendor_reviews ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.vendors ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.verifications ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhook_deliveries ENABLE ROW LEVEL SECURITY;

ALTER TABLE public.webhooks ENABLE ROW LEVEL SECURITY;

GRANT USAGE ON SCHEMA public TO assay_app;
GRANT USAGE ON SCHEMA public TO assay_agent;
GRANT USAGE ON SCHEMA public TO assay_identity;
GRANT USAGE ON SCHEMA public TO assay_audit;
GRANT USAGE ON SCHEMA public TO assay_search;
GRANT USAGE ON SCHEMA public TO assay_backup;
GRANT USAGE ON SCHEMA public TO assay_privacy;

REVOKE ALL ON FUNCTION public.accept_invitation(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.accept_invitation(p_token_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.accept_invitation_with_tokens(p_token_hash bytea, p_session_id text, p_token_ids text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.accept_invitation_with_tokens(p_token_hash bytea, p_session_id text, p_token_ids text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.add_password_reset(p_token_hash bytea, p_user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_password_reset(p_token_hash bytea, p_user_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.add_setup_link(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.add_setup_link(p_token_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.administers_account(p_admin_id text, p_user_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.agent_activate(p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_activate(p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_authenticate(p_key_hash bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_authenticate(p_key_hash bytea[]) TO assay_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_policies TO assay_app;
GRANT SELECT ON TABLE public.device_policies TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.device_policies TO assay_backup;

REVOKE ALL ON FUNCTION public.agent_device_policies() FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_device_policies() TO assay_app;

REVOKE ALL ON FUNCTION public.agent_enroll(p_token_hash bytea, p_key_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_enroll(p_token_hash bytea, p_key_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_enroll_with_key(p_secret_hash bytea, p_device_id text[], p_key_hash bytea[], p_owner_email text[], p_address text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_enroll_with_key(p_secret_hash bytea, p_device_id text[], p_key_hash bytea[], p_owner_email text[], p_address text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_extend_packed_report(p_organization_id text, p_device_id text, p_month date, p_report_id text, p_further jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_extend_packed_report(p_organization_id text, p_device_id text, p_month date, p_report_id text, p_further jsonb) TO assay_agent;

REVOKE ALL ON FUNCTION public.agent_extend_report(p_organization_id text, p_device_id text, p_report_id text, p_not_before timestamp with time zone, p_results jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_extend_report(p_organization_id text, p_device_id text, p_report_id text, p_not_before timestamp with time zone, p_results jsonb) TO assay_agent;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_group_policies TO assay_app;
GRANT SELECT ON TABLE public.device_group_policies TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.device_group_policies TO assay_backup;

REVOKE ALL ON FUNCTION public.agent_group_policies() FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_group_policies() TO assay_app;

REVOKE ALL ON FUNCTION public.agent_heartbeat(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_heartbeat(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_judge_unknown_keys(p_key_hash bytea[], p_claims jsonb, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_judge_unknown_keys(p_key_hash bytea[], p_claims jsonb, p_most integer) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_lock(p_key_hash bytea[], p_are_reports boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_lock(p_key_hash bytea[], p_are_reports boolean) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_note_check_keys(p_key_hash bytea[], r_device integer[], r_check_key text[], p_most integer, p_days integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_note_check_keys(p_key_hash bytea[], r_device integer[], r_check_key text[], p_most integer, p_days integer) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_note_silences(p_organization_id text, p_device_id text, p_last_at timestamp with time zone, p_observed_at bigint[]) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.agent_record_observation(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_observed_at timestamp with time zone, p_report_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_record_observation(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_observed_at timestamp with time zone, p_report_id text) TO assay_agent;

REVOKE ALL ON FUNCTION public.agent_store_heartbeats(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_store_heartbeats(p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[], p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_store_postures(p_key_hash bytea[], p_tenant text[], p_report_id text[], p_not_before timestamp with time zone[], p_results jsonb, r_report integer[], r_position integer[], r_check_key text[], r_status text[], r_observed_at bigint[], r_is_only boolean[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_store_postures(p_key_hash bytea[], p_tenant text[], p_report_id text[], p_not_before timestamp with time zone[], p_results jsonb, r_report integer[], r_position integer[], r_check_key text[], r_status text[], r_observed_at bigint[], r_is_only boolean[]) TO assay_app;

REVOKE ALL ON FUNCTION public.agent_unenroll(p_key_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.agent_unenroll(p_key_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.allow_backup() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.attach_packed_month(p_month date) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.audit_append(p_organization_id text, p_entries jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_append(p_organization_id text, p_entries jsonb) TO assay_app;
GRANT ALL ON FUNCTION public.audit_append(p_organization_id text, p_entries jsonb) TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.devices TO assay_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.devices TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.devices TO assay_backup;
GRANT SELECT ON TABLE public.devices TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.devices TO assay_search;

GRANT SELECT(id) ON TABLE public.devices TO assay_search;

GRANT UPDATE(updated_at) ON TABLE public.devices TO assay_privacy;

GRANT UPDATE(owner_id) ON TABLE public.devices TO assay_privacy;

GRANT SELECT(search_text) ON TABLE public.devices TO assay_search;

GRANT UPDATE(claimed_owner_id) ON TABLE public.devices TO assay_privacy;

REVOKE ALL ON FUNCTION public.audit_device(device public.devices, operation text, changes jsonb) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_device(device public.devices, operation text, changes jsonb) TO assay_agent;

REVOKE ALL ON FUNCTION public.audit_device_conflict() FROM PUBLIC;

GRANT SELECT ON TABLE public.audit_entries TO assay_app;
GRANT SELECT,INSERT ON TABLE public.audit_entries TO assay_audit;
GRANT SELECT,INSERT ON TABLE public.audit_entries TO assay_backup;
GRANT SELECT ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(actor_name) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(token_name) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(client) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(address) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(record_name) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(changes) ON TABLE public.audit_entries TO assay_privacy;

GRANT UPDATE(salts) ON TABLE public.audit_entries TO assay_privacy;

REVOKE ALL ON FUNCTION public.audit_seal(p_limit integer, p_wait boolean, p_except text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.audit_seal(p_limit integer, p_wait boolean, p_except text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.audit_settle() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.authenticate_api_tokens(p_hash bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_api_tokens(p_hash bytea[]) TO assay_app;

REVOKE ALL ON FUNCTION public.authenticate_scim(p_hash bytea, p_address text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_scim(p_hash bytea, p_address text) TO assay_app;

REVOKE ALL ON FUNCTION public.authenticate_scoped_tokens(p_hash bytea[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.authenticate_scoped_tokens(p_hash bytea[]) TO assay_app;

REVOKE ALL ON FUNCTION public.begin_packed_month(p_month date) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.changed_since_packed(p_month date) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.compare_packed_reports(p_month date, p_after_organization text, p_after_device text, p_most integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.compare_packed_reports(p_month date, p_after_organization text, p_after_device text, p_most integer) TO assay_agent;

REVOKE ALL ON FUNCTION public.count_check_states() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_check_states() TO assay_app;

REVOKE ALL ON FUNCTION public.count_devices() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_devices() TO assay_app;

REVOKE ALL ON FUNCTION public.count_devices_not_reporting() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_devices_not_reporting() TO assay_app;

REVOKE ALL ON FUNCTION public.count_enrollment_key_states() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_enrollment_key_states() TO assay_app;

REVOKE ALL ON FUNCTION public.count_enrollment_keys() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_enrollment_keys() TO assay_app;

REVOKE ALL ON FUNCTION public.count_failing_receivers() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_failing_receivers() TO assay_app;

REVOKE ALL ON FUNCTION public.count_mails() FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_mails() TO assay_app;

REVOKE ALL ON FUNCTION public.count_members_without_provider(p_issuer text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_members_without_provider(p_issuer text) TO assay_app;

REVOKE ALL ON FUNCTION public.count_unsealed_entries(p_organization_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.count_unsealed_entries(p_organization_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.create_proven_user(p_id text, p_email text, p_name text, p_account_id text, p_password text, p_address_proof text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.create_proven_user(p_id text, p_email text, p_name text, p_account_id text, p_password text, p_address_proof text) TO assay_app;

REVOKE ALL ON FUNCTION public.create_user(p_id text, p_email text, p_name text, p_account_id text, p_password text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.create_user(p_id text, p_email text, p_name text, p_account_id text, p_password text) TO assay_app;

REVOKE ALL ON FUNCTION public.emergency_candidates(p_rp_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.emergency_candidates(p_rp_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.end_access_after_leaving(p_user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_access_after_leaving(p_user_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.end_emergency_member() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.end_my_devices_links() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.end_own_sessions(p_one text, p_all_but text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.end_own_sessions(p_one text, p_all_but text) TO assay_app;

REVOKE ALL ON FUNCTION public.end_provider() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.end_provider_sessions() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.enrollment_key_state(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enrollment_key_state(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer) TO assay_app;
GRANT ALL ON FUNCTION public.enrollment_key_state(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer) TO assay_agent;

REVOKE ALL ON FUNCTION public.enrollment_key_warning(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer, p_last_used_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.enrollment_key_warning(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer, p_last_used_at timestamp with time zone) TO assay_app;
GRANT ALL ON FUNCTION public.enrollment_key_warning(p_created_at timestamp with time zone, p_expires_at timestamp with time zone, p_revoked_at timestamp with time zone, p_max_devices integer, p_used integer, p_last_used_at timestamp with time zone) TO assay_agent;

REVOKE ALL ON FUNCTION public.ensure_posture_report_partitions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.ensure_posture_report_partitions() TO assay_app;

REVOKE ALL ON FUNCTION public.event_of_span(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_previous_status text, p_since timestamp with time zone, p_report_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.event_of_span(p_organization_id text, p_device_id text, p_check_key text, p_status text, p_previous_status text, p_since timestamp with time zone, p_report_id text) TO assay_agent;

REVOKE ALL ON FUNCTION public.find_invitation(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_invitation(p_token_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.find_my_devices_link(p_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_my_devices_link(p_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.find_records(p_table text, p_words text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_records(p_table text, p_words text[], p_limit integer) TO assay_app;

REVOKE ALL ON FUNCTION public.find_similar(p_table text, p_words text[], p_patterns text[], p_limit integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.find_similar(p_table text, p_words text[], p_patterns text[], p_limit integer) TO assay_app;

REVOKE ALL ON FUNCTION public.finish_packed_month(p_month date) FROM PUBLIC;

GRANT SELECT,INSERT,UPDATE ON TABLE public.organizations TO assay_app;
GRANT SELECT ON TABLE public.organizations TO assay_agent;
GRANT SELECT ON TABLE public.organizations TO assay_identity;
GRANT SELECT,INSERT ON TABLE public.organizations TO assay_backup;

GRANT SELECT(id) ON TABLE public.organizations TO assay_audit;
GRANT SELECT(id) ON TABLE public.organizations TO assay_privacy;

GRANT SELECT(name) ON TABLE public.organizations TO assay_audit;
GRANT SELECT(name) ON TABLE public.organizations TO assay_privacy;

GRANT UPDATE(updated_at) ON TABLE public.organizations TO assay_identity;

REVOKE ALL ON FUNCTION public.has_organizations() FROM PUBLIC;
GRANT ALL ON FUNCTION public.has_organizations() TO assay_app;

REVOKE ALL ON FUNCTION public.has_users() FROM PUBLIC;
GRANT ALL ON FUNCTION public.has_users() TO assay_app;

REVOKE ALL ON FUNCTION public.index_register(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.invitation_email(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.invitation_email(p_token_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.invitations_sent(p_email text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.invitations_sent(p_email text) TO assay_app;

REVOKE ALL ON FUNCTION public.invitations_sent_today() FROM PUBLIC;
GRANT ALL ON FUNCTION public.invitations_sent_today() TO assay_app;

REVOKE ALL ON FUNCTION public.is_live_membership(p_organization_id text, p_ends_on date) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_live_membership(p_organization_id text, p_ends_on date) TO assay_app;

REVOKE ALL ON FUNCTION public.is_setup_link(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_setup_link(p_token_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.is_token_accepted(p_organization_id text, p_sign_in_organization_id text, p_created_at timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.is_token_accepted(p_organization_id text, p_sign_in_organization_id text, p_created_at timestamp with time zone) TO assay_app;
GRANT ALL ON FUNCTION public.is_token_accepted(p_organization_id text, p_sign_in_organization_id text, p_created_at timestamp with time zone) TO assay_identity;

REVOKE ALL ON FUNCTION public.is_trusted_inviter(p_user_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_an_administrator() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_an_emergency_member() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_link_versions_of(p_table text, p_first text, p_second text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.keep_versions_of(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.last_packed_device(p_month date, OUT last_organization text, OUT last_device text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.last_packed_device(p_month date, OUT last_organization text, OUT last_device text) TO assay_agent;

REVOKE ALL ON FUNCTION public.link_new_user(p_id text, p_user_id text, p_provider_id text, p_subject text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.link_new_user(p_id text, p_user_id text, p_provider_id text, p_subject text) TO assay_app;

REVOKE ALL ON FUNCTION public.list_closed_organizations() FROM PUBLIC;
GRANT ALL ON FUNCTION public.list_closed_organizations() TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.unknown_device_keys TO assay_agent;

REVOKE ALL ON FUNCTION public.list_unknown_device_keys() FROM PUBLIC;
GRANT ALL ON FUNCTION public.list_unknown_device_keys() TO assay_app;

REVOKE ALL ON FUNCTION public.mails_left_to_people(p_of_organization integer, p_of_all integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.mails_left_to_people(p_of_organization integer, p_of_all integer) TO assay_app;

REVOKE ALL ON FUNCTION public.make_packed_report_partition(p_month date) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.make_posture_report_partition(p_first_day timestamp with time zone) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.make_register(p_table text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.may_mail_invitation(p_of_user integer, p_of_all integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.may_mail_invitation(p_of_user integer, p_of_all integer) TO assay_app;

REVOKE ALL ON FUNCTION public.may_mail_people(p_count integer, p_of_organization integer, p_of_all integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.may_mail_people(p_count integer, p_of_organization integer, p_of_all integer) TO assay_app;

REVOKE ALL ON FUNCTION public.may_send_test_mail(p_of_user integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.may_send_test_mail(p_of_user integer) TO assay_app;

REVOKE ALL ON FUNCTION public.members_with_second_factor() FROM PUBLIC;
GRANT ALL ON FUNCTION public.members_with_second_factor() TO assay_app;

REVOKE ALL ON FUNCTION public.missing_trend_points(p_months integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.missing_trend_points(p_months integer) TO assay_app;

REVOKE ALL ON FUNCTION public.move_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, OUT moved integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.move_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, OUT moved integer) TO assay_agent;

REVOKE ALL ON FUNCTION public.move_report_part(p_month date, p_organization_id text, p_device_id text, p_most integer, OUT moved integer, OUT is_last boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.move_report_part(p_month date, p_organization_id text, p_device_id text, p_most integer, OUT moved integer, OUT is_last boolean) TO assay_agent;

REVOKE ALL ON FUNCTION public.narrow_membership() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_archive_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_archive_leftover() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_backup(p_made_at timestamp with time zone, p_has_sound_logs boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_backup(p_made_at timestamp with time zone, p_has_sound_logs boolean) TO assay_app;

REVOKE ALL ON FUNCTION public.note_device_event() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_duplicate_hardware(p_device public.devices, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_duplicate_hardware(p_device public.devices, p_hardware_uuid text, p_serial_number text, p_hostname text, p_platform text, p_os_version text, p_agent_version text) TO assay_agent;

REVOKE ALL ON FUNCTION public.note_posture_report_change() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.note_retention() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_retention() TO assay_app;

REVOKE ALL ON FUNCTION public.note_revoked_key() FROM PUBLIC;
GRANT ALL ON FUNCTION public.note_revoked_key() TO assay_app;

REVOKE ALL ON FUNCTION public.organization_today() FROM PUBLIC;
GRANT ALL ON FUNCTION public.organization_today() TO assay_app;

REVOKE ALL ON FUNCTION public.organizations_with_daily_events() FROM PUBLIC;
GRANT ALL ON FUNCTION public.organizations_with_daily_events() TO assay_app;

REVOKE ALL ON FUNCTION public.organizations_with_devices() FROM PUBLIC;
GRANT ALL ON FUNCTION public.organizations_with_devices() TO assay_app;

REVOKE ALL ON FUNCTION public.organizations_with_due_digests() FROM PUBLIC;
GRANT ALL ON FUNCTION public.organizations_with_due_digests() TO assay_app;

REVOKE ALL ON FUNCTION public.organizations_with_events() FROM PUBLIC;
GRANT ALL ON FUNCTION public.organizations_with_events() TO assay_app;

REVOKE ALL ON FUNCTION public.own_account() FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_account() TO assay_app;

REVOKE ALL ON FUNCTION public.own_identity_provider(p_session_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_identity_provider(p_session_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.own_passkeys() FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_passkeys() TO assay_app;

REVOKE ALL ON FUNCTION public.own_second_factors(p_rp_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_second_factors(p_rp_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.own_session_proved_at(p_session_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_session_proved_at(p_session_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.own_sessions() FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_sessions() TO assay_app;

REVOKE ALL ON FUNCTION public.own_sign_in(p_session_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.own_sign_in(p_session_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.pack_device_reports(p_month date, p_organization_id text, p_device_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.pack_device_reports(p_month date, p_organization_id text, p_device_id text) TO assay_agent;

REVOKE ALL ON FUNCTION public.pack_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, INOUT last_part integer, INOUT last_id text, INOUT last_at timestamp with time zone, OUT packed integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.pack_next_parts(p_month date, p_most integer, p_part_size integer, INOUT last_organization text, INOUT last_device text, INOUT last_part integer, INOUT last_id text, INOUT last_at timestamp with time zone, OUT packed integer) TO assay_agent;

REVOKE ALL ON FUNCTION public.pack_next_reports(p_month date, p_after_organization text, p_after_device text, p_most integer, OUT last_organization text, OUT last_device text, OUT packed integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.pack_next_reports(p_month date, p_after_organization text, p_after_device text, p_most integer, OUT last_organization text, OUT last_device text, OUT packed integer) TO assay_agent;

GRANT SELECT,DELETE ON TABLE public.packed_posture_reports TO assay_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.packed_posture_reports TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.packed_posture_reports TO assay_backup;

REVOKE ALL ON FUNCTION public.pack_report_part(p_month date, p_organization_id text, p_device_id text, p_part integer, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT packed integer, OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.pack_report_part(p_month date, p_organization_id text, p_device_id text, p_part integer, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT packed integer, OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) TO assay_agent;

REVOKE ALL ON FUNCTION public.prove_address(p_user_id text, p_kept_session_id text) FROM PUBLIC;

REVOKE ALL ON FUNCTION public.provision_membership(p_user_id text, p_role text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.provision_membership(p_user_id text, p_role text) TO assay_app;

REVOKE ALL ON FUNCTION public.provision_user(p_id text, p_email text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.provision_user(p_id text, p_email text, p_name text) TO assay_app;

REVOKE ALL ON FUNCTION public.provisioned_account(p_user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.provisioned_account(p_user_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.read_archive_backlog(OUT months bigint, OUT devices bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_archive_backlog(OUT months bigint, OUT devices bigint) TO assay_app;

REVOKE ALL ON FUNCTION public.read_archive_state(OUT months bigint, OUT devices bigint, OUT files bigint) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_archive_state(OUT months bigint, OUT devices bigint, OUT files bigint) TO assay_app;

REVOKE ALL ON FUNCTION public.read_closed_organizations() FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_closed_organizations() TO assay_app;

REVOKE ALL ON FUNCTION public.read_last_backup() FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_last_backup() TO assay_app;

REVOKE ALL ON FUNCTION public.read_last_retention() FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_last_retention() TO assay_app;

REVOKE ALL ON FUNCTION public.read_maintenance() FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_maintenance() TO assay_app;

REVOKE ALL ON FUNCTION public.read_replicas() FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_replicas() TO assay_app;

REVOKE ALL ON FUNCTION public.read_report_part(p_month date, p_organization_id text, p_device_id text, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT ids text[], OUT times timestamp with time zone[], OUT contents jsonb[], OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) FROM PUBLIC;
GRANT ALL ON FUNCTION public.read_report_part(p_month date, p_organization_id text, p_device_id text, p_after_id text, p_after_at timestamp with time zone, p_most integer, OUT ids text[], OUT times timestamp with time zone[], OUT contents jsonb[], OUT last_id text, OUT last_at timestamp with time zone, OUT is_last boolean) TO assay_agent;

REVOKE ALL ON FUNCTION public.record_api_token_calls(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_organization_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[], p_called_at timestamp with time zone[], p_call_client text[], p_call_address text[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_api_token_calls(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_organization_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[], p_called_at timestamp with time zone[], p_call_client text[], p_call_address text[]) TO assay_app;

REVOKE ALL ON FUNCTION public.record_api_token_usage(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.record_api_token_usage(p_token_id text[], p_used_at timestamp with time zone[], p_client text[], p_address text[], p_call_token_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[]) TO assay_app;

REVOKE ALL ON FUNCTION public.remove_own_passkey(p_id text, p_kept_session_id text, p_rp_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remove_own_passkey(p_id text, p_kept_session_id text, p_rp_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.remove_second_factor(p_user_id text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.remove_second_factor(p_user_id text) TO assay_app;

REVOKE ALL ON FUNCTION public.remove_spans_of_devices() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.rename_own_passkey(p_id text, p_name text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.rename_own_passkey(p_id text, p_name text) TO assay_app;

REVOKE ALL ON FUNCTION public.require_devices_of_spans() FROM PUBLIC;

REVOKE ALL ON FUNCTION public.set_maintenance(p_message text) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_maintenance(p_message text) TO assay_app;

REVOKE ALL ON FUNCTION public.set_unknown_key_wait(p_until timestamp with time zone) FROM PUBLIC;
GRANT ALL ON FUNCTION public.set_unknown_key_wait(p_until timestamp with time zone) TO assay_app;

REVOKE ALL ON FUNCTION public.store_report_part(p_table text, p_month date, p_organization_id text, p_device_id text, p_part integer, p_ids text[], p_times timestamp with time zone[], p_contents jsonb[]) FROM PUBLIC;
GRANT ALL ON FUNCTION public.store_report_part(p_table text, p_month date, p_organization_id text, p_device_id text, p_part integer, p_ids text[], p_times timestamp with time zone[], p_contents jsonb[]) TO assay_agent;

REVOKE ALL ON FUNCTION public.take_domain_checks(p_count integer, p_to_one integer, p_seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_domain_checks(p_count integer, p_to_one integer, p_seconds integer) TO assay_app;

REVOKE ALL ON FUNCTION public.take_notification_messages(p_count integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_notification_messages(p_count integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) TO assay_app;

REVOKE ALL ON FUNCTION public.take_unknown_device_key(p_key_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_unknown_device_key(p_key_hash bytea) TO assay_app;

REVOKE ALL ON FUNCTION public.take_webhook_deliveries(p_count integer, p_to_one integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) FROM PUBLIC;
GRANT ALL ON FUNCTION public.take_webhook_deliveries(p_count integer, p_to_one integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer) TO assay_app;

REVOKE ALL ON FUNCTION public.unknown_key_state() FROM PUBLIC;
GRANT ALL ON FUNCTION public.unknown_key_state() TO assay_app;

REVOKE ALL ON FUNCTION public.use_setup_link(p_token_hash bytea) FROM PUBLIC;
GRANT ALL ON FUNCTION public.use_setup_link(p_token_hash bytea) TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.account_links TO assay_identity;

GRANT SELECT(purpose) ON TABLE public.account_links TO assay_privacy;

GRANT SELECT(user_id) ON TABLE public.account_links TO assay_privacy;

GRANT SELECT(made_by) ON TABLE public.account_links TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.account_links TO assay_privacy;

GRANT SELECT(expires_at) ON TABLE public.account_links TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.accounts TO assay_identity;
GRANT SELECT ON TABLE public.accounts TO assay_backup;

GRANT SELECT(user_id) ON TABLE public.accounts TO assay_privacy;

GRANT SELECT(provider_id) ON TABLE public.accounts TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.accounts TO assay_privacy;

GRANT SELECT(updated_at) ON TABLE public.accounts TO assay_privacy;

GRANT SELECT ON TABLE public.api_token_usage TO assay_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.api_token_usage TO assay_identity;
GRANT SELECT ON TABLE public.api_token_usage TO assay_backup;
GRANT SELECT,DELETE ON TABLE public.api_token_usage TO assay_privacy;

GRANT SELECT,DELETE ON TABLE public.api_tokens TO assay_identity;
GRANT SELECT ON TABLE public.api_tokens TO assay_backup;
GRANT DELETE ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(id),INSERT(id) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(id) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(user_id),INSERT(user_id) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(user_id) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(name),INSERT(name) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(name) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(description),INSERT(description) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(description) ON TABLE public.api_tokens TO assay_privacy;

GRANT INSERT(token_hash) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(token_hash) ON TABLE public.api_tokens TO assay_identity;

GRANT SELECT(created_at) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(created_at) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(expires_at),INSERT(expires_at) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(expires_at) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(revoked_at),UPDATE(revoked_at) ON TABLE public.api_tokens TO assay_app;
GRANT SELECT(revoked_at) ON TABLE public.api_tokens TO assay_privacy;
GRANT UPDATE(revoked_at) ON TABLE public.api_tokens TO assay_identity;

GRANT SELECT(last_used_at) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(last_used_at) ON TABLE public.api_tokens TO assay_identity;
GRANT SELECT(last_used_at) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(last_used_client) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(last_used_client) ON TABLE public.api_tokens TO assay_identity;
GRANT SELECT(last_used_client) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(last_used_address) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(last_used_address) ON TABLE public.api_tokens TO assay_identity;
GRANT SELECT(last_used_address) ON TABLE public.api_tokens TO assay_privacy;

GRANT SELECT(read_only),INSERT(read_only) ON TABLE public.api_tokens TO assay_app;

GRANT SELECT(organization_ids),INSERT(organization_ids) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(organization_ids) ON TABLE public.api_tokens TO assay_identity;

GRANT SELECT(toolsets),INSERT(toolsets) ON TABLE public.api_tokens TO assay_app;

GRANT SELECT(secret_ends_at),INSERT(secret_ends_at) ON TABLE public.api_tokens TO assay_app;
GRANT UPDATE(secret_ends_at) ON TABLE public.api_tokens TO assay_identity;

GRANT SELECT(sign_in_organization_id),INSERT(sign_in_organization_id) ON TABLE public.api_tokens TO assay_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.applicability_statements TO assay_app;
GRANT SELECT ON TABLE public.applicability_statements TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.applicability_statements TO assay_backup;

GRANT UPDATE(approved_by_name) ON TABLE public.applicability_statements TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.archive_changes TO assay_agent;
GRANT SELECT ON TABLE public.archive_changes TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.archive_files TO assay_agent;
GRANT SELECT ON TABLE public.archive_files TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.archive_leftovers TO assay_agent;
GRANT SELECT ON TABLE public.archive_leftovers TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.archived_months TO assay_agent;
GRANT SELECT ON TABLE public.archived_months TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.asset_vendors TO assay_app;
GRANT SELECT,INSERT ON TABLE public.asset_vendors TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.assets TO assay_app;
GRANT SELECT,INSERT ON TABLE public.assets TO assay_backup;
GRANT SELECT ON TABLE public.assets TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.assets TO assay_search;

GRANT SELECT(id) ON TABLE public.assets TO assay_search;

GRANT SELECT(search_text) ON TABLE public.assets TO assay_search;

GRANT ALL ON SEQUENCE public.audit_entry_ids TO assay_audit;

GRANT SELECT ON TABLE public.audit_heads TO assay_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.audit_heads TO assay_audit;
GRANT SELECT,INSERT ON TABLE public.audit_heads TO assay_backup;

GRANT SELECT,UPDATE ON TABLE public.audit_sealing TO assay_audit;

GRANT SELECT ON TABLE public.audit_seals TO assay_app;
GRANT SELECT ON TABLE public.audit_seals TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.audit_seals TO assay_audit;
GRANT SELECT,INSERT ON TABLE public.audit_seals TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.audits TO assay_app;
GRANT SELECT,INSERT ON TABLE public.audits TO assay_backup;
GRANT SELECT ON TABLE public.audits TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.audits TO assay_search;

GRANT SELECT(id) ON TABLE public.audits TO assay_search;

GRANT SELECT(search_text) ON TABLE public.audits TO assay_search;

GRANT SELECT,INSERT,UPDATE ON TABLE public.check_count_days TO assay_app;
GRANT SELECT,INSERT ON TABLE public.check_count_days TO assay_backup;
GRANT SELECT ON TABLE public.check_count_days TO assay_agent;

GRANT SELECT,INSERT,UPDATE ON TABLE public.check_nonconformities TO assay_app;
GRANT SELECT,INSERT ON TABLE public.check_nonconformities TO assay_backup;

GRANT INSERT ON TABLE public.connected_apps TO assay_app;
GRANT SELECT,DELETE,UPDATE ON TABLE public.connected_apps TO assay_identity;
GRANT SELECT ON TABLE public.connected_apps TO assay_backup;

GRANT SELECT(token_id) ON TABLE public.connected_apps TO assay_app;
GRANT SELECT(token_id) ON TABLE public.connected_apps TO assay_privacy;

GRANT SELECT(client_id) ON TABLE public.connected_apps TO assay_app;
GRANT SELECT(client_id) ON TABLE public.connected_apps TO assay_privacy;

GRANT SELECT(code_ends_at) ON TABLE public.connected_apps TO assay_app;

GRANT SELECT(connected_at) ON TABLE public.connected_apps TO assay_app;
GRANT SELECT(connected_at) ON TABLE public.connected_apps TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.continual_improvements TO assay_app;
GRANT SELECT,INSERT ON TABLE public.continual_improvements TO assay_backup;
GRANT SELECT ON TABLE public.continual_improvements TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.continual_improvements TO assay_search;

GRANT SELECT(id) ON TABLE public.continual_improvements TO assay_search;

GRANT SELECT(search_text) ON TABLE public.continual_improvements TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.controls TO assay_app;
GRANT SELECT,INSERT ON TABLE public.controls TO assay_backup;
GRANT SELECT ON TABLE public.controls TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.controls TO assay_search;

GRANT SELECT(id) ON TABLE public.controls TO assay_search;

GRANT SELECT(search_text) ON TABLE public.controls TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.data TO assay_app;
GRANT SELECT,INSERT ON TABLE public.data TO assay_backup;
GRANT SELECT ON TABLE public.data TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.data TO assay_search;

GRANT SELECT(id) ON TABLE public.data TO assay_search;

GRANT SELECT(search_text) ON TABLE public.data TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.datum_vendors TO assay_app;
GRANT SELECT,INSERT ON TABLE public.datum_vendors TO assay_backup;

GRANT SELECT ON TABLE public.deleted_organizations TO assay_identity;
GRANT SELECT ON TABLE public.deleted_organizations TO assay_backup;

GRANT SELECT ON TABLE public.device_check_keys TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_check_keys TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.device_check_keys TO assay_backup;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_check_rules TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_check_rules TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_conflicts TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_conflicts TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.device_conflicts TO assay_backup;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_exception_members TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_exception_members TO assay_backup;
GRANT INSERT ON TABLE public.device_exception_members TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_exceptions TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_exceptions TO assay_backup;
GRANT SELECT ON TABLE public.device_exceptions TO assay_agent;

GRANT SELECT(organization_id) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT(id) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT(requested_by_id) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT(requested_by_name),UPDATE(requested_by_name) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT(decided_by_id) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT(decided_by_name),UPDATE(decided_by_name) ON TABLE public.device_exceptions TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_group_members TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_group_members TO assay_backup;
GRANT INSERT ON TABLE public.device_group_members TO assay_agent;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_group_policy_rules TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_group_policy_rules TO assay_backup;

GRANT SELECT,INSERT,UPDATE ON TABLE public.device_group_policy_spans TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_group_policy_spans TO assay_backup;
GRANT INSERT ON TABLE public.device_group_policy_spans TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_groups TO assay_app;
GRANT SELECT,INSERT ON TABLE public.device_groups TO assay_backup;

GRANT SELECT ON TABLE public.device_silences TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.device_silences TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.device_silences TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_approvals TO assay_app;
GRANT SELECT ON TABLE public.document_approvals TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.document_approvals TO assay_backup;

GRANT UPDATE(person_name) ON TABLE public.document_approvals TO assay_privacy;

GRANT UPDATE(user_name) ON TABLE public.document_approvals TO assay_privacy;

GRANT SELECT,INSERT,DELETE ON TABLE public.document_approvers TO assay_app;
GRANT SELECT,INSERT ON TABLE public.document_approvers TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_signatures TO assay_app;
GRANT SELECT ON TABLE public.document_signatures TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.document_signatures TO assay_backup;

GRANT UPDATE(person_name) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(requested_by_name) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(address) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(link_copied_by_name) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(user_name) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(mailed_to) ON TABLE public.document_signatures TO assay_privacy;

GRANT UPDATE(address_set_by_name) ON TABLE public.document_signatures TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.document_versions TO assay_app;
GRANT SELECT,INSERT ON TABLE public.document_versions TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(id) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(document_id) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(version_number) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(title) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(author_id) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(author_name),UPDATE(author_name) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(published_by_name),UPDATE(published_by_name) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT(editor_ids) ON TABLE public.document_versions TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.documents TO assay_app;
GRANT SELECT ON TABLE public.documents TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.documents TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.documents TO assay_search;

GRANT SELECT(id) ON TABLE public.documents TO assay_search;

GRANT SELECT(search_text) ON TABLE public.documents TO assay_search;

GRANT SELECT,INSERT,DELETE ON TABLE public.emergency_members TO assay_app;
GRANT SELECT,DELETE ON TABLE public.emergency_members TO assay_identity;
GRANT SELECT ON TABLE public.emergency_members TO assay_privacy;
GRANT SELECT ON TABLE public.emergency_members TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.emergency_sign_ins TO assay_app;
GRANT SELECT,DELETE ON TABLE public.emergency_sign_ins TO assay_identity;
GRANT SELECT ON TABLE public.emergency_sign_ins TO assay_privacy;
GRANT SELECT ON TABLE public.emergency_sign_ins TO assay_backup;

GRANT UPDATE(used_at) ON TABLE public.emergency_sign_ins TO assay_identity;

GRANT SELECT,INSERT,UPDATE ON TABLE public.enrollment_keys TO assay_app;
GRANT SELECT ON TABLE public.enrollment_keys TO assay_agent;
GRANT SELECT ON TABLE public.enrollment_keys TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.enrollment_keys TO assay_privacy;

GRANT SELECT(id) ON TABLE public.enrollment_keys TO assay_privacy;

GRANT UPDATE(used) ON TABLE public.enrollment_keys TO assay_agent;

GRANT UPDATE(last_used_at) ON TABLE public.enrollment_keys TO assay_agent;

GRANT SELECT(created_by),UPDATE(created_by) ON TABLE public.enrollment_keys TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.enrollment_tokens TO assay_app;
GRANT SELECT,DELETE ON TABLE public.enrollment_tokens TO assay_agent;
GRANT SELECT ON TABLE public.enrollment_tokens TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.enrollment_tokens TO assay_privacy;

GRANT SELECT(id) ON TABLE public.enrollment_tokens TO assay_privacy;

GRANT SELECT(device_id) ON TABLE public.enrollment_tokens TO assay_privacy;

GRANT SELECT(created_by),UPDATE(created_by) ON TABLE public.enrollment_tokens TO assay_privacy;

GRANT SELECT ON TABLE public.events TO assay_app;
GRANT SELECT,INSERT ON TABLE public.events TO assay_agent;
GRANT DELETE ON TABLE public.events TO assay_identity;

GRANT SELECT(ctid) ON TABLE public.events TO assay_identity;

GRANT INSERT(organization_id) ON TABLE public.events TO assay_app;

GRANT INSERT(type) ON TABLE public.events TO assay_app;

GRANT INSERT(record_id) ON TABLE public.events TO assay_app;

GRANT INSERT(data) ON TABLE public.events TO assay_app;

GRANT INSERT(handled_at),UPDATE(handled_at) ON TABLE public.events TO assay_app;
GRANT SELECT(handled_at),UPDATE(handled_at) ON TABLE public.events TO assay_identity;

GRANT UPDATE(waiting_for) ON TABLE public.events TO assay_app;

GRANT UPDATE(attempts) ON TABLE public.events TO assay_app;

GRANT UPDATE(retry_at) ON TABLE public.events TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.evidence TO assay_app;
GRANT SELECT ON TABLE public.evidence TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.evidence TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.evidence TO assay_search;

GRANT SELECT(id) ON TABLE public.evidence TO assay_search;

GRANT SELECT(search_text) ON TABLE public.evidence TO assay_search;

GRANT SELECT,INSERT,DELETE ON TABLE public.evidence_files TO assay_app;
GRANT SELECT ON TABLE public.evidence_files TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.evidence_files TO assay_backup;

GRANT UPDATE(uploaded_by_name) ON TABLE public.evidence_files TO assay_privacy;

GRANT SELECT,INSERT,DELETE ON TABLE public.file_chunks TO assay_app;
GRANT SELECT,INSERT ON TABLE public.file_chunks TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.file_contents TO assay_app;
GRANT SELECT,INSERT ON TABLE public.file_contents TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.frameworks TO assay_app;
GRANT SELECT,INSERT ON TABLE public.frameworks TO assay_backup;
GRANT SELECT ON TABLE public.frameworks TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.frameworks TO assay_search;

GRANT SELECT(id) ON TABLE public.frameworks TO assay_search;

GRANT SELECT(search_text) ON TABLE public.frameworks TO assay_search;

GRANT SELECT,INSERT,UPDATE ON TABLE public.idempotency_keys TO assay_app;
GRANT DELETE ON TABLE public.idempotency_keys TO assay_identity;
GRANT DELETE ON TABLE public.idempotency_keys TO assay_privacy;
GRANT SELECT ON TABLE public.idempotency_keys TO assay_backup;

GRANT SELECT(ctid) ON TABLE public.idempotency_keys TO assay_identity;

GRANT SELECT(organization_id) ON TABLE public.idempotency_keys TO assay_privacy;

GRANT SELECT(user_id) ON TABLE public.idempotency_keys TO assay_privacy;

GRANT SELECT(operation) ON TABLE public.idempotency_keys TO assay_privacy;

GRANT SELECT(created_at),UPDATE(created_at) ON TABLE public.idempotency_keys TO assay_identity;
GRANT SELECT(created_at) ON TABLE public.idempotency_keys TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.identity_providers TO assay_app;
GRANT SELECT ON TABLE public.identity_providers TO assay_identity;
GRANT SELECT ON TABLE public.identity_providers TO assay_backup;

GRANT UPDATE(client_secret) ON TABLE public.identity_providers TO assay_identity;

GRANT UPDATE(tested_at) ON TABLE public.identity_providers TO assay_identity;

GRANT SELECT,INSERT,UPDATE ON TABLE public.imports TO assay_app;
GRANT SELECT,INSERT ON TABLE public.imports TO assay_backup;

GRANT INSERT ON TABLE public.invitations TO assay_app;
GRANT SELECT,DELETE ON TABLE public.invitations TO assay_identity;
GRANT SELECT ON TABLE public.invitations TO assay_backup;
GRANT DELETE ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.invitations TO assay_app;
GRANT SELECT(organization_id) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(id) ON TABLE public.invitations TO assay_app;
GRANT SELECT(id) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(email) ON TABLE public.invitations TO assay_app;
GRANT SELECT(email) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(role) ON TABLE public.invitations TO assay_app;
GRANT SELECT(role) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(invited_by) ON TABLE public.invitations TO assay_app;
GRANT SELECT(invited_by),UPDATE(invited_by) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.invitations TO assay_app;
GRANT SELECT(created_at) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(expires_at) ON TABLE public.invitations TO assay_app;
GRANT SELECT(expires_at) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(accepted_at) ON TABLE public.invitations TO assay_app;
GRANT UPDATE(accepted_at) ON TABLE public.invitations TO assay_identity;
GRANT SELECT(accepted_at) ON TABLE public.invitations TO assay_privacy;

GRANT SELECT(revoked_at),UPDATE(revoked_at) ON TABLE public.invitations TO assay_app;
GRANT SELECT(revoked_at) ON TABLE public.invitations TO assay_privacy;

GRANT UPDATE(mailed_token_hash) ON TABLE public.invitations TO assay_identity;

GRANT SELECT(ends_on),INSERT(ends_on) ON TABLE public.invitations TO assay_app;

GRANT SELECT(writable_registers),INSERT(writable_registers) ON TABLE public.invitations TO assay_app;

GRANT SELECT(reads_audit_log),INSERT(reads_audit_log) ON TABLE public.invitations TO assay_app;

GRANT SELECT,INSERT,UPDATE ON TABLE public.last_backup TO assay_agent;

GRANT SELECT,INSERT,UPDATE ON TABLE public.last_retention TO assay_agent;

GRANT SELECT ON TABLE public.mails TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.mails TO assay_identity;
GRANT SELECT ON TABLE public.mails TO assay_privacy;

GRANT INSERT(id) ON TABLE public.mails TO assay_app;

GRANT INSERT(organization_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(kind) ON TABLE public.mails TO assay_app;

GRANT INSERT(invitation_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(user_id) ON TABLE public.mails TO assay_app;

GRANT UPDATE(state) ON TABLE public.mails TO assay_app;

GRANT UPDATE(attempts) ON TABLE public.mails TO assay_app;

GRANT UPDATE(is_link_made) ON TABLE public.mails TO assay_app;

GRANT INSERT(due_at),UPDATE(due_at) ON TABLE public.mails TO assay_app;

GRANT INSERT(webhook_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(people_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(channel_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(event_ids),UPDATE(event_ids) ON TABLE public.mails TO assay_app;

GRANT INSERT(further_events),UPDATE(further_events) ON TABLE public.mails TO assay_app;

GRANT INSERT(record_id) ON TABLE public.mails TO assay_app;

GRANT INSERT(record_kind) ON TABLE public.mails TO assay_app;

GRANT INSERT(is_to_member) ON TABLE public.mails TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.maintenance TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.measures TO assay_app;
GRANT SELECT,INSERT ON TABLE public.measures TO assay_backup;
GRANT SELECT ON TABLE public.measures TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.measures TO assay_search;

GRANT SELECT(id) ON TABLE public.measures TO assay_search;

GRANT SELECT(search_text) ON TABLE public.measures TO assay_search;

GRANT SELECT,INSERT,DELETE ON TABLE public.memberships TO assay_app;
GRANT SELECT,INSERT ON TABLE public.memberships TO assay_identity;
GRANT SELECT ON TABLE public.memberships TO assay_backup;
GRANT SELECT,DELETE ON TABLE public.memberships TO assay_privacy;

GRANT UPDATE(role) ON TABLE public.memberships TO assay_app;

GRANT UPDATE(ends_on) ON TABLE public.memberships TO assay_app;

GRANT UPDATE(writable_registers) ON TABLE public.memberships TO assay_app;

GRANT UPDATE(reads_audit_log) ON TABLE public.memberships TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.my_devices_links TO assay_app;
GRANT SELECT,DELETE ON TABLE public.my_devices_links TO assay_identity;

GRANT UPDATE(expires_at) ON TABLE public.my_devices_links TO assay_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.nonconformities TO assay_app;
GRANT SELECT,INSERT ON TABLE public.nonconformities TO assay_backup;
GRANT SELECT ON TABLE public.nonconformities TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.nonconformities TO assay_search;

GRANT SELECT(id) ON TABLE public.nonconformities TO assay_search;

GRANT SELECT(search_text) ON TABLE public.nonconformities TO assay_search;

GRANT SELECT,INSERT,UPDATE ON TABLE public.nonconformity_devices TO assay_app;
GRANT SELECT,INSERT ON TABLE public.nonconformity_devices TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.notification_channels TO assay_app;
GRANT SELECT ON TABLE public.notification_channels TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.notification_channels TO assay_backup;

GRANT SELECT,INSERT,UPDATE ON TABLE public.notification_messages TO assay_app;
GRANT SELECT ON TABLE public.notification_messages TO assay_agent;
GRANT DELETE ON TABLE public.notification_messages TO assay_identity;

GRANT SELECT(ctid) ON TABLE public.notification_messages TO assay_identity;

GRANT UPDATE(attempts) ON TABLE public.notification_messages TO assay_agent;

GRANT SELECT(created_at),UPDATE(created_at) ON TABLE public.notification_messages TO assay_identity;

GRANT UPDATE(due_at) ON TABLE public.notification_messages TO assay_agent;

GRANT SELECT,INSERT,DELETE ON TABLE public.notification_stops TO assay_app;
GRANT SELECT,INSERT ON TABLE public.notification_stops TO assay_backup;

GRANT SELECT ON TABLE public.oauth_clients TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.oauth_clients TO assay_identity;
GRANT SELECT ON TABLE public.oauth_clients TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.obligations TO assay_app;
GRANT SELECT,INSERT ON TABLE public.obligations TO assay_backup;
GRANT SELECT ON TABLE public.obligations TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.obligations TO assay_search;

GRANT SELECT(id) ON TABLE public.obligations TO assay_search;

GRANT SELECT(search_text) ON TABLE public.obligations TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.organization_closures TO assay_app;
GRANT SELECT ON TABLE public.organization_closures TO assay_identity;
GRANT SELECT ON TABLE public.organization_closures TO assay_agent;
GRANT SELECT ON TABLE public.organization_closures TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.organization_domains TO assay_app;
GRANT SELECT ON TABLE public.organization_domains TO assay_identity;
GRANT SELECT ON TABLE public.organization_domains TO assay_backup;

GRANT UPDATE(next_check_at) ON TABLE public.organization_domains TO assay_identity;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.passkeys TO assay_identity;
GRANT SELECT ON TABLE public.passkeys TO assay_privacy;
GRANT SELECT ON TABLE public.passkeys TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.people TO assay_app;
GRANT SELECT,INSERT ON TABLE public.people TO assay_backup;
GRANT SELECT,UPDATE ON TABLE public.people TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.people TO assay_search;
GRANT SELECT(organization_id) ON TABLE public.people TO assay_agent;

GRANT SELECT(id) ON TABLE public.people TO assay_search;
GRANT SELECT(id) ON TABLE public.people TO assay_agent;

GRANT SELECT(primary_email_address) ON TABLE public.people TO assay_agent;

GRANT SELECT(additional_email_addresses) ON TABLE public.people TO assay_agent;

GRANT SELECT(search_text) ON TABLE public.people TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posture_report_changes TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.posture_report_changes TO assay_backup;

GRANT SELECT,DELETE ON TABLE public.posture_reports TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posture_reports TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.posture_reports TO assay_backup;

GRANT SELECT ON TABLE public.posture_spans TO assay_app;
GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.posture_spans TO assay_agent;
GRANT SELECT,INSERT ON TABLE public.posture_spans TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.record_comments TO assay_app;
GRANT SELECT ON TABLE public.record_comments TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.record_comments TO assay_backup;

GRANT UPDATE(author_name) ON TABLE public.record_comments TO assay_privacy;

GRANT UPDATE(text) ON TABLE public.record_comments TO assay_app;

GRANT UPDATE(mentioned_ids) ON TABLE public.record_comments TO assay_app;

GRANT UPDATE(edited_at) ON TABLE public.record_comments TO assay_app;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.record_links TO assay_app;
GRANT SELECT,INSERT ON TABLE public.record_links TO assay_backup;

GRANT SELECT,INSERT ON TABLE public.record_versions TO assay_app;
GRANT SELECT,INSERT,UPDATE ON TABLE public.record_versions TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.record_versions TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.record_watches TO assay_app;
GRANT SELECT ON TABLE public.record_watches TO assay_privacy;
GRANT SELECT ON TABLE public.record_watches TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.reference_counters TO assay_app;
GRANT SELECT,INSERT ON TABLE public.reference_counters TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.revoked_device_keys TO assay_agent;
GRANT SELECT ON TABLE public.revoked_device_keys TO assay_app;
GRANT SELECT ON TABLE public.revoked_device_keys TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.risks TO assay_app;
GRANT SELECT,INSERT ON TABLE public.risks TO assay_backup;
GRANT SELECT ON TABLE public.risks TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.risks TO assay_search;

GRANT SELECT(id) ON TABLE public.risks TO assay_search;

GRANT SELECT(search_text) ON TABLE public.risks TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.saved_views TO assay_app;
GRANT SELECT ON TABLE public.saved_views TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.saved_views TO assay_backup;

GRANT INSERT ON TABLE public.scim_credentials TO assay_app;
GRANT SELECT ON TABLE public.scim_credentials TO assay_identity;
GRANT SELECT ON TABLE public.scim_credentials TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.scim_credentials TO assay_app;
GRANT SELECT(organization_id) ON TABLE public.scim_credentials TO assay_privacy;

GRANT SELECT(id) ON TABLE public.scim_credentials TO assay_app;
GRANT SELECT(id) ON TABLE public.scim_credentials TO assay_privacy;

GRANT SELECT(name) ON TABLE public.scim_credentials TO assay_app;

GRANT SELECT(created_by) ON TABLE public.scim_credentials TO assay_app;
GRANT SELECT(created_by),UPDATE(created_by) ON TABLE public.scim_credentials TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.scim_credentials TO assay_app;

GRANT SELECT(expires_at) ON TABLE public.scim_credentials TO assay_app;

GRANT SELECT(revoked_at),UPDATE(revoked_at) ON TABLE public.scim_credentials TO assay_app;

GRANT SELECT(last_used_at) ON TABLE public.scim_credentials TO assay_app;
GRANT UPDATE(last_used_at) ON TABLE public.scim_credentials TO assay_identity;

GRANT SELECT(last_used_address) ON TABLE public.scim_credentials TO assay_app;
GRANT UPDATE(last_used_address) ON TABLE public.scim_credentials TO assay_identity;

GRANT SELECT,INSERT,DELETE ON TABLE public.scim_group_members TO assay_app;
GRANT SELECT ON TABLE public.scim_group_members TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scim_groups TO assay_app;
GRANT SELECT ON TABLE public.scim_groups TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.scim_requests TO assay_app;
GRANT SELECT ON TABLE public.scim_requests TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.scim_users TO assay_app;
GRANT SELECT ON TABLE public.scim_users TO assay_identity;
GRANT SELECT ON TABLE public.scim_users TO assay_privacy;
GRANT SELECT ON TABLE public.scim_users TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sessions TO assay_identity;

GRANT SELECT(user_id) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(expires_at) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(ip_address) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(user_agent) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(created_at) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(updated_at) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(last_used_at) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(last_address) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT(last_user_agent) ON TABLE public.sessions TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sign_in_failures TO assay_identity;
GRANT DELETE ON TABLE public.sign_in_failures TO assay_privacy;

GRANT SELECT(email_hash) ON TABLE public.sign_in_failures TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.sign_in_places TO assay_identity;
GRANT SELECT ON TABLE public.sign_in_places TO assay_privacy;
GRANT SELECT ON TABLE public.sign_in_places TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.sign_in_rules TO assay_app;
GRANT SELECT ON TABLE public.sign_in_rules TO assay_identity;
GRANT SELECT ON TABLE public.sign_in_rules TO assay_backup;

GRANT UPDATE(accepts_older_tokens) ON TABLE public.sign_in_rules TO assay_app;

GRANT SELECT,INSERT ON TABLE public.silence_limits TO assay_app;
GRANT SELECT,INSERT ON TABLE public.silence_limits TO assay_backup;

GRANT SELECT,INSERT,DELETE ON TABLE public.snapshot_records TO assay_app;
GRANT SELECT ON TABLE public.snapshot_records TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.snapshot_records TO assay_backup;

GRANT UPDATE(name) ON TABLE public.snapshot_records TO assay_privacy;

GRANT UPDATE(fields) ON TABLE public.snapshot_records TO assay_privacy;

GRANT SELECT,INSERT,DELETE ON TABLE public.snapshots TO assay_app;
GRANT SELECT ON TABLE public.snapshots TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.snapshots TO assay_backup;

GRANT UPDATE(description) ON TABLE public.snapshots TO assay_app;

GRANT UPDATE(taken_by_name) ON TABLE public.snapshots TO assay_privacy;

GRANT UPDATE(counts) ON TABLE public.snapshots TO assay_app;

GRANT UPDATE(sha256) ON TABLE public.snapshots TO assay_app;

GRANT UPDATE(sha256_after_erasure) ON TABLE public.snapshots TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.tasks TO assay_app;
GRANT SELECT,INSERT ON TABLE public.tasks TO assay_backup;
GRANT SELECT ON TABLE public.tasks TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.tasks TO assay_search;

GRANT SELECT(id) ON TABLE public.tasks TO assay_search;

GRANT SELECT(search_text) ON TABLE public.tasks TO assay_search;

GRANT SELECT,INSERT ON TABLE public.trend_points TO assay_app;
GRANT SELECT,INSERT ON TABLE public.trend_points TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.trend_points TO assay_agent;

GRANT SELECT(at) ON TABLE public.trend_points TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.two_factors TO assay_identity;
GRANT SELECT ON TABLE public.two_factors TO assay_backup;

GRANT SELECT(user_id) ON TABLE public.two_factors TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.unknown_key_wait TO assay_agent;
GRANT SELECT ON TABLE public.unknown_key_wait TO assay_backup;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.users TO assay_identity;
GRANT SELECT ON TABLE public.users TO assay_backup;
GRANT SELECT,DELETE ON TABLE public.users TO assay_privacy;

GRANT SELECT(id) ON TABLE public.users TO assay_app;

GRANT SELECT(name),UPDATE(name) ON TABLE public.users TO assay_app;

GRANT SELECT(email) ON TABLE public.users TO assay_app;

GRANT SELECT(created_at) ON TABLE public.users TO assay_app;

GRANT UPDATE(updated_at) ON TABLE public.users TO assay_app;

GRANT SELECT,INSERT,DELETE ON TABLE public.vendor_reviews TO assay_app;
GRANT SELECT ON TABLE public.vendor_reviews TO assay_privacy;
GRANT SELECT,INSERT ON TABLE public.vendor_reviews TO assay_backup;

GRANT UPDATE(reviewer_name) ON TABLE public.vendor_reviews TO assay_privacy;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.vendors TO assay_app;
GRANT SELECT,INSERT ON TABLE public.vendors TO assay_backup;
GRANT SELECT ON TABLE public.vendors TO assay_privacy;

GRANT SELECT(organization_id) ON TABLE public.vendors TO assay_search;

GRANT SELECT(id) ON TABLE public.vendors TO assay_search;

GRANT SELECT(search_text) ON TABLE public.vendors TO assay_search;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.verifications TO assay_identity;
GRANT DELETE ON TABLE public.verifications TO assay_privacy;

GRANT SELECT(identifier) ON TABLE public.verifications TO assay_privacy;

GRANT SELECT(value) ON TABLE public.verifications TO assay_privacy;

GRANT SELECT,INSERT,UPDATE ON TABLE public.webhook_deliveries TO assay_app;
GRANT SELECT ON TABLE public.webhook_deliveries TO assay_agent;
GRANT DELETE ON TABLE public.webhook_deliveries TO assay_identity;

GRANT SELECT(ctid) ON TABLE public.webhook_deliveries TO assay_identity;

GRANT UPDATE(attempts) ON TABLE public.webhook_deliveries TO assay_agent;

GRANT SELECT(created_at),UPDATE(created_at) ON TABLE public.webhook_deliveries TO assay_identity;

GRANT UPDATE(due_at) ON TABLE public.webhook_deliveries TO assay_agent;

GRANT SELECT,INSERT,DELETE,UPDATE ON TABLE public.webhooks TO assay_app;
GRANT SELECT ON TABLE public.webhooks TO assay_identity;
GRANT SELECT,INSERT ON TABLE public.webhooks TO assay_backup;

GRANT SELECT(organization_id) ON TABLE public.webhooks TO assay_agent;

GRANT SELECT(event_types) ON TABLE public.webhooks TO assay_agent;

GRANT SELECT(is_enabled) ON TABLE public.webhooks TO assay_agent;

GRANT SELECT(failing_since) ON TABLE public.webhooks TO assay_agent;

GRANT SELECT(given_up_at) ON TABLE public.webhooks TO assay_agent;

GRANT SELECT(updated_at) ON TABLE public.webhooks TO assay_agent;
