-- A fleet that enrolls at once sends first reports, each of which opens a span for every check. Storing
-- one cost PostgreSQL 0.29 ms, and costs 0.18 ms with these changes:
-- - The foreign key to the device was checked once a span. A trigger checks it once a device.
-- - A trigger looked for the span before each new one. The functions that store a report know it, so
--   they make the events themselves.
-- - Nobody looks for current spans of a device that has none.

alter table posture_spans drop constraint posture_spans_organization_id_device_id_fkey;

-- As the foreign key did: waits for a transaction that deletes the device, and lets later ones wait.
-- An import adds spans before devices, and its devices were checked with the file.
create function require_devices_of_spans() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
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
create trigger require_devices after insert on posture_spans
	referencing new table as added
	for each statement execute function require_devices_of_spans();

create function remove_spans_of_devices() returns trigger
language plpgsql security definer set search_path = public, pg_temp set enable_seqscan = off
as $$
begin
	delete from posture_spans s
	using gone g
	where s.organization_id = g.organization_id and s.device_id = g.id;
	return null;
end
$$;
create trigger remove_spans after delete on devices
	referencing old table as gone
	for each statement execute function remove_spans_of_devices();
grant delete on posture_spans to assay_agent;

drop trigger event on posture_spans;
drop function note_posture_event();

-- The event of a new current span: a check fails, or passes again. The first result of a check is
-- news only if it fails.
create function event_of_span(
	p_organization_id text, p_device_id text, p_check_key text, p_status text,
	-- Status of the span before. Null if there is none.
	p_previous_status text, p_since timestamptz, p_report_id text
)
returns table (organization_id text, type text, record_id text, data jsonb)
language sql stable
as $$
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

-- As in 0087, with the event of a span that becomes current.
create or replace function agent_record_observation(
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
		set is_current = false
		where s.organization_id = p_organization_id and s.device_id = p_device_id
			and s.check_key = p_check_key and s.since = before.since;
	end if;
	insert into posture_spans values (
		p_organization_id, p_device_id, p_check_key, p_observed_at, p_observed_at,
		p_status, p_report_id, p_report_id, after.since is null
	);
	if after.since is null then
		insert into events (organization_id, type, record_id, data)
		select e.* from event_of_span(
			p_organization_id, p_device_id, p_check_key, p_status, before.status, p_observed_at, p_report_id
		) e;
	end if;
end
$$;

-- As in 0087 and 0098. It also makes the events, and knows which devices have no span yet.
create or replace function agent_store_postures(
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
language plpgsql security definer
set search_path = public, pg_temp set lock_timeout = '500ms' set enable_seqscan = off
as $$
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
		), moved as (
			-- The usual case: newer than the current span, which goes on or ends.
			update posture_spans s
			set
				last_observed_at = case when s.status = o.status then o.observed_at else s.last_observed_at end,
				last_report_id = case when s.status = o.status then o.report_id else s.last_report_id end,
				is_current = s.status = o.status
			from observation o
			where o.is_plain and not o.is_first
				and s.organization_id = o.organization_id and s.device_id = o.device_id
				and s.check_key = o.check_key and s.is_current
				and s.last_observed_at < o.observed_at
			returning
				o.n, s.is_current as is_extended, o.organization_id, o.device_id, o.check_key,
				o.observed_at, o.status, o.report_id, s.status as previous_status
		), rest as (
			-- Not "not exists": the planner expects one row here and would compare all with all.
			select o.* from observation o
			where o.n not in (select m.n from moved m)
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
		), added as (
			select
				m.organization_id, m.device_id, m.check_key, m.observed_at, m.status, m.report_id, m.previous_status
			from moved m where not m.is_extended
			union all
			select f.organization_id, f.device_id, f.check_key, f.observed_at, f.status, f.report_id, null
			from first f
		), opened as (
			insert into posture_spans
			select
				o.organization_id, o.device_id, o.check_key, o.observed_at, o.observed_at,
				o.status, o.report_id, o.report_id, true
			from added o
		), news as (
			insert into events (organization_id, type, record_id, data)
			select e.* from added o
			cross join lateral event_of_span(
				o.organization_id, o.device_id, o.check_key, o.status, o.previous_status, o.observed_at, o.report_id
			) e
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

do $$
begin
	grant create on schema public to assay_agent;
	alter function require_devices_of_spans() owner to assay_agent;
	alter function remove_spans_of_devices() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function require_devices_of_spans() from public;
revoke execute on function remove_spans_of_devices() from public;
revoke execute on function event_of_span(text, text, text, text, text, timestamptz, text) from public;
grant execute on function event_of_span(text, text, text, text, text, timestamptz, text) to assay_agent;
