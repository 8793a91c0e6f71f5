-- What an organization requires of its devices. An organization without a row has the defaults. The
-- bounds are those of THRESHOLDS in src/devices/thresholds.ts.

create table device_policies (
	organization_id typed_id primary key references organizations,
	min_password_length integer not null default 8 check (min_password_length between 6 and 64),
	max_lock_delay_seconds integer not null default 900
		check (max_lock_delay_seconds between 60 and 3600),
	max_patch_age_days integer not null default 60 check (max_patch_age_days between 7 and 180),
	max_definitions_age_days integer not null default 7
		check (max_definitions_age_days between 1 and 30),
	updated_at timestamptz not null default now()
);

alter table device_policies enable row level security;
alter table device_policies force row level security;
create policy tenant on device_policies to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on device_policies for select to assay_agent using (true);
grant select, insert, update on device_policies to assay_app;
grant select on device_policies to assay_agent;
select allow_backup();

-- Gives all policies. A process keeps them in memory for its heartbeats.
create function agent_device_policies() returns setof device_policies
language sql stable security definer
set search_path = public, pg_temp set timezone = 'UTC'
as $$
	select * from device_policies
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function agent_device_policies() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function agent_device_policies() from public;
grant execute on function agent_device_policies() to assay_app;
