-- Provisioning by SCIM 2.0 (RFC 7643, RFC 7644): an identity provider makes the members of an
-- organization, ends their memberships, and gives roles by group.

-- The role of provisioned people without a group that gives another one.
alter table organizations add column provisioned_role text not null default 'viewer'
	check (provisioned_role in ('admin', 'member', 'viewer'));

create table scim_credentials (
	organization_id typed_id not null references organizations on delete cascade,
	id typed_id not null,
	name text not null check (length(name) between 1 and 200),
	secret_hash bytea not null unique check (octet_length(secret_hash) = 32),
	created_by text not null check (length(created_by) between 1 and 1000),
	created_at timestamptz not null default now(),
	expires_at timestamptz not null,
	revoked_at timestamptz,
	last_used_at timestamptz,
	last_used_address text check (length(last_used_address) <= 100),
	primary key (organization_id, id)
);

create table scim_users (
	organization_id typed_id not null references organizations on delete cascade,
	-- Also the id of the resource. The same person has it in every organization.
	user_id typed_id not null references users on delete cascade,
	user_name text not null check (length(user_name) between 1 and 320),
	user_name_key text not null generated always as (lower(user_name)) stored,
	external_id text check (length(external_id) between 1 and 320),
	is_active boolean not null,
	-- The other attributes, as the client gave them.
	attributes jsonb not null default '{}' check (pg_column_size(attributes) <= 16384),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, user_id),
	unique (organization_id, user_name_key),
	unique (organization_id, external_id)
);

