-- The last backup that this database knows of, at most one row. The command that made the backup notes
-- it, unless the database is a read-only standby.
create table last_backup (
	singleton boolean primary key default true check (singleton),
	made_at timestamptz not null,
	has_sound_logs boolean
);
comment on column last_backup.has_sound_logs is
	'Whether the audit logs in the backup were found sound. Null means that they were not verified.';

alter table last_backup enable row level security;
alter table last_backup force row level security;
create policy agent on last_backup to assay_agent using (true);
grant select, insert, update on last_backup to assay_agent;

create function note_backup(p_made_at timestamptz, p_has_sound_logs boolean) returns void
language sql security definer set search_path = public, pg_temp
as $$
	insert into last_backup (made_at, has_sound_logs) values (p_made_at, p_has_sound_logs)
	on conflict (singleton) do update set made_at = excluded.made_at, has_sound_logs = excluded.has_sound_logs
	where last_backup.made_at < excluded.made_at
$$;

-- The last backup, and when the first organization was created: before that there was nothing to lose.
create function read_last_backup() returns table (made_at timestamptz, has_sound_logs boolean, in_use_since timestamptz)
language sql stable security definer set search_path = public, pg_temp
as $$
	select b.made_at, b.has_sound_logs, o.since
	from (select min(created_at) as since from organizations) o
	left join last_backup b on true
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function note_backup(timestamptz, boolean) owner to assay_agent;
	alter function read_last_backup() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function note_backup(timestamptz, boolean), read_last_backup() from public;
grant execute on function note_backup(timestamptz, boolean), read_last_backup() to assay_app;

-- As in 0042. A restored database has not been backed up yet.
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
				'account_links', 'audit_sealing', 'events', 'last_backup', 'mails', 'my_devices_links', 'sessions',
				'sign_in_failures', 'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
