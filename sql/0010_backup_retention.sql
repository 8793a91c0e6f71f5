-- Backups read every organization's rows, so they are made as a role of their own, which may read
-- and nothing else; raw reports are kept for as long as the operator says (src/retention.ts).

do $$
begin
	if not exists (select from pg_roles where rolname = 'assay_backup') then
		create role assay_backup nologin;
	end if;
exception
	-- Roles belong to the whole server: another database may be migrating too.
	when duplicate_object or unique_violation then null;
end
$$;
do $$
begin
	if not pg_has_role(current_user, 'assay_backup', 'member') then
		grant assay_backup to current_user;
	end if;
	grant usage on schema public to assay_backup;
end
$$;

-- Lets assay_backup read every table that has rows worth keeping. A migration that makes a table
-- ends with a call of this. What is of the moment is left out, as in src/backup/tables.ts: to
-- bring back a session or a link that was used would open a door again.
create function allow_backup() returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity
			and c.relname <> all (array['account_links', 'sessions', 'sign_in_failures', 'verifications'])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
revoke execute on function allow_backup() from public;
select allow_backup();

-- Makes the partition for the month that begins at p_first_day (UTC), if there is none; rows of that
-- month wait in the default partition and move.
create function make_posture_report_partition(p_first_day timestamptz) returns void
language plpgsql set search_path = public, pg_temp set timezone = 'UTC'
as $$
declare
	partition_name constant text := 'posture_reports_' || to_char(p_first_day at time zone 'UTC', 'YYYY_MM');
begin
	if to_regclass(partition_name) is not null then
		return;
	end if;
	execute format('create table %I (like posture_reports including all)', partition_name);
	execute format('alter table %I enable row level security', partition_name);
	alter table posture_reports_default no force row level security;
	execute format(
		'with waiting as (delete from posture_reports_default where received_at >= %L and received_at < %L returning *)'
		' insert into %I select * from waiting',
		p_first_day, p_first_day + interval '1 month', partition_name
	);
	alter table posture_reports_default force row level security;
	execute format('alter table %I force row level security', partition_name);
	execute format(
		'alter table posture_reports attach partition %I for values from (%L) to (%L)',
		partition_name, p_first_day, p_first_day + interval '1 month'
	);
end
$$;
revoke execute on function make_posture_report_partition(timestamptz) from public;

-- As in 0002, but it never waits: to make a partition takes a lock on the default one, before which
-- a running backup may stand for an hour, and every report that comes would queue behind. So it gives
-- up after a second, and false says that it should be asked again; reports that find no partition go
-- to the default one meanwhile.
drop function ensure_posture_report_partitions();
create function ensure_posture_report_partitions() returns boolean
language plpgsql security definer
set search_path = public, pg_temp set timezone = 'UTC' set lock_timeout = '1s'
as $$
begin
	-- Another process is at it.
	if not pg_try_advisory_xact_lock(hashtext('ensure_posture_report_partitions')) then
		return false;
	end if;
	perform make_posture_report_partition(date_trunc('month', now(), 'UTC') + m * interval '1 month')
	from generate_series(0, 2) m;
	return true;
exception
	when lock_not_available then
		return false;
end
$$;
revoke execute on function ensure_posture_report_partitions() from public;
grant execute on function ensure_posture_report_partitions() to assay_app;
