-- Raw reports of closed months, packed: one row for each device and month. A month's rows are
-- filled into a table of its own (src/retention/pack-reports.ts). Only when it is complete, this
-- table replaces the partition of posture_reports, in one transaction. Readers therefore see each
-- report once. docs/decisions/0046 has the reasons and the sizes.

create table packed_posture_reports (
	organization_id typed_id not null,
	device_id typed_id not null,
	-- The first day of the month, in UTC, in which the reports were received.
	month date not null check (extract(day from month) = 1),
	-- Earliest and latest time in the ids of the reports, in milliseconds since 1970.
	first_made_ms bigint not null,
	last_made_ms bigint not null check (last_made_ms >= first_made_ms),
	-- A place for each report, in the order in which they were received.
	report_ids text[] not null check (cardinality(report_ids) > 0),
	received_at timestamptz[] not null check (cardinality(received_at) = cardinality(report_ids)),
	-- A place for each result of all reports, in order: its report and its variant, from 1, and the
	-- time of the observation. That time is null if the variant contains it.
	report_of integer[] not null,
	variant_of integer[] not null check (cardinality(variant_of) = cardinality(report_of)),
	observed_at timestamptz[] not null check (cardinality(observed_at) = cardinality(report_of)),
	-- The different results, as JSON without the time of the observation.
	variants text[] not null,
	primary key (organization_id, device_id, month)
) partition by range (month);

alter table packed_posture_reports enable row level security;
alter table packed_posture_reports force row level security;
create policy tenant on packed_posture_reports to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on packed_posture_reports to assay_agent using (true);
grant select, delete on packed_posture_reports to assay_app;
grant select, update on packed_posture_reports to assay_agent;

-- Devices whose reports were changed or deleted in a month that is being packed. They are packed
-- again before the month is complete.
create table posture_report_changes (
	organization_id typed_id not null,
	device_id typed_id not null,
	month date not null,
	primary key (organization_id, device_id, month)
);

alter table posture_report_changes enable row level security;
alter table posture_report_changes force row level security;
create policy agent on posture_report_changes to assay_agent using (true);
grant select, insert, update, delete on posture_report_changes to assay_agent;

select allow_backup();

-- Returns the time in a typed id, in milliseconds since 1970.
create function made_ms_of(p_id text) returns bigint
language sql immutable strict parallel safe
as $$
	select ('x' || encode(substring(decode(translate(p_id, '-_', '+/'), 'base64') from 11 for 8), 'hex'))::bit(64)::bigint
$$;

create function posture_report_month(p_at timestamptz) returns date
language sql immutable strict parallel safe
as $$
	select date_trunc('month', p_at at time zone 'UTC')::date
$$;

-- Packs the reports of a device and month. unpack_posture_reports reverses it exactly.
create function pack_posture_reports(
	p_organization_id text, p_device_id text, p_month date,
	p_report_ids text[], p_received_at timestamptz[], p_results jsonb[]
) returns packed_posture_reports
language sql stable set timezone = 'UTC'
as $$
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
		coalesce((select array_agg(v.variant order by v.n) from variant v), '{}')
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
$$;

-- Returns the results of one place, or with null of all places, of a packed row, each as the text
-- of a JSON array. A caller that needs jsonb converts the texts; that takes longer than all the rest.
create function unpack_results(
	p_report integer, p_report_of integer[], p_variant_of integer[], p_observed_at timestamptz[],
	p_variants text[]
) returns table (report bigint, results text)
-- The planner does not know the lengths of arrays. By itself it would compare all with all.
language sql stable rows 700 set enable_nestloop = off set timezone = 'UTC'
as $$
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

-- Returns the reports of a packed row, in order. The results are the text of a JSON array.
create function unpack_reports(
	p_report_ids text[], p_received_at timestamptz[], p_report_of integer[], p_variant_of integer[],
	p_observed_at timestamptz[], p_variants text[]
) returns table (report_id text, received_at timestamptz, results text)
language sql stable rows 700 set enable_nestloop = off
as $$
	select r.report_id, r.received_at, coalesce(u.results, '[]')
	from unnest(p_report_ids, p_received_at) with ordinality r (report_id, received_at, n)
	left join unpack_results(null, p_report_of, p_variant_of, p_observed_at, p_variants) u
		on u.report = r.n
	order by r.n
$$;

