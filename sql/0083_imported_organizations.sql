-- An organization can be exported to a file and imported into another installation
-- (docs/decisions/0042). The import adds its rows as assay_backup, so that row-level security checks
-- that each row belongs to the organization that the transaction names in assay.importing.

-- As in 0075. An import adds rows to every table of an organization, except to these: they hold what
-- belongs to users of the installation, what gives access, and what stays when an organization ends.
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
				'api_token_usage', 'deleted_organizations', 'enrollment_keys', 'enrollment_tokens',
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

-- What an import adds has happened long ago, and elsewhere.
create or replace trigger event after insert on posture_spans
	for each row when (current_setting('assay.importing', true) is distinct from new.organization_id::text)
	execute function note_posture_event();
create or replace trigger event_of_new after insert on devices
	for each row when (
		new.enrolled_at is not null
		and current_setting('assay.importing', true) is distinct from new.organization_id::text
	)
	execute function note_device_event();
create or replace trigger audit_device_conflict after insert on device_conflicts
	for each row when (current_setting('assay.importing', true) is distinct from new.organization_id::text)
	execute function audit_device_conflict();

-- An organization that was deleted can be imported again, and be deleted once more.
alter table deleted_organizations drop constraint deleted_organizations_organization_id_key;
