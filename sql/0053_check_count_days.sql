-- What the pages of controls and measures say about device checks. Counting a fleet takes seconds if
-- it is large, so the service counts it in the background and keeps the last count of each day.
create table check_count_days (
	organization_id typed_id not null references organizations,
	-- A day in UTC. The row of the current day is the present state.
	day date not null,
	counted_at timestamptz not null default now(),
	-- The number of ACTIVE devices in each state, for each check that the policy requires:
	-- {"DISK_ENCRYPTION": {"PASSING": 187, "FAILING": 13, …}}. States without devices are 0.
	counts jsonb not null check (jsonb_typeof(counts) = 'object'),
	-- The number of ACTIVE devices by their state as a whole: {"COMPLIANT": 150, …}.
	compliance jsonb not null check (jsonb_typeof(compliance) = 'object'),
	primary key (organization_id, day)
);
alter table check_count_days enable row level security;
alter table check_count_days force row level security;
create policy tenant on check_count_days to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on check_count_days to assay_app;
select allow_backup();

-- The last count of every organization, for the metrics. A count that is older than a day says
-- nothing about the present.
create policy metrics on check_count_days for select to assay_agent using (true);
grant select on check_count_days to assay_agent;
create function count_check_states() returns table (check_key text, state text, devices bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
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

do $$
begin
	grant create on schema public to assay_agent;
	alter function count_check_states() owner to assay_agent;
	revoke execute on function count_check_states() from public;
	grant execute on function count_check_states() to assay_app;
	revoke create on schema public from assay_agent;
end
$$;