-- Returns the packed reports of a device that were received from the first month to the last.
create function unpack_posture_reports(
	p_organization_id text, p_device_id text, p_first_month date, p_last_month date
) returns table (report_id text, received_at timestamptz, results text)
language sql stable
as $$
	select u.report_id, u.received_at, u.results
	from packed_posture_reports p
	cross join lateral unpack_reports(
		p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
	) u
	where p.organization_id = p_organization_id and p.device_id = p_device_id
		and p.month between p_first_month and p_last_month
$$;

-- Returns the copies of a report that were received at p_not_before or later, wherever they are
-- stored. packed_in is the month of a packed copy.
create function find_posture_report(
	p_organization_id text, p_device_id text, p_report_id text, p_not_before timestamptz
) returns table (received_at timestamptz, results jsonb, packed_in date)
language sql stable
as $$
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

-- Adds results to a packed report. Called with the lock of the device.
create function agent_extend_packed_report(
	p_organization_id text, p_device_id text, p_month date, p_report_id text, p_further jsonb
) returns void
language plpgsql
as $$
declare
	ids text[];
	times timestamptz[];
	contents jsonb[];
	place integer;
begin
	perform from packed_posture_reports p
	where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month
	for update;
	select
		array_agg(r.report_id order by r.received_at, r.report_id),
		array_agg(r.received_at order by r.received_at, r.report_id),
		array_agg(r.results::jsonb order by r.received_at, r.report_id)
	into ids, times, contents
	from unpack_posture_reports(p_organization_id, p_device_id, p_month, p_month) r;
	place := array_position(ids, p_report_id);
	if place is null then
		return;
	end if;
	contents[place] := contents[place] || p_further;
	update packed_posture_reports p
	set (report_of, variant_of, observed_at, variants) = (
		select n.report_of, n.variant_of, n.observed_at, n.variants
		from pack_posture_reports(p_organization_id, p_device_id, p_month, ids, times, contents) n
	)
	where p.organization_id = p_organization_id and p.device_id = p_device_id and p.month = p_month;
end
$$;
revoke execute on function agent_extend_packed_report(text, text, date, text, jsonb) from public;
grant execute on function agent_extend_packed_report(text, text, date, text, jsonb) to assay_agent;

-- Remembers that the reports of a device were changed in a month that is being packed.
create function note_posture_report_change() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	-- An update, so that this waits for a packing that read the reports before, and that packing for
	-- this: the last one of both leaves the row.
	insert into posture_report_changes as c (organization_id, device_id, month)
	values (old.organization_id, old.device_id, tg_argv[0]::date)
	on conflict on constraint posture_report_changes_pkey do update set month = excluded.month;
	return null;
end
$$;

do $$
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	alter function note_posture_report_change() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function note_posture_report_change() from public;

-- Makes the table for the packed reports of a month, and attaches it.
create function make_packed_report_partition(p_month date) returns void
language plpgsql set search_path = public, pg_temp
as $$
begin
	perform begin_packed_month(p_month);
	perform attach_packed_month(p_month);
end
$$;
revoke execute on function make_packed_report_partition(date) from public;

-- Makes the table that the reports of a month are packed into. Nobody but assay_agent reaches it
-- until it is attached.
create function begin_packed_month(p_month date) returns void
language plpgsql set search_path = public, pg_temp
as $$
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
revoke execute on function begin_packed_month(date) from public;

create function attach_packed_month(p_month date) returns void
language plpgsql set search_path = public, pg_temp
as $$
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
revoke execute on function attach_packed_month(date) from public;

-- Packs the reports of a device in a month, into the month's own table; what was packed of it before
-- is replaced. The row is unpacked and compared with the reports; a difference is an error. Returns
-- the number of reports. Called as assay_agent.
create function pack_device_reports(p_month date, p_organization_id text, p_device_id text)
returns integer
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
declare
	packed constant text := 'packed_posture_reports_' || to_char(p_month, 'YYYY_MM');
	ids text[];
	times timestamptz[];
	contents jsonb[];
	is_equal boolean;
