-- The figures of an organization's records at the end of a month. They do not change any more, and
-- reading them again from the former states of a million records takes seconds. The service keeps them
-- in the background, an hour after the end of the month at the earliest.
create table trend_points (
	organization_id typed_id not null references organizations,
	-- The end of a month in the organization's time zone. If the time zone changes, so do the ends.
	at timestamptz not null,
	risks integer not null check (risks >= 0),
	-- Mean residual score. Null: no risks.
	residual_risk double precision check ((residual_risk is null) = (risks = 0)),
	-- Open work past its due date.
	overdue integer not null check (overdue >= 0),
	primary key (organization_id, at)
);
alter table trend_points enable row level security;
alter table trend_points force row level security;
create policy tenant on trend_points to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert on trend_points to assay_app;
create policy agent on trend_points for select to assay_agent using (true);
grant select (organization_id, at) on trend_points to assay_agent;
select allow_backup();

-- The last days of the past months in a time zone, and the moments at which they end.
create function ends_of_months(p_time_zone text, p_months integer)
returns table (day date, at timestamptz)
language sql stable
as $$
	select m.first::date - 1, m.first at time zone p_time_zone
	from (
		select date_trunc('month', now() at time zone p_time_zone) - i * interval '1 month' as first
		from generate_series(0, p_months - 1) i
	) m
$$;

-- The organizations that lack points of past months, and the last days of these months. A transaction
-- that began before the end of a month may still change a record for some time.
create function missing_trend_points(p_months integer)
returns table (organization_id text, days text[])
language sql stable security definer set search_path = public, pg_temp
as $$
	select o.id::text, array_agg(m.day::text order by m.day)
	from organizations o cross join lateral ends_of_months(o.time_zone, p_months) m
	where m.at >= o.records_known_since and m.at < now() - interval '1 hour' and not exists (
		select from trend_points k where k.organization_id = o.id and k.at = m.at
	)
	group by o.id
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function missing_trend_points(integer) owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function missing_trend_points(integer) from public;
grant execute on function missing_trend_points(integer) to assay_app;
