-- One row has the time at which the daily removal of old rows was last complete. It begins with the
-- time of this migration, so somebody notices an installation in which the removal never succeeds.
create table last_retention (
	singleton boolean primary key default true check (singleton),
	done_at timestamptz not null
);
insert into last_retention (done_at) values (now());

alter table last_retention enable row level security;
alter table last_retention force row level security;
create policy agent on last_retention to assay_agent using (true);
grant select, insert, update on last_retention to assay_agent;

create function note_retention() returns void
language sql security definer set search_path = public, pg_temp
as $$
	insert into last_retention (done_at) values (now())
	on conflict (singleton) do update set done_at = excluded.done_at
	where last_retention.done_at < excluded.done_at
$$;

create function read_last_retention() returns timestamptz
language sql stable security definer set search_path = public, pg_temp
as $$
	select r.done_at from last_retention r
$$;

do $$
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	alter function note_retention() owner to assay_agent;
	alter function read_last_retention() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function note_retention(), read_last_retention() from public;
grant execute on function note_retention(), read_last_retention() to assay_app;

-- As in 0090. A restored database has its own time.
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
				'account_links', 'audit_sealing', 'events', 'last_backup', 'last_retention', 'mails',
				'maintenance', 'my_devices_links', 'notification_messages', 'sessions', 'sign_in_failures',
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
				'api_token_usage', 'archive_changes', 'archive_files', 'deleted_organizations', 'emergency_members',
				'emergency_sign_ins', 'enrollment_keys', 'enrollment_tokens', 'idempotency_keys',
				'identity_providers', 'invitations', 'memberships', 'organization_closures',
				'organization_domains', 'record_watches', 'revoked_device_keys', 'scim_credentials',
				'scim_group_members', 'scim_groups', 'scim_requests', 'scim_users', 'sign_in_rules'
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
