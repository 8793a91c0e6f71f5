-- An organization can accept only sessions that its identity provider vouched for. Emergency accounts
-- get in without it, for the day on which the provider is away.

-- An organization with a row accepts no other sessions.
create table sign_in_rules (
	organization_id typed_id primary key references organizations on delete cascade,
	since timestamptz not null default now(),
	-- True if API tokens of before go on reaching the organization, however they were made.
	accepts_older_tokens boolean not null default true
);

create table emergency_members (
	organization_id typed_id not null,
	user_id typed_id not null,
	added_at timestamptz not null default now(),
	primary key (organization_id, user_id),
	foreign key (organization_id, user_id) references memberships on delete cascade
);

-- The sessions in which an emergency account reached the organization without its provider. Each is
-- in the audit log and mailed once. No reference to the session, because the row outlives it.
create table emergency_sign_ins (
	organization_id typed_id not null references organizations on delete cascade,
	session_id text not null check (length(session_id) <= 64),
	user_id typed_id not null references users on delete cascade,
	used_at timestamptz not null default now(),
	primary key (organization_id, session_id)
);
create index emergency_sign_ins_used_at on emergency_sign_ins (used_at);
create index emergency_sign_ins_user on emergency_sign_ins (user_id);

do $$
declare
	name text;
begin
	foreach name in array array['sign_in_rules', 'emergency_members', 'emergency_sign_ins'] loop
		execute format('alter table %I enable row level security', name);
		execute format('alter table %I force row level security', name);
		execute format(
			'create policy tenant on %I to assay_app
			using (organization_id = current_setting(''assay.organization_id'', true))
			with check (organization_id = current_setting(''assay.organization_id'', true))', name
		);
		execute format('create policy identity on %I to assay_identity using (true)', name);
	end loop;
end
$$;
grant select, insert, update (accepts_older_tokens), delete on sign_in_rules to assay_app;
grant select, insert, delete on emergency_members, emergency_sign_ins to assay_app;
grant select on sign_in_rules to assay_identity;
-- Deleting old rows locks them first, which needs updating.
grant select, update (used_at), delete on emergency_sign_ins to assay_identity;
grant select, delete on emergency_members to assay_identity;

create policy privacy on emergency_members for select to assay_privacy using (true);
create policy privacy on emergency_sign_ins for select to assay_privacy using (true);
grant select on emergency_members, emergency_sign_ins to assay_privacy;

-- An emergency account is an administrator.
create function end_emergency_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	delete from emergency_members e
	where e.organization_id = old.organization_id and e.user_id = old.user_id;
	return null;
end
$$;

-- An organization that accepts only its provider keeps an emergency account. The lock makes two
-- transactions take turns, as keep_an_administrator says.
create function keep_an_emergency_member() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	perform from organizations where id = old.organization_id for no key update;
	if exists (select from sign_in_rules r where r.organization_id = old.organization_id)
		and not exists (
			select from emergency_members e where e.organization_id = old.organization_id
		) then
		raise exception 'the last emergency account of % cannot go', old.organization_id
			using errcode = 'check_violation', constraint = 'last_emergency_member';
	end if;
	return null;
end
$$;

-- The administrators of the transaction's organization, and how they can sign in without a provider.
create function emergency_candidates(p_rp_id text) returns table (
	user_id text, name text, email text, is_named boolean, has_password boolean,
	has_second_factor boolean, has_passkey boolean, last_used_at timestamptz
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select u.id::text, u.name, u.email, e.user_id is not null,
		exists (select from accounts a where a.user_id = u.id and a.password is not null),
		u.two_factor_enabled,
		exists (select from passkeys k where k.user_id = u.id and k.rp_id = p_rp_id and k.can_sign_in),
		(
			select max(s.used_at) from emergency_sign_ins s
			where s.organization_id = m.organization_id and s.user_id = u.id
		)
	from memberships m
	join users u on u.id = m.user_id
	left join emergency_members e on e.organization_id = m.organization_id and e.user_id = m.user_id
	where m.organization_id = current_setting('assay.organization_id', true) and m.role = 'admin'
	order by e.user_id is null, u.name, u.id
	limit 200;
end
$$;

-- How many members of the transaction's organization never signed in with a provider that it accepts:
-- one of its own, or the installation's for a verified domain.
create function count_members_without_provider(p_issuer text) returns integer
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select count(*) from memberships m
		where m.organization_id = current_setting('assay.organization_id', true)
			and not exists (
				select from accounts a join identity_providers p on p.id::text = a.provider_id
				where a.user_id = m.user_id and p.organization_id = m.organization_id and p.is_enabled
			)
			and not exists (
				select from accounts a
				join users u on u.id = a.user_id
				join organization_domains d on d.domain = substring(lower(u.email) from '[^@]*$')
				where a.user_id = m.user_id and a.provider_id = p_issuer
					and d.organization_id = m.organization_id and d.verified_at is not null
			)
	);
