-- A group of devices may have a policy, which replaces single values of the organization's policy for
-- its devices. A null value is the organization's. The bounds are those of device_policies and
-- device_check_rules.

create table device_group_policies (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	-- Null after the group was deleted.
	group_id typed_id,
	-- Of the policies of a device's groups, the one with the lowest number applies. Null: removed.
	priority integer check (priority > 0),
	min_password_length integer check (min_password_length between 6 and 64),
	max_lock_delay_seconds integer check (max_lock_delay_seconds between 60 and 3600),
	max_patch_age_days integer check (max_patch_age_days between 7 and 180),
	max_definitions_age_days integer check (max_definitions_age_days between 1 and 30),
	linux_malware_protection text
		check (linux_malware_protection in ('MANDATORY_ACCESS_CONTROL_COUNTS', 'SCANNER_REQUIRED')),
	max_silence_days integer check (max_silence_days between 1 and 30),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	-- The deletion of an organization may delete a group before its policy.
	foreign key (organization_id, group_id) references device_groups on delete set null (group_id)
);
create unique index device_group_policies_group on device_group_policies (organization_id, group_id)
	where priority is not null;
create index device_group_policies_group_id on device_group_policies (organization_id, group_id)
	where group_id is not null;

-- The rules of a group's policy. As in device_check_rules, a change ends a rule and adds another one.
create table device_group_policy_rules (
	organization_id typed_id not null,
	policy_id typed_id not null,
	check_key text collate "C" not null check (check_key <> '' and length(check_key) <= 500),
	valid_from timestamptz not null,
	-- Null: in force.
	valid_until timestamptz,
	-- True: required on every platform.
	is_required boolean,
	grace_days integer check (grace_days between 0 and 90),
	new_device_grace_days integer check (new_device_grace_days between 0 and 90),
	primary key (organization_id, policy_id, check_key, valid_from),
	foreign key (organization_id, policy_id) references device_group_policies on delete cascade,
	check (valid_from < valid_until),
	check (num_nonnulls(is_required, grace_days, new_device_grace_days) > 0)
);
create unique index device_group_policy_rules_in_force
	on device_group_policy_rules (organization_id, policy_id, check_key) where valid_until is null;

-- The policy that applies to a device. Null: the organization's. A heartbeat reads it with the device.
alter table devices add column group_policy_id typed_id,
	add foreign key (organization_id, group_policy_id) references device_group_policies;
create index devices_group_policy_id on devices (organization_id, group_policy_id)
	where group_policy_id is not null;

-- The times at which a group's policy applied to a device.
create table device_group_policy_spans (
	organization_id typed_id not null,
	device_id typed_id not null,
	since timestamptz not null,
	policy_id typed_id not null,
	-- Null: it still applies.
	until timestamptz,
	primary key (organization_id, device_id, since),
	foreign key (organization_id, device_id) references devices on delete cascade,
	foreign key (organization_id, policy_id) references device_group_policies on delete cascade,
	check (since <= until)
);
create unique index device_group_policy_spans_current
	on device_group_policy_spans (organization_id, device_id) where until is null;
create index device_group_policy_spans_policy_id
	on device_group_policy_spans (organization_id, policy_id);

alter table device_group_policies enable row level security;
alter table device_group_policies force row level security;
alter table device_group_policy_rules enable row level security;
alter table device_group_policy_rules force row level security;
alter table device_group_policy_spans enable row level security;
alter table device_group_policy_spans force row level security;
create policy tenant on device_group_policies to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy tenant on device_group_policy_rules to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy tenant on device_group_policy_spans to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy agent on device_group_policies for select to assay_agent using (true);
grant select, insert, update on
	device_group_policies, device_group_policy_rules, device_group_policy_spans to assay_app;
grant select on device_group_policies to assay_agent;
select allow_backup();

-- Gives the policies of groups. A process keeps them in memory for its heartbeats.
create function agent_group_policies() returns setof device_group_policies
language sql stable security definer
set search_path = public, pg_temp set timezone = 'UTC'
as $$
	select * from device_group_policies where priority is not null
$$;

-- As in 0029, with the policy of each device's group.
drop function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[]);
create function agent_heartbeat(
	p_key_hash bytea[], p_hardware_uuid text[], p_serial_number text[], p_hostname text[],
	p_platform text[], p_os_version text[], p_agent_version text[], p_address text[]
)
returns table (
	ordinal integer, device_id text,
	heartbeat_interval_seconds integer, posture_interval_seconds integer, group_policy_id text
)
language plpgsql security definer set search_path = public, pg_temp set lock_timeout = '500ms'
as $$
begin
	return query
	with touched as (
		update devices d
		set
			serial_number = b.serial_number,
			hostname = b.hostname,
			os_version = b.os_version,
			agent_version = b.agent_version,
			last_seen_at = greatest(d.last_seen_at, now()),
			hostname_key = case
				when d.hostname = b.hostname then d.hostname_key
				else sort_key(b.hostname)
			end,
			search_text = case
				when d.hostname = b.hostname and d.serial_number is not distinct from b.serial_number
					then d.search_text
				else search_text(d.name, b.hostname, b.serial_number)
			end
		from unnest(
			p_key_hash, p_hardware_uuid, p_serial_number, p_hostname,
			p_platform, p_os_version, p_agent_version
		) with ordinality b (
			key_hash, hardware_uuid, serial_number, hostname,
			platform, os_version, agent_version, n
		)
		where d.key_hash = b.key_hash and d.status = 'ACTIVE'
		returning
			b.n, d.organization_id, d.id, d.group_policy_id,
			d.hardware_uuid <> b.hardware_uuid or d.platform <> b.platform as is_other_hardware
	), noted as (
		insert into device_conflicts as c (
			organization_id, device_id, kind, hardware_uuid, platform, hostname,
			serial_number, os_version, agent_version, address
		)
		select
			t.organization_id, t.id, 'POSSIBLE_CLONE', p_hardware_uuid[t.n], p_platform[t.n],
			p_hostname[t.n], p_serial_number[t.n], p_os_version[t.n], p_agent_version[t.n],
			p_address[t.n]
		from touched t
		where t.is_other_hardware
		-- Each new conflict locks its organization's audit log. Two batches do so in the same order.
		order by t.organization_id, t.id
		on conflict on constraint device_conflicts_pkey do update set
			hardware_uuid = excluded.hardware_uuid,
			platform = excluded.platform,
			hostname = excluded.hostname,
			serial_number = excluded.serial_number,
			os_version = excluded.os_version,
			agent_version = excluded.agent_version,
			occurrences = c.occurrences + 1,
			last_seen_at = now()
	)
	select
		t.n::integer, t.id::text, o.heartbeat_interval_seconds, o.posture_interval_seconds,
		t.group_policy_id::text
	from touched t
	join organizations o on o.id = t.organization_id;
end
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function agent_group_policies() owner to assay_agent;
	alter function agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[])
		owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function agent_group_policies(),
	agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[]) from public;
grant execute on function agent_group_policies(),
	agent_heartbeat(bytea[], text[], text[], text[], text[], text[], text[], text[]) to assay_app;
