-- When a check changed, its current span ended where it was, and the new one became a row at the
-- end of the table. So the nine current spans of a device came to lie on nine pages, between spans
-- that had ended, and each of its reports changed all nine. Now the row of the current span takes
-- the new status, and the ended span becomes a new row. After 18 changes of 10,000 devices, the
-- current spans of a device lay on 3.4 pages instead of 8.9. A report that was the first one after
-- a checkpoint wrote 31 kB to the log instead of 47.

-- As in 0112, but the row of a current span takes the new status.
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

-- As in 0112, but the row of a current span takes the new status.
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