end
$$;

do $$
declare
	signature text;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'end_emergency_member()', 'keep_an_emergency_member()', 'emergency_candidates(text)',
		'count_members_without_provider(text)'
	] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
	end loop;
	revoke create on schema public from assay_identity;
end
$$;
grant execute on function emergency_candidates(text), count_members_without_provider(text) to assay_app;
create trigger end_emergency_member after update of role on memberships
	for each row when (old.role = 'admin' and new.role <> 'admin')
	execute function end_emergency_member();
create trigger keep_an_emergency_member after delete on emergency_members
	for each row execute function keep_an_emergency_member();

-- The organization whose provider had vouched for the user of the session in which the token was made.
-- Null: none had, or the token is older than this column.
alter table api_tokens add column sign_in_organization_id typed_id
	references organizations on delete set null;
create index api_tokens_sign_in_organization on api_tokens (sign_in_organization_id)
	where sign_in_organization_id is not null;
grant select (sign_in_organization_id), insert (sign_in_organization_id) on api_tokens to assay_app;

-- Returns true if the rule of the organization lets this API token in.
create function is_token_accepted(
	p_organization_id text, p_sign_in_organization_id text, p_created_at timestamptz
) returns boolean
language sql stable
as $$
	select not exists (
		select from sign_in_rules r
		where r.organization_id = p_organization_id
			and p_sign_in_organization_id is distinct from p_organization_id
			and not (r.accepts_older_tokens and p_created_at < r.since)
	)
$$;
revoke execute on function is_token_accepted(text, text, timestamptz) from public;
grant execute on function is_token_accepted(text, text, timestamptz) to assay_app, assay_identity;

-- Finds the live token behind each hash, with its scopes and the memberships that they leave. A
-- token that is unknown, expired or revoked has no row. `locked` has the organizations that accept
-- only tokens that were made after a sign-in with their provider, separated by commas.
drop function authenticate_scoped_tokens(bytea[]);
create function authenticate_scoped_tokens(p_hash bytea[])
returns table (
	ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text,
	read_only boolean, toolsets text[], locked text
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select h.n::integer, t.id::text, t.name, u.id::text, u.name, m.all_of_them, t.read_only, t.toolsets,
		m.locked
	from unnest(p_hash) with ordinality h (hash, n)
	join api_tokens t on t.token_hash = h.hash
	join users u on u.id = t.user_id
	cross join lateral (
		-- "<id> <role>,<id> <role>": a tenth of the time that JSON takes for a user of many. A narrowed
		-- one is "<id> <role> <registers or *> <audit or ->".
		select coalesce(
			string_agg(
				one.organization_id || ' ' || one.role || case
					when one.writable_registers is not null or one.reads_audit_log
					then ' ' || coalesce(array_to_string(one.writable_registers, '+'), '*')
						|| case when one.reads_audit_log then ' audit' else ' -' end
					else ''
				end,
				',' order by one.organization_id
			) filter (where one.is_accepted), ''
		) as all_of_them,
		string_agg(one.organization_id, ',' order by one.organization_id) filter (
			where not one.is_accepted
		) as locked
		from (
			select m.organization_id, m.role, m.writable_registers, m.reads_audit_log,
				is_token_accepted(m.organization_id, t.sign_in_organization_id, t.created_at) as is_accepted
			from memberships m
			where m.user_id = t.user_id
				and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
				and (m.ends_on is null or is_live_membership(m.organization_id, m.ends_on))
		) one
	) m
	where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
		and (t.secret_ends_at is null or t.secret_ends_at > now());
end
$$;
do $$
begin
	grant create on schema public to assay_identity;
	alter function authenticate_scoped_tokens(bytea[]) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function authenticate_scoped_tokens(bytea[]) from public;
grant execute on function authenticate_scoped_tokens(bytea[]) to assay_app;

-- The other administrators get a mail when an emergency account is used.
alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT',
		'NEW_SIGN_IN', 'ORGANIZATION_DELETION', 'EMERGENCY_SIGN_IN'
	)),
	add check (kind <> 'EMERGENCY_SIGN_IN' or (organization_id is not null and user_id is not null));

-- As in 0089. Exports of an organization do not contain the tables above, which belong to this
-- installation.
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

select allow_backup();
