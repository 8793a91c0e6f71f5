-- The ground: organizations, devices, enrollment, postures.
--
-- Two roles share the work, and neither owns a table nor bypasses row-level security.
-- assay_app runs the service and sees one organization at a time, the one named by the
-- setting assay.organization_id. assay_agent owns the few functions through which devices
-- report: one statement there carries devices of many organizations, so its policies see
-- all rows and its grants are the narrowest that the functions need.

do $$
declare
	role_name text;
begin
	foreach role_name in array array['assay_app', 'assay_agent'] loop
		begin
			if not exists (select from pg_roles where rolname = role_name) then
				execute format('create role %I nologin', role_name);
			end if;
		exception
			-- Roles belong to the whole server: another database may be migrating too.
			when duplicate_object or unique_violation then null;
		end;
		if not pg_has_role(current_user, role_name, 'member') then
			execute format('grant %I to current_user', role_name);
		end if;
	end loop;
	grant usage on schema public to assay_app, assay_agent;
end
$$;

-- Typed ids: 32 characters of base64url; the first 11 are the tenant (src/id.ts).
create domain typed_id as text collate "C"
	check (octet_length(value) = 32);

create table organizations (
	id typed_id primary key,
	name text not null check (name <> ''),
	description text,
	heartbeat_interval_seconds integer not null default 300
		check (heartbeat_interval_seconds between 30 and 86400),
	posture_interval_seconds integer not null default 3600
		check (posture_interval_seconds between 60 and 604800),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);

-- One row a device, rewritten by every heartbeat: columns that a heartbeat changes stay
-- out of every index and pages keep free space, so that the update stays on its page (HOT).
create table devices (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text check (name <> ''),
	status text not null default 'PENDING' check (status in ('PENDING', 'ACTIVE', 'REVOKED')),
	key_hash bytea unique check (octet_length(key_hash) = 32),
	hardware_uuid text,
	-- SHA-256 of hardware_uuid: a uuid of any length can be unique, an index entry cannot be long.
	hardware_hash bytea,
	serial_number text,
	hostname text,
	platform text check (platform in ('DARWIN', 'LINUX', 'FREEBSD', 'WINDOWS')),
	os_version text,
	agent_version text,
	enrolled_with text,
	enrolled_at timestamptz,
	activated_at timestamptz,
	last_seen_at timestamptz,
	revoked_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	check ((status = 'REVOKED') = (revoked_at is not null)),
	check (status <> 'REVOKED' or key_hash is null),
	check (status <> 'ACTIVE' or (hardware_hash is not null and platform is not null))
) with (fillfactor = 70);

-- A live device has its hardware for itself within its organization.
create unique index devices_live_hardware on devices (organization_id, hardware_hash)
	where status <> 'REVOKED' and hardware_hash is not null;

comment on column devices.enrolled_with is 'name of the enrollment token that gave the present key';

create table enrollment_tokens (
	organization_id typed_id not null,
	id typed_id not null,
	device_id typed_id not null,
	name text not null check (name <> ''),
	token_hash bytea not null unique check (octet_length(token_hash) = 32),
	expires_at timestamptz not null,
	revoked_at timestamptz,
	created_by text,
	created_at timestamptz not null default now(),
	primary key (organization_id, id),
	foreign key (organization_id, device_id) references devices on delete cascade
);
create index enrollment_tokens_device on enrollment_tokens (organization_id, device_id);

-- What an administrator has to look at: one row a device and kind, so that a device that
-- keeps colliding cannot fill the table.
create table device_conflicts (
	organization_id typed_id not null,
	device_id typed_id not null,
	kind text not null check (kind in ('DUPLICATE_HARDWARE', 'POSSIBLE_CLONE')),
	-- The live device that holds the hardware; null for a possible clone.
	other_device_id typed_id,
	hardware_uuid text not null,
	platform text not null,
	hostname text not null,
	serial_number text,
	os_version text not null,
	agent_version text not null,
	occurrences bigint not null default 1,
	first_seen_at timestamptz not null default now(),
	last_seen_at timestamptz not null default now(),
	primary key (organization_id, device_id, kind),
	foreign key (organization_id, device_id) references devices on delete cascade
);

-- The raw record, one row a device and report. No foreign key to devices: its check would
-- lock the device's row, which a heartbeat is rewriting, on every report. The rows come from
-- agent_store_postures alone, which takes both columns from the device itself.
create table posture_reports (
	organization_id typed_id not null,
	device_id typed_id not null,
	report_id typed_id not null,
	received_at timestamptz not null default now(),
	-- [{check_key, status, observed_at, evidence?, claimed_observed_at?}], in the order sent.
	results jsonb not null check (jsonb_typeof(results) = 'array'),
	primary key (organization_id, device_id, report_id, received_at)
) partition by range (received_at);

create table posture_reports_default partition of posture_reports default;

-- Run-length history: a row is a time during which every observation of a check had one
-- status. Neighbouring spans of a check differ in status; the last one is current.
create table posture_spans (
	organization_id typed_id not null,
	device_id typed_id not null,
	check_key text collate "C" not null check (check_key <> ''),
	since timestamptz not null,
	last_observed_at timestamptz not null,
	status text not null check (status in ('PASS', 'FAIL', 'UNKNOWN', 'NOT_APPLICABLE')),
	first_report_id typed_id not null,
	last_report_id typed_id not null,
	is_current boolean not null,
	primary key (organization_id, device_id, check_key, since),
	foreign key (organization_id, device_id) references devices on delete cascade,
	check (since <= last_observed_at)
) with (fillfactor = 70);

create unique index posture_spans_current on posture_spans (organization_id, device_id, check_key)
	where is_current;

-- Row-level security: the second wall behind every where clause.

do $$
declare
	table_name text;
	tenant_column text;
begin
	for table_name, tenant_column in values
		('organizations', 'id'),
		('devices', 'organization_id'),
		('enrollment_tokens', 'organization_id'),
		('device_conflicts', 'organization_id'),
		('posture_reports', 'organization_id'),
		('posture_spans', 'organization_id')
	loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (%I = current_setting(''assay.organization_id'', true))',
			table_name, tenant_column
		);
		execute format('create policy agent on %I to assay_agent using (true)', table_name);
	end loop;
end
$$;

-- Partitions are reached through their parent and its policies; directly nobody may.
alter table posture_reports_default enable row level security;
alter table posture_reports_default force row level security;

grant select, insert, update on organizations to assay_app;
grant select, insert, update, delete on devices, enrollment_tokens, device_conflicts to assay_app;
grant select on posture_reports, posture_spans to assay_app;

grant select on organizations to assay_agent;
grant select, update on devices to assay_agent;
grant select, delete on enrollment_tokens to assay_agent;
grant select, insert, update, delete on device_conflicts to assay_agent;
grant select, insert, update on posture_reports, posture_spans to assay_agent;