begin
	-- Waits for a transaction that changes reports of the device. The next statement sees its change.
	delete from posture_report_changes c
	where c.organization_id = p_organization_id and c.device_id = p_device_id and c.month = p_month;
	select
		array_agg(r.report_id order by r.received_at, r.report_id),
		array_agg(r.received_at order by r.received_at, r.report_id),
		array_agg(r.results order by r.received_at, r.report_id)
	into ids, times, contents
	from posture_reports r
	where r.organization_id = p_organization_id and r.device_id = p_device_id
		and r.received_at >= p_month and r.received_at < p_month + interval '1 month';

	execute format('delete from %I p where p.organization_id = $1 and p.device_id = $2', packed)
		using p_organization_id, p_device_id;
	if ids is null then
		return 0;
	end if;
	execute format('insert into %I select n.* from pack_posture_reports($1, $2, $3, $4, $5, $6) n', packed)
		using p_organization_id, p_device_id, p_month, ids, times, contents;
	execute format(
		'select array_agg(u.report_id) = $3 and array_agg(u.received_at) = $4'
		'	and array_agg(u.results::jsonb::text) = $5::text[]'
		' from %I p cross join lateral unpack_reports('
		'	p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants'
		' ) u where p.organization_id = $1 and p.device_id = $2',
		packed
	) into is_equal using p_organization_id, p_device_id, ids, times, contents;
	if is_equal is not true then
		raise exception 'the packed reports of device % in % differ from the reports', p_device_id, p_month;
	end if;
	return cardinality(ids);
end
$$;

-- Packs the reports of the devices that come after this one, until they are p_most reports. Returns
-- the last device and the number of reports, which is 0 when no device is left. Called as
-- assay_agent.
create function pack_next_reports(
	p_month date, p_after_organization text, p_after_device text, p_most integer,
	out last_organization text, out last_device text, out packed integer
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

-- Returns the last device that is packed in a month, or empty texts. Called as assay_agent.
create function last_packed_device(p_month date, out last_organization text, out last_device text)
language plpgsql set search_path = public, pg_temp
as $$
begin
	execute format(
		'select p.organization_id, p.device_id from %I p order by 1 desc, 2 desc limit 1',
		'packed_posture_reports_' || to_char(p_month, 'YYYY_MM')
	) into last_organization, last_device;
	last_organization := coalesce(last_organization, '');
	last_device := coalesce(last_device, '');
end
$$;

-- Compares the numbers of reports of the next p_most packed devices after this one. Returns a row
-- for each device whose numbers differ, and then the last device that was compared, which is null
-- when no packed device was left. Called as assay_agent.
create function compare_packed_reports(
	p_month date, p_after_organization text, p_after_device text, p_most integer
) returns table (organization_id text, device_id text, is_equal boolean)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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
		'	select p.organization_id, p.device_id, cardinality(p.report_ids) as reports from %I p'
		'	where (p.organization_id, p.device_id) > ($2, $3)'
		'		and ($4 is null or (p.organization_id, p.device_id) <= ($4, $5))'
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
$$;

-- Returns the devices whose reports were changed in a month since they were packed.
create function changed_since_packed(p_month date)
returns table (organization_id text, device_id text)
language sql security definer set search_path = public, pg_temp
as $$
	select c.organization_id, c.device_id from posture_report_changes c where c.month = p_month
$$;

-- Replaces the partition of a month's reports by the packed ones. Returns false if reports were
-- changed since they were packed.
create function finish_packed_month(p_month date) returns boolean
language plpgsql set search_path = public, pg_temp
as $$
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

do $$
declare
	signature text;
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	alter function changed_since_packed(date) owner to assay_agent;
	revoke create on schema public from assay_agent;

	foreach signature in array array[
		'pack_device_reports(date, text, text)', 'pack_next_reports(date, text, text, integer)',
		'last_packed_device(date)', 'compare_packed_reports(date, text, text, integer)',
		'changed_since_packed(date)', 'finish_packed_month(date)'
	] loop
		execute format('revoke execute on function %s from public', signature);
	end loop;
	foreach signature in array array[
		'pack_device_reports(date, text, text)', 'pack_next_reports(date, text, text, integer)',
		'last_packed_device(date)', 'compare_packed_reports(date, text, text, integer)'
	] loop
		execute format('grant execute on function %s to assay_agent', signature);
	end loop;
end
$$;

-- As in 0002, for packed reports too.
create or replace function agent_extend_report(
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

-- As in 0002; a split also reads the packed reports.
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

-- As in 0037; a report may be known from a packed month.
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
					select from find_posture_report(r.organization_id, r.device_id, r.report_id, r.not_before)
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
