-- What is kept about a person is exported and erased by the command line alone, as a role of its own:
-- the service's role can still change no entry of the audit log. Of an entry this role may change
-- only what can name a person; not its number, time, operation, record or hashes (docs/decisions/0012).

do $$
begin
	if not exists (select from pg_roles where rolname = 'assay_privacy') then
		create role assay_privacy nologin;
	end if;
exception
	-- Roles belong to the whole server: another database may be migrating too.
	when duplicate_object or unique_violation then null;
end
$$;
do $$
begin
	if not pg_has_role(current_user, 'assay_privacy', 'member') then
		grant assay_privacy to current_user;
	end if;
	grant usage on schema public to assay_privacy;
end
$$;

-- The policies show all rows of these tables; the grants below say what may be done with them. No
-- password, session, second factor or token can be read, only that there is one.
do $$
declare
	table_name text;
	registers constant text[] := array[
		'people', 'vendors', 'measures', 'risks', 'frameworks', 'controls', 'audits', 'nonconformities',
		'obligations', 'assets', 'data', 'tasks', 'continual_improvements', 'devices'
	];
begin
	foreach table_name in array registers || array[
		'organizations', 'enrollment_tokens', 'users', 'sessions', 'accounts', 'verifications', 'two_factors',
		'sign_in_failures', 'memberships', 'invitations', 'api_tokens', 'api_token_usage', 'account_links',
		'audit_entries'
	] loop
		execute format('create policy privacy on %I to assay_privacy using (true)', table_name);
	end loop;
	foreach table_name in array registers loop
		execute format('grant select on %I to assay_privacy', table_name);
	end loop;
end
$$;

grant update on people to assay_privacy;
grant update (owner_id, updated_at) on devices to assay_privacy;
grant select (id, name) on organizations to assay_privacy;

grant select, delete on users, memberships, api_token_usage to assay_privacy;
grant select (id, user_id, name, description, created_at, expires_at, revoked_at, last_used_at, last_used_client, last_used_address),
	delete on api_tokens to assay_privacy;
-- These go with their user.
grant select (user_id, created_at, updated_at, expires_at, ip_address, user_agent) on sessions to assay_privacy;
grant select (user_id, provider_id, created_at, updated_at) on accounts to assay_privacy;
grant select (user_id) on two_factors to assay_privacy;
grant select (user_id, made_by, purpose, created_at, expires_at) on account_links to assay_privacy;
grant select (identifier, value), delete on verifications to assay_privacy;
grant select (email_hash), delete on sign_in_failures to assay_privacy;
grant select (organization_id, id, email, role, invited_by, created_at, expires_at, accepted_at, revoked_at),
	update (invited_by), delete on invitations to assay_privacy;
grant select (organization_id, id, device_id, created_by), update (created_by) on enrollment_tokens to assay_privacy;

grant select, update (actor_name, token_name, client, address, record_name, changes)
	on audit_entries to assay_privacy;
grant execute on function audit_append(text, jsonb) to assay_privacy;
