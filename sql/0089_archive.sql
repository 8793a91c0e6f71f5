-- The archive of raw reports: closed months as Parquet files outside the database, and what has to be
-- changed in these files (src/archive/, docs/decisions/0048).

-- One row for each file. It is there before the file, so that a change in between is noted.
create table archive_files (
	organization_id typed_id not null,
	-- The first day of the month, in UTC, in which the reports were received.
	month date not null check (extract(day from month) = 1),
	part integer not null check (part between 1 and 99999),
	-- Name in the archive.
	name text not null check (length(name) between 1 and 200),
	-- The file has the reports of the devices from the first id to the last.
	first_device_id typed_id not null,
	last_device_id typed_id not null check (last_device_id >= first_device_id),
	-- These are null until the file was stored, read back and compared.
	results bigint check (results >= 0),
	bytes bigint check (bytes > 0),
	sha256 bytea check (octet_length(sha256) = 32),
	stored_at timestamptz,
	primary key (organization_id, month, part),
	check (num_nulls(results, bytes, sha256, stored_at) in (0, 4))
);

-- Months whose reports are all in files. Only these may be dropped while there is an archive.
create table archived_months (
	month date primary key,
	archived_at timestamptz not null default now()
);

-- Devices whose reports in a file are no longer right: deleted devices, and reports that were extended.
create table archive_changes (
	organization_id typed_id not null,
	month date not null,
	device_id typed_id not null,
	primary key (organization_id, month, device_id)
);

-- Files of deleted organizations, which have to be deleted too.
create table archive_leftovers (
	name text primary key
);

do $$
declare
	name text;
begin
	foreach name in array array['archive_files', 'archived_months', 'archive_changes', 'archive_leftovers'] loop
		execute format('alter table %I enable row level security, force row level security', name);
		execute format('create policy agent on %I to assay_agent using (true)', name);
		execute format('grant select, insert, update, delete on %I to assay_agent', name);
	end loop;
end
$$;

-- As in 0083. An export of an organization does not contain the archive, so it does not name its files.
create or replace function allow_backup() returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity
			and c.relname <> all (array[
				'account_links', 'audit_sealing', 'events', 'last_backup', 'mails', 'maintenance',
				'my_devices_links', 'notification_messages', 'sessions', 'sign_in_failures',
				'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
	for name in
		select c.relname from pg_class c
		join pg_policy b on b.polrelid = c.oid and b.polname = 'backup'
		left join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id'
		where (a.attname is not null or c.relname = 'organizations')
			and c.relname <> all (array[
				'api_token_usage', 'archive_changes', 'archive_files', 'deleted_organizations', 'enrollment_keys', 'enrollment_tokens',
				'idempotency_keys', 'identity_providers', 'invitations', 'memberships', 'organization_closures',
				'organization_domains', 'record_watches', 'revoked_device_keys', 'scim_credentials',
				'scim_group_members', 'scim_groups', 'scim_requests', 'scim_users'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'import')
	loop
		execute format(
			'create policy import on %I for insert to assay_backup'
			' with check (%I = current_setting(''assay.importing'', true))',
			name, case name when 'organizations' then 'id' else 'organization_id' end
		);
		execute format('grant insert on %I to assay_backup', name);
	end loop;
end
$$;

select allow_backup();

-- Notes that a device's part of the archive has to be written again. `old` is a device, or its packed
-- reports of a month.
create function note_archive_change() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	if tg_argv[0] = 'device' then
		insert into archive_changes (organization_id, month, device_id)
		select f.organization_id, f.month, old.id from archive_files f
		where f.organization_id = old.organization_id
			and old.id between f.first_device_id and f.last_device_id
		on conflict on constraint archive_changes_pkey do update set month = excluded.month;
	else
		insert into archive_changes (organization_id, month, device_id)
		select f.organization_id, f.month, old.device_id from archive_files f
		where f.organization_id = old.organization_id and f.month = old.month
			and old.device_id between f.first_device_id and f.last_device_id
		on conflict on constraint archive_changes_pkey do update set month = excluded.month;
	end if;
	return null;
end
$$;

-- The file of a deleted row has to be deleted too.
create function note_archive_leftover() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into archive_leftovers (name) values (old.name) on conflict do nothing;
	return null;
end
$$;

-- Counts what the archive still lacks: packed months, and devices whose files have to be written again.
create function read_archive_backlog(out months bigint, out devices bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select
		(
			select count(*) from pg_inherits i join pg_class c on c.oid = i.inhrelid
			where i.inhparent = 'packed_posture_reports'::regclass
				and c.relname ~ '^packed_posture_reports_\d{4}_\d\d$'
				and not exists (
					select from archived_months a where a.month = to_date(right(c.relname, 7), 'YYYY_MM')
				)
		),
		(select count(*) from archive_changes)
$$;

do $$
declare
	signature text;
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	foreach signature in array array[
		'note_archive_change()', 'note_archive_leftover()', 'read_archive_backlog()'
	] loop
		execute format('alter function %s owner to assay_agent', signature);
	end loop;
	revoke create on schema public from assay_agent;
	foreach signature in array array[
		'note_archive_change()', 'note_archive_leftover()', 'read_archive_backlog()'
	] loop
		execute format('revoke execute on function %s from public', signature);
	end loop;
end
$$;
grant execute on function read_archive_backlog() to assay_app;

create trigger note_archive_change after update or delete on packed_posture_reports
	for each row execute function note_archive_change('reports');
create trigger note_archive_change after delete on devices
	for each row execute function note_archive_change('device');
create trigger note_archive_leftover after delete on archive_files
	for each row execute function note_archive_leftover();
