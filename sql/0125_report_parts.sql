-- If a device has too many reports in a month for one packed row, they become several rows, its
-- parts. A month that already has packed reports may get more, because the service moves the plain
-- rows of an import into it (src/retention/, docs/decisions/0046).

alter table packed_posture_reports
	add column part integer not null default 1 constraint packed_posture_reports_part_check check (part >= 1),
	drop constraint packed_posture_reports_pkey,
	add primary key (organization_id, device_id, month, part);

-- The tables of months that are being packed.
do $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relispartition
			and c.relname ~ '^packed_posture_reports_\d{4}_\d\d$'
	loop
		execute format(
			'alter table %I'
			' add column part integer not null default 1 constraint packed_posture_reports_part_check check (part >= 1),'
			' drop constraint %I, add primary key (organization_id, device_id, month, part)',
			name, name || '_pkey'
		);
	end loop;
end
$$;

-- Moving reports needs both rights.
grant insert on packed_posture_reports to assay_agent;
grant delete on posture_reports to assay_agent;

-- As in 0087, with the number of the part.
create or replace function pack_posture_reports(
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
$$;

-- As in 0087, but the report may be in any of the parts.
create or replace function agent_extend_packed_report(
	p_organization_id text, p_device_id text, p_month date, p_report_id text, p_further jsonb
) returns void
language plpgsql
as $$
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

-- Reads the next plain reports of a device in a month, in the order of their ids: at most p_most, and
-- about 64 MiB of text. One value of PostgreSQL has at most 1 GiB.
create function read_report_part(
	p_month date, p_organization_id text, p_device_id text,
	-- The last report that was read before.
	p_after_id text, p_after_at timestamptz, p_most integer,
	out ids text[], out times timestamptz[], out contents jsonb[],
	out last_id text, out last_at timestamptz, out is_last boolean
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

-- Adds a packed row to a table, unpacks it and compares it with the reports. A difference is an error.
create function store_report_part(
	p_table text, p_month date, p_organization_id text, p_device_id text, p_part integer,
	p_ids text[], p_times timestamptz[], p_contents jsonb[]
) returns void
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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
$$;

-- Packs the next reports of a device in a month into the month's own table. The first part replaces
-- what was packed of the device before. Returns the number of reports and the last of them. Called as
-- assay_agent.
create function pack_report_part(
	p_month date, p_organization_id text, p_device_id text, p_part integer,
	-- The last report of the part before.
	p_after_id text, p_after_at timestamptz, p_most integer,
	out packed integer, out last_id text, out last_at timestamptz, out is_last boolean
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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
$$;

-- Packs the next parts until they are p_most reports: the rest of a device whose last part is given,
-- and then the devices after it. A part of 0 says that the device is complete. Returns the last part,
-- and the number of reports, which is 0 when no device is left. Called as assay_agent.
create function pack_next_parts(
	p_month date, p_most integer, p_part_size integer,
	inout last_organization text, inout last_device text, inout last_part integer,
	inout last_id text, inout last_at timestamptz,
	out packed integer
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

-- As in 0087, in parts. Processes of older versions call it, through pack_next_reports.
create or replace function pack_device_reports(p_month date, p_organization_id text, p_device_id text)
returns integer
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

-- As in 0087, for devices with several parts too.
create or replace function compare_packed_reports(
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
$$;

-- Moves the next plain reports of a device into the packed ones of a month that are attached already,
-- as a further part. Readers see each report once. From then on, the month is not archived
-- completely. Returns the number of reports. Called as assay_agent.
create function move_report_part(
	p_month date, p_organization_id text, p_device_id text, p_most integer,
	out moved integer, out is_last boolean
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

-- Moves the next parts until they are p_most reports, of the devices after the given one. Leaves out
-- organizations that are being deleted or will be within the hour, because their packed reports may
-- be deleted already. Returns the last device that is complete, and the number of reports, which is 0
-- when no device is left. Called as assay_agent.
create function move_next_parts(
	p_month date, p_most integer, p_part_size integer,
	inout last_organization text, inout last_device text,
	out moved integer
)
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
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

do $$
declare
	signature text;
begin
	foreach signature in array array[
		'read_report_part(date, text, text, text, timestamptz, integer)',
		'store_report_part(text, date, text, text, integer, text[], timestamptz[], jsonb[])',
		'pack_report_part(date, text, text, integer, text, timestamptz, integer)',
		'pack_next_parts(date, integer, integer, text, text, integer, text, timestamptz)',
		'move_report_part(date, text, text, integer)',
		'move_next_parts(date, integer, integer, text, text)'
	] loop
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_agent', signature);
	end loop;
end
$$;
