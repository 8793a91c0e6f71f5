-- An exception excuses devices from a check: one device, a group, a platform or all devices. It has a
-- reason and an end, and it counts only from the moment at which an administrator approved it.

alter table device_policies
	-- Whether the administrator who approves an exception must be somebody else than its requester.
	add column exceptions_need_two_people boolean not null default false;

create table device_exceptions (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	check_key text collate "C" not null check (check_key <> '' and length(check_key) <= 500),
	scope text not null check (scope in ('DEVICE', 'GROUP', 'PLATFORM', 'ALL')),
	-- Null in other scopes, and after the device or the group was deleted.
	device_id typed_id check (scope = 'DEVICE' or device_id is null),
	group_id typed_id check (scope = 'GROUP' or group_id is null),
	platform text check (platform in ('DARWIN', 'LINUX', 'FREEBSD', 'WINDOWS')),
	reason text not null check (reason <> ''),
	starts_at timestamptz not null,
	-- Once the exception is in force, this time only moves forward to the present. The state of a
	-- device at a time in the past therefore stays as it was.
	ends_at timestamptz not null,
	-- The user who asked for it. The name stays when the user leaves. An erasure replaces it.
	requested_by_id typed_id,
	requested_by_name text,
	-- The person who asked for it without an account.
	requested_by_person_id typed_id,
	-- The user who copied the link by which the person asked. This user may not approve it.
	link_copied_by_id typed_id,
	-- Null: nobody has decided yet.
	decision text check (decision in ('APPROVED', 'REJECTED')),
	decided_at timestamptz,
	decided_by_id typed_id,
	decided_by_name text,
	decision_note text,
	-- The last reminder before the end, in days.
	reminded_days integer,
	-- When the event of its end was stored.
	end_noted_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(check_key, reason)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, device_id) references devices on delete set null (device_id),
	foreign key (organization_id, group_id) references device_groups on delete set null (group_id),
	foreign key (organization_id, requested_by_person_id) references people
		on delete set null (requested_by_person_id),
	check (starts_at <= ends_at),
	check ((scope = 'PLATFORM') = (platform is not null)),
	check ((decision is null) = (decided_at is null))
);
create index device_exceptions_created_at on device_exceptions (organization_id, created_at, id);
create index device_exceptions_ends_at on device_exceptions (organization_id, ends_at, id);
create index device_exceptions_approved on device_exceptions (organization_id, check_key, ends_at)
	where decision = 'APPROVED';
create index device_exceptions_end_due on device_exceptions (organization_id, ends_at)
	where decision = 'APPROVED' and end_noted_at is null;
create index device_exceptions_device_id on device_exceptions (organization_id, device_id)
	where device_id is not null;
create index device_exceptions_group_id on device_exceptions (organization_id, group_id)
	where group_id is not null;
create index device_exceptions_person on device_exceptions (organization_id, requested_by_person_id)
	where requested_by_person_id is not null;

-- The devices of an exception for a group, with the times at which they were in the group.
create table device_exception_members (
	organization_id typed_id not null,
	exception_id typed_id not null,
	device_id typed_id not null,
	since timestamptz not null default now(),
	-- Null: still in the group.
	until timestamptz,
	primary key (organization_id, exception_id, device_id, since),
	foreign key (organization_id, exception_id) references device_exceptions on delete cascade,
	foreign key (organization_id, device_id) references devices on delete cascade,
	check (since <= until)
);
create unique index device_exception_members_current
	on device_exception_members (organization_id, exception_id, device_id) where until is null;
create index device_exception_members_device_id on device_exception_members (organization_id, device_id);

alter table device_exceptions enable row level security;
alter table device_exceptions force row level security;
alter table device_exception_members enable row level security;
alter table device_exception_members force row level security;
create policy tenant on device_exceptions to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy tenant on device_exception_members to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy privacy on device_exceptions to assay_privacy using (true);
grant select, insert, update, delete on device_exceptions to assay_app;
grant select, insert, update on device_exception_members to assay_app;
grant select (organization_id, id, requested_by_id, requested_by_name, decided_by_id, decided_by_name),
	update (requested_by_name, decided_by_name) on device_exceptions to assay_privacy;
select allow_backup();

-- The organizations whose devices the service looks after by itself.
create function organizations_with_devices() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select o.id::text from organizations o
	where exists (select from devices d where d.organization_id = o.id)
		or exists (select from device_exceptions e where e.organization_id = o.id)
$$;
grant select on device_exceptions to assay_agent;
create policy agent on device_exceptions for select to assay_agent using (true);
do $$
begin
	grant create on schema public to assay_agent;
	alter function organizations_with_devices() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function organizations_with_devices() from public;
grant execute on function organizations_with_devices() to assay_app;
