-- The service opens and closes nonconformities for checks that devices fail.

alter table device_check_rules
	add column opens_nonconformity boolean not null default true,
	-- One nonconformity for each device that fails, instead of one for the check.
	add column per_device boolean not null default false,
	add column severity text not null default 'MINOR' check (severity in ('MINOR', 'MAJOR')),
	add column owner_id typed_id,
	add foreign key (organization_id, owner_id) references people on delete set null (owner_id);
update device_check_rules set severity = 'MAJOR' where check_key = 'DISK_ENCRYPTION';
create index device_check_rules_owner_id on device_check_rules (organization_id, owner_id)
	where owner_id is not null;

-- The nonconformities that the service opened. It never touches any other.
create table check_nonconformities (
	organization_id typed_id not null,
	nonconformity_id typed_id not null,
	check_key text collate "C" not null check (check_key <> ''),
	-- Null: the nonconformity is about every device that fails the check.
	device_id typed_id,
	is_per_device boolean not null,
	-- When it was opened, or reopened for the last time.
	opened_at timestamptz not null default now(),
	-- Null while it is not closed, whoever closed it.
	closed_at timestamptz,
	-- What the service wrote there. Another text is a person's, and stays.
	effectiveness_check text,
	primary key (organization_id, nonconformity_id),
	foreign key (organization_id, nonconformity_id) references nonconformities on delete cascade,
	foreign key (organization_id, device_id) references devices on delete set null (device_id),
	check (is_per_device or device_id is null)
);
create index check_nonconformities_check on check_nonconformities (organization_id, check_key, device_id);

-- The time for which a device belonged to a nonconformity: one row for each failure.
create table nonconformity_devices (
	organization_id typed_id not null references organizations,
	position bigint generated always as identity,
	-- Null after the nonconformity was deleted.
	nonconformity_id typed_id,
	check_key text collate "C" not null check (check_key <> ''),
	-- Null after the device was deleted.
	device_id typed_id,
	since timestamptz not null default now(),
	-- When the check began to fail, and the report that said so.
	failing_since timestamptz not null,
	report_id typed_id not null,
	until timestamptz,
	end_reason text check (end_reason in (
		'PASSED', 'NOT_APPLICABLE', 'EXCEPTED', 'REVOKED', 'DEVICE_DELETED', 'POLICY', 'CLOSED', 'DELETED'
	)),
	-- The report that ended the failure.
	end_report_id typed_id,
	-- A person closed or deleted the nonconformity, and this failure goes on. It opens nothing again.
	is_held boolean not null default false,
	primary key (organization_id, position),
	foreign key (organization_id, nonconformity_id) references nonconformities
		on delete set null (nonconformity_id),
	foreign key (organization_id, device_id) references devices on delete set null (device_id),
	check ((until is null) = (end_reason is null)),
	check (not is_held or until is not null)
);
create unique index nonconformity_devices_current
	on nonconformity_devices (organization_id, check_key, device_id) where until is null or is_held;
create index nonconformity_devices_open on nonconformity_devices (organization_id, nonconformity_id)
	where until is null;
create index nonconformity_devices_since
	on nonconformity_devices (organization_id, nonconformity_id, since, position);
create index nonconformity_devices_device_id on nonconformity_devices (organization_id, device_id);

alter table check_nonconformities enable row level security;
alter table check_nonconformities force row level security;
alter table nonconformity_devices enable row level security;
alter table nonconformity_devices force row level security;
create policy tenant on check_nonconformities to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy tenant on nonconformity_devices to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on check_nonconformities, nonconformity_devices to assay_app;
select allow_backup();

-- Whoever closes a nonconformity, its devices leave it. If a person does so while devices fail, these
-- failures are held: they open nothing again. Opening it again takes them back.
create function follow_nonconformity() returns trigger
language plpgsql set search_path = public, pg_temp
as $$
begin
	if new.status = 'CLOSED' then
		update nonconformity_devices set until = now(), end_reason = 'CLOSED', is_held = true
		where organization_id = new.organization_id and nonconformity_id = new.id and until is null;
	else
		update nonconformity_devices set until = null, end_reason = null, is_held = false
		where organization_id = new.organization_id and nonconformity_id = new.id and is_held;
	end if;
	update check_nonconformities set
		closed_at = case when new.status = 'CLOSED' then now() end,
		opened_at = case when new.status = 'CLOSED' then opened_at else now() end
	where organization_id = new.organization_id and nonconformity_id = new.id;
	return null;
end
$$;
create trigger follow after update of status on nonconformities
	for each row when ((old.status = 'CLOSED') <> (new.status = 'CLOSED'))
	execute function follow_nonconformity();

create function hold_deleted_nonconformity() returns trigger
language plpgsql set search_path = public, pg_temp
as $$
begin
	update nonconformity_devices set until = now(), end_reason = 'DELETED', is_held = true
	where organization_id = old.organization_id and nonconformity_id = old.id and until is null;
	return old;
end
$$;
create trigger hold before delete on nonconformities
	for each row execute function hold_deleted_nonconformity();
