-- While the row exists, the service turns everybody away with its message. At most one row.
create table maintenance (
	singleton boolean primary key default true check (singleton),
	message text not null check (length(message) between 1 and 500),
	began_at timestamptz not null default now()
);

alter table maintenance enable row level security;
alter table maintenance force row level security;
create policy agent on maintenance to assay_agent using (true);
grant select, insert, update, delete on maintenance to assay_agent;

create function read_maintenance() returns table (message text, began_at timestamptz)
language sql stable security definer set search_path = public, pg_temp
as $$
	select m.message, m.began_at from maintenance m
$$;

-- Begins maintenance, or changes its message. Null ends it.
create function set_maintenance(p_message text) returns void
language sql security definer set search_path = public, pg_temp
as $$
	delete from maintenance m where p_message is null;
	insert into maintenance (message) select p_message where p_message is not null
	on conflict (singleton) do update set message = excluded.message;
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function read_maintenance() owner to assay_agent;
	alter function set_maintenance(text) owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function read_maintenance(), set_maintenance(text) from public;
grant execute on function read_maintenance(), set_maintenance(text) to assay_app;

-- As in 0047. A restored database is not in maintenance.
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
end
$$;
