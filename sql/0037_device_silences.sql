-- The times in which a device reported nothing. They hold for all its checks, so a span of a check
-- goes on through them, and readers lay them over the spans. A row is longer than a day, the shortest
-- silence that an organization can set as its limit.

create table device_silences (
	organization_id typed_id not null,
	device_id typed_id not null,
	-- The last observation before, and the first one after.
	since timestamptz not null,
	until timestamptz not null,
	primary key (organization_id, device_id, since),
	foreign key (organization_id, device_id) references devices on delete cascade,
	check (until > since + interval '24 hours')
);
-- Finds the devices that were silent at a time.
create index device_silences_until on device_silences (organization_id, until, since);

alter table device_silences enable row level security;
create policy tenant on device_silences to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on device_silences to assay_agent using (true);
grant select on device_silences to assay_app;
grant select, insert, update, delete on device_silences to assay_agent;
select allow_backup();

-- The silences before this migration, from the reports that are still kept.
alter table posture_reports no force row level security;
alter table devices no force row level security;
insert into device_silences
select x.organization_id, x.device_id, x.since, x.until
from (
	select
		r.organization_id, r.device_id, o.at as until,
		lag(o.at) over (partition by r.organization_id, r.device_id order by o.at) as since
	from posture_reports r
	cross join lateral (
		select distinct (e ->> 'observed_at')::timestamptz as at from jsonb_array_elements(r.results) e
	) o
) x
join devices d on d.organization_id = x.organization_id and d.id = x.device_id
where x.until > x.since + interval '24 hours';
alter table devices force row level security;
alter table posture_reports force row level security;
alter table device_silences force row level security;

-- Stores what observations at these times, in microseconds since 1970, tell about the silences of a
-- device. p_last_at is its last observation before them, or null. A time inside a silence divides it; a time after the last
-- observation or before the first one may open one.
create function agent_note_silences(
	p_organization_id text, p_device_id text, p_last_at timestamptz, p_observed_at bigint[]
) returns void
language plpgsql
as $$
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

-- As in 0002 with the lock_timeout of 0014, and with silences.
-- Stores posture reports of many devices in one transaction: the raw reports, and what they
-- mean for the history. The reports (p_*) are sorted by key; the results of all of them,
-- flattened (r_*), say with r_report which one (from 1) and with r_position where in it they
-- stand. Gives an outcome for each report: 'stored', 'unauthorized' (no live device has the key),
-- 'pending' (it has sent no heartbeat yet) or 'foreign_report' (the id names another tenant).
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
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms'
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

do $$
begin
	grant create on schema public to assay_agent;
	alter function agent_note_silences(text, text, timestamptz, bigint[]) owner to assay_agent;
	revoke execute on function agent_note_silences(text, text, timestamptz, bigint[]) from public;
	revoke create on schema public from assay_agent;
end
$$;