create table scim_groups (
	organization_id typed_id not null references organizations on delete cascade,
	id typed_id not null,
	display_name text not null check (length(display_name) between 1 and 320),
	display_name_key text not null generated always as (lower(display_name)) stored,
	external_id text check (length(external_id) between 1 and 320),
	-- The role of the group's members. Null: the group gives no role.
	role text check (role in ('admin', 'member', 'viewer')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	unique (organization_id, display_name_key),
	unique (organization_id, external_id)
);

create table scim_group_members (
	organization_id typed_id not null,
	group_id typed_id not null,
	user_id typed_id not null,
	primary key (organization_id, group_id, user_id),
	foreign key (organization_id, group_id) references scim_groups on delete cascade,
	foreign key (organization_id, user_id) references scim_users on delete cascade
);
create index scim_group_members_user on scim_group_members (organization_id, user_id);

-- The last changes and refusals, for administrators. They contain no names and no addresses.
create table scim_requests (
	organization_id typed_id not null references organizations on delete cascade,
	id uuid not null default gen_random_uuid(),
	credential_id typed_id not null,
	at timestamptz not null default now(),
	method text not null check (length(method) <= 10),
	path text not null check (length(path) <= 200),
	status integer not null,
	detail text check (length(detail) <= 1000),
	primary key (organization_id, id)
);
create index scim_requests_at on scim_requests (organization_id, at, id);

do $$
declare
	name text;
begin
	foreach name in array array[
		'scim_credentials', 'scim_users', 'scim_groups', 'scim_group_members', 'scim_requests'
	] loop
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
grant select (organization_id, id, name, created_by, created_at, expires_at, revoked_at, last_used_at,
		last_used_address),
	insert, update (revoked_at) on scim_credentials to assay_app;
grant select, update (last_used_at, last_used_address) on scim_credentials to assay_identity;
grant select, insert, update, delete on scim_users, scim_groups to assay_app;
grant select, insert, delete on scim_group_members, scim_requests to assay_app;
grant select on scim_users to assay_identity;

create policy privacy on scim_users for select to assay_privacy using (true);
grant select on scim_users to assay_privacy;
create policy privacy on scim_credentials to assay_privacy using (true);
grant select (organization_id, id, created_by), update (created_by) on scim_credentials to assay_privacy;

-- Finds the credential with this hash. It notes the use, once a minute at most.
create function authenticate_scim(p_hash bytea, p_address text)
returns table (organization_id text, credential_id text, name text)
language plpgsql volatile security definer set search_path = public, pg_temp
as $$
declare
	found_one scim_credentials;
begin
	select c.* into found_one from scim_credentials c
	where c.secret_hash = p_hash and c.revoked_at is null and c.expires_at > now();
	if not found then
		return;
	end if;
	if found_one.last_used_at is null or found_one.last_used_at < now() - interval '1 minute'
		or found_one.last_used_address is distinct from left(p_address, 100) then
		update scim_credentials c set last_used_at = now(), last_used_address = left(p_address, 100)
		where c.organization_id = found_one.organization_id and c.id = found_one.id;
	end if;
	return query select found_one.organization_id::text, found_one.id::text, found_one.name;
end
$$;

-- Returns the account of an address for provisioning, and makes it if there is none. The address must
-- be in a verified domain of the transaction's organization, which proves that the account belongs to
-- the owner of the address. If this is the first proof, whoever made the account may know its
-- password, so the password goes.
create function provision_user(p_id text, p_email text, p_name text)
returns table (user_id text, name text, is_new boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	account users;
	made boolean;
begin
	perform from organization_domains d
	where d.organization_id = current_setting('assay.organization_id', true)
		and d.domain = substring(lower(p_email) from '[^@]*$') and d.verified_at is not null
	for share;
	if not found then
		raise exception 'the domain of the address is not verified for the organization'
			using errcode = 'check_violation', constraint = 'verified_domain';
	end if;
	select c.is_new into made from create_proven_user(p_id, lower(p_email), p_name, '', null, 'LINK') c;
	select u.* into account from users u where u.email = lower(p_email) for no key update;
	if not made and prove_address(account.id, null) then
		delete from accounts a where a.user_id = account.id and a.password is not null;
	end if;
	return query select account.id::text, account.name, made;
end
$$;

-- Makes a provisioned user a member of the transaction's organization. API tokens for all
-- organizations do not reach the new one, as when somebody accepts an invitation without choosing
-- them. Returns false if the user is a member already.
create function provision_membership(p_user_id text, p_role text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	organization text := current_setting('assay.organization_id', true);
	earlier text[];
begin
	perform from scim_users s where s.organization_id = organization and s.user_id = p_user_id;
	if not found then
		raise exception 'the user is not provisioned' using errcode = 'check_violation';
	end if;
	select array_agg(m.organization_id order by m.organization_id) into earlier
	from memberships m where m.user_id = p_user_id and m.organization_id <> organization;
	insert into memberships (organization_id, user_id, role)
	values (organization, p_user_id, p_role)
	on conflict do nothing;
	if not found then
		return false;
	end if;
	update api_tokens t
	set revoked_at = case when earlier is null then now() end,
		organization_ids = earlier[1:100]::typed_id[]
	where t.user_id = p_user_id and t.revoked_at is null and t.organization_ids is null;
	return true;
end
$$;

-- The account of a provisioned user, who need not be a member.
create function provisioned_account(p_user_id text) returns table (name text, email text)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select u.name, u.email from users u
	join scim_users s on s.user_id = u.id
	where u.id = p_user_id and s.organization_id = current_setting('assay.organization_id', true);
end
$$;

-- Ends what reaches no other organization, after a membership of a provisioned user has ended: API
-- tokens, connected apps, and all sessions if no membership is left. Returns the revoked tokens.
create function end_access_after_leaving(p_user_id text) returns table (token_id text, name text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	organization text := current_setting('assay.organization_id', true);
begin
	if exists (
		select from memberships m where m.organization_id = organization and m.user_id = p_user_id
	) or not exists (
		select from scim_users s where s.organization_id = organization and s.user_id = p_user_id
	) then
		raise exception 'the user has not left the organization' using errcode = 'check_violation';
	end if;
	if not exists (
		select from memberships m
		where m.user_id = p_user_id and is_live_membership(m.organization_id, m.ends_on)
	) then
		delete from sessions s where s.user_id = p_user_id;
		-- Devices that need no code, and sign-ins that wait for one.
		delete from verifications v where v.value = p_user_id;
	end if;
	return query
	update api_tokens t set revoked_at = now()
	where t.user_id = p_user_id and t.revoked_at is null and not exists (
		select from memberships m
		where m.user_id = p_user_id and is_live_membership(m.organization_id, m.ends_on)
			and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
	)
	returning t.id::text, t.name;
end
$$;

do $$
declare
	signature text;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'authenticate_scim(bytea, text)', 'provision_user(text, text, text)',
		'provision_membership(text, text)', 'provisioned_account(text)',
		'end_access_after_leaving(text)'
	] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_app', signature);
	end loop;
	revoke create on schema public from assay_identity;
end
$$;

select allow_backup();
