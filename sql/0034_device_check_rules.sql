-- What an organization requires of each check. A check without a row has the defaults of
-- src/devices/check-rules.ts. A change ends the row in force and adds another one, so the state of a
-- device at a time in the past is computed by the rule of that time.

alter table device_policies
	add column max_silence_days integer not null default 3 check (max_silence_days between 1 and 30);

create table device_check_rules (
	organization_id typed_id not null references organizations,
	check_key text collate "C" not null check (check_key <> '' and length(check_key) <= 500),
	valid_from timestamptz not null,
	-- Null: in force.
	valid_until timestamptz,
	is_required boolean not null,
	platforms text[] not null
		check (platforms <@ array['DARWIN', 'LINUX', 'FREEBSD', 'WINDOWS'] and platforms <> '{}'),
	grace_days integer not null check (grace_days between 0 and 90),
	new_device_grace_days integer not null check (new_device_grace_days between 0 and 90),
	primary key (organization_id, check_key, valid_from),
	check (valid_from < valid_until)
);
create unique index device_check_rules_in_force on device_check_rules (organization_id, check_key)
	where valid_until is null;

alter table device_check_rules enable row level security;
alter table device_check_rules force row level security;
create policy tenant on device_check_rules to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on device_check_rules to assay_app;
select allow_backup();
