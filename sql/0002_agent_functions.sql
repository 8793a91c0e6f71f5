-- What devices call. Each function carries many devices of many organizations in one statement,
-- so it runs as assay_agent, whose policies see all rows; it is the only way there.

-- A one-shot exchange: of any number of simultaneous calls the row lock of the delete lets
-- one through. Gives the device's id, or null when the token is unknown, used, expired or revoked.
create function agent_enroll(p_token_hash bytea, p_key_hash bytea) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	token record;
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
	update devices d
	set key_hash = p_key_hash, status = 'PENDING', enrolled_at = now(), enrolled_with = token.name
	where d.organization_id = token.organization_id and d.id = token.device_id;
	return token.device_id;
end
$$;

-- The status of the device behind each key; a key that is unknown or revoked has no row.
create function agent_authenticate(p_key_hash bytea[])
returns table (ordinal integer, status text)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select k.n::integer, d.status
	from unnest(p_key_hash) with ordinality k (key_hash, n)
	join devices d on d.key_hash = k.key_hash;
end
$$;

-- Heartbeats of active devices, many in one statement; a key that is not an active device's
-- has no row in the answer. Hardware or platform that differ from what was activated are
-- not stored on the device but noted as a possible clone.
create function agent_heartbeat(
	p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[],
	p_platform text[], p_os_version text[], p_agent_version text[]
)
returns table (
	ordinal integer, device_id text,
	heartbeat_interval_seconds integer, posture_interval_seconds integer
)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	return query
	with touched as (
		update devices d
		set
			serial_number = b.serial_number,
			hostname = b.hostname,
			os_version = b.os_version,
			agent_version = b.agent_version,
			last_seen_at = greatest(d.last_seen_at, now())
		from unnest(
			p_key_hash, p_hardware_uuid, p_serial_number, p_hostname,
			p_platform, p_os_version, p_agent_version
		) with ordinality b (
			key_hash, hardware_uuid, serial_number, hostname,
			platform, os_version, agent_version, n
		)
		where d.key_hash = b.key_hash and d.status = 'ACTIVE'
		returning
			b.n, d.organization_id, d.id,
			d.hardware_uuid <> b.hardware_uuid or d.platform <> b.platform as is_other_hardware
	), noted as (
		insert into device_conflicts as c (
			organization_id, device_id, kind, hardware_uuid, platform, hostname,
			serial_number, os_version, agent_version
		)
		select
			t.organization_id, t.id, 'POSSIBLE_CLONE', p_hardware_uuid[t.n], p_platform[t.n],
			p_hostname[t.n], p_serial_number[t.n], p_os_version[t.n], p_agent_version[t.n]
		from touched t
		where t.is_other_hardware
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
		t.n::integer, t.id::text, o.heartbeat_interval_seconds, o.posture_interval_seconds
	from touched t
	join organizations o on o.id = t.organization_id;
end
$$;

-- The first heartbeat: PENDING becomes ACTIVE with this hardware. Gives 'activated',
-- 'duplicate_hardware' (the device stays PENDING and the conflict is noted), or
-- 'not_pending' when the key is unknown, revoked or of a device that is active by now.
create function agent_activate(
	p_key_hash bytea, p_hardware_uuid text, p_serial_number text, p_hostname text,
	p_platform text, p_os_version text, p_agent_version text
) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	device record;
	wanted_hash bytea := sha256(convert_to(p_hardware_uuid, 'UTF8'));
begin
	select d.organization_id, d.id into device
	from devices d
	where d.key_hash = p_key_hash and d.status = 'PENDING'
	for no key update;
	if not found then
		return 'not_pending';
	end if;
	begin
		update devices d
		set
			status = 'ACTIVE',
			hardware_uuid = p_hardware_uuid,
			hardware_hash = wanted_hash,
			serial_number = p_serial_number,
			hostname = p_hostname,
			platform = p_platform,
			os_version = p_os_version,
			agent_version = p_agent_version,
			activated_at = now(),
			last_seen_at = now()
		where d.organization_id = device.organization_id and d.id = device.id;
	exception when unique_violation then
		insert into device_conflicts as c (
			organization_id, device_id, kind, other_device_id, hardware_uuid, platform,
			hostname, serial_number, os_version, agent_version
		)
		select
			device.organization_id, device.id, 'DUPLICATE_HARDWARE', d.id, p_hardware_uuid,
			p_platform, p_hostname, p_serial_number, p_os_version, p_agent_version
		from devices d
		where d.organization_id = device.organization_id
			and d.hardware_hash = wanted_hash
			and d.status <> 'REVOKED'
			and d.id <> device.id
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
		return 'duplicate_hardware';
	end;
	delete from device_conflicts c
	where c.organization_id = device.organization_id
		and c.device_id = device.id
		and c.kind = 'DUPLICATE_HARDWARE';
	return 'activated';
end
$$;

-- Revokes the key; true when it was a live one.
create function agent_unenroll(p_key_hash bytea) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	update devices d
	set status = 'REVOKED', revoked_at = now(), key_hash = null
	where d.key_hash = p_key_hash;
	return found;
end
$$;

-- Writes one observation into a check's history, wherever in time it belongs. The caller
-- holds the device's lock and has stored the raw report.
create function agent_record_observation(
	p_organization_id text, p_device_id text, p_check_key text,
	p_status text, p_observed_at timestamptz, p_report_id text
) returns void
language plpgsql
as $$
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
		set is_current = false
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = before.since;
	end if;
	insert into posture_spans values (
		p_organization_id, p_device_id, p_check_key, p_observed_at, p_observed_at,
		p_status, p_report_id, p_report_id, after.since is null
	);
end
$$;

-- What makes two results of a report the same result: all that the device said. A time
-- replaced because it lay in the future is no part of it, the time that was claimed is.
create function posture_result_identity(result jsonb) returns jsonb
language sql immutable parallel safe
return (result - 'claimed_observed_at')
	|| jsonb_build_object('observed_at', coalesce(result -> 'claimed_observed_at', result -> 'observed_at'));

-- Adds to a stored report the results it does not have yet; gives the positions (from 1)
-- of those in p_results.
create function agent_extend_report(
	p_organization_id text, p_device_id text, p_report_id text,
	p_not_before timestamptz, p_results jsonb
) returns bigint[]
language plpgsql
as $$
declare
	stored record;
	further jsonb;
	positions bigint[];
begin
	select r.received_at, r.results into stored
	from posture_reports r
	where r.organization_id = p_organization_id and r.device_id = p_device_id
		and r.report_id = p_report_id and r.received_at >= p_not_before
	order by r.received_at
	limit 1;

	select jsonb_agg(e.result order by e.n), array_agg(e.n)
	into further, positions
	from jsonb_array_elements(p_results) with ordinality e (result, n)
	where not exists (
		select from jsonb_array_elements(stored.results) s (result)
		where posture_result_identity(s.result) = posture_result_identity(e.result)
	);

	if further is not null then
		update posture_reports r
		set results = r.results || further
		where r.organization_id = p_organization_id and r.device_id = p_device_id
			and r.report_id = p_report_id and r.received_at = stored.received_at;
	end if;
	return coalesce(positions, '{}');
end
$$;

-- Stores posture reports of many devices in one transaction: the raw reports, and what they
-- mean for the history. The reports (p_*) are sorted by key; the results of all of them,
-- flattened (r_*), say with r_report which one (from 1) and with r_position where in it they
-- stand. Gives an outcome for each report: 'stored', 'unauthorized' (no live device has the key),
-- 'pending' (it has sent no heartbeat yet) or 'foreign_report' (the id names another tenant).
create function agent_store_postures(
	p_key_hash bytea[],
	-- Tenant prefix of the report ids that the request names; null when it names none.
	p_tenant text[],
	-- The device's own tenant is written over the first 11 characters.
	p_report_id text[],
	-- No copy of the report was received before this; null for an id made for it just now.
	p_not_before timestamptz[],
	-- An array with the results of each report: one text to escape and parse instead of many.
	p_results jsonb,
	r_report integer[],
	r_position integer[],
	r_check_key text[],
	r_status text[],
	-- Microseconds since 1970.
	r_observed_at bigint[],
	-- False when the request has several results for the check: they go one by one.
	r_is_only boolean[]
)
returns table (ordinal integer, outcome text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	epoch constant timestamptz := 'epoch';
	organization_ids text[];
	device_ids text[];
	report_ids text[];
	outcomes text[];
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
		)
	into organization_ids, device_ids, report_ids, outcomes
	from unnest(p_key_hash, p_tenant, p_report_id) with ordinality r (key_hash, tenant, report_id, n)
	left join devices d on d.key_hash = r.key_hash;

	for late in
		with report as (
			select r.n, r.organization_id, r.device_id, r.report_id, r.results, r.not_before,
				r.not_before is not null and exists (
					select from posture_reports p
					where p.organization_id = r.organization_id and p.device_id = r.device_id
						and p.report_id = r.report_id and p.received_at >= r.not_before
				) as is_known
			from unnest(organization_ids, device_ids, report_ids, outcomes, results_of, p_not_before)
				with ordinality r (organization_id, device_id, report_id, outcome, results, not_before, n)
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
				o.is_only and not r.is_known as is_plain
			from unnest(r_report, r_position, r_check_key, r_status, r_observed_at, r_is_only)
				with ordinality o (report, position, check_key, status, observed_at, is_only, n)
			join report r on r.n = o.report
		), moved as (
			-- The usual case: newer than the current span, which goes on or ends.
			update posture_spans s
			set
				last_observed_at = case when s.status = o.status then o.observed_at else s.last_observed_at end,
				last_report_id = case when s.status = o.status then o.report_id else s.last_report_id end,
				is_current = s.status = o.status
			from observation o
			where o.is_plain
				and s.organization_id = o.organization_id and s.device_id = o.device_id
				and s.check_key = o.check_key and s.is_current
				and s.last_observed_at < o.observed_at
			returning
				o.n, s.is_current as is_extended, o.organization_id, o.device_id, o.check_key,
				o.observed_at, o.status, o.report_id
		), rest as (
			-- Not "not exists": the planner expects one row here and would compare all with all.
			select o.* from observation o
			where o.n not in (select m.n from moved m)
		), first as (
			select o.* from rest o
			where o.is_plain and not exists (
				select from posture_spans s
				where s.organization_id = o.organization_id and s.device_id = o.device_id
					and s.check_key = o.check_key and s.is_current
			)
		), opened as (
			insert into posture_spans
			select
				o.organization_id, o.device_id, o.check_key, o.observed_at, o.observed_at,
				o.status, o.report_id, o.report_id, true
			from (
				select m.organization_id, m.device_id, m.check_key, m.observed_at, m.status, m.report_id
				from moved m where not m.is_extended
				union all
				select f.organization_id, f.device_id, f.check_key, f.observed_at, f.status, f.report_id
				from first f
			) o
		)
		select o.* from rest o
		where o.n not in (select f.n from first f)
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

-- True once anybody has set the service up.
create function has_organizations() returns boolean
language sql stable security definer set search_path = public, pg_temp
return exists (select from organizations);

do $$
declare
	signature text;
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	foreach signature in array array[
		'agent_enroll(bytea, bytea)',
		'agent_authenticate(bytea[])',
		'agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[])',
		'agent_activate(bytea, text, text, text, text, text, text)',
		'agent_unenroll(bytea)',
		'agent_store_postures(bytea[], text[], text[], timestamptz[], jsonb, integer[], integer[], text[], text[], bigint[], boolean[])',
		'has_organizations()'
	] loop
		execute format('alter function %s owner to assay_agent', signature);
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_app', signature);
	end loop;
	foreach signature in array array[
		'agent_record_observation(text, text, text, text, timestamptz, text)',
		'agent_extend_report(text, text, text, timestamptz, jsonb)'
	] loop
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_agent', signature);
	end loop;
	revoke create on schema public from assay_agent;
end
$$;

-- Makes the monthly partitions of posture_reports for this month and the two after it. The
-- service calls it at its start and daily; rows that found no partition wait in the default
-- one and move. It changes tables, so it runs as their owner; it takes no argument.
create function ensure_posture_report_partitions() returns void
language plpgsql security definer set search_path = public, pg_temp set timezone = 'UTC'
as $$
declare
	first_day timestamptz;
	partition_name text;
begin
	perform pg_advisory_xact_lock(hashtext('ensure_posture_report_partitions'));
	for first_day in
		select date_trunc('month', now(), 'UTC') + m * interval '1 month' from generate_series(0, 2) m
	loop
		partition_name := 'posture_reports_' || to_char(first_day at time zone 'UTC', 'YYYY_MM');
		continue when to_regclass(partition_name) is not null;
		execute format('create table %I (like posture_reports including all)', partition_name);
		execute format('alter table %I enable row level security', partition_name);
		execute format('alter table posture_reports_default no force row level security');
		execute format(
			'with waiting as (delete from posture_reports_default where received_at >= %L and received_at < %L returning *)'
			' insert into %I select * from waiting',
			first_day, first_day + interval '1 month', partition_name
		);
		execute format('alter table posture_reports_default force row level security');
		execute format('alter table %I force row level security', partition_name);
		execute format(
			'alter table posture_reports attach partition %I for values from (%L) to (%L)',
			partition_name, first_day, first_day + interval '1 month'
		);
	end loop;
end
$$;
revoke execute on function ensure_posture_report_partitions() from public;
grant execute on function ensure_posture_report_partitions() to assay_app;
