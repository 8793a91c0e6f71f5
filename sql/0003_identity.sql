-- People who sign in, what they may do, and the API tokens that act for them.
--
-- Who somebody is (users, sessions, passwords) is kept for better-auth, which works as
-- assay_identity on connections of its own: the role of the service, assay_app, cannot read a
-- password, a session or the hash of a token. assay_identity also owns the functions below, the
-- only way in which the service resolves a token before it knows whose it is.

do $$
begin
	if not exists (select from pg_roles where rolname = 'assay_identity') then
		create role assay_identity nologin;
	end if;
exception
	-- Roles belong to the whole server: another database may be migrating too.
	when duplicate_object or unique_violation then null;
end
$$;
do $$
begin
	if not pg_has_role(current_user, 'assay_identity', 'member') then
		grant assay_identity to current_user;
	end if;
	grant usage on schema public to assay_identity;
end
$$;

-- better-auth's tables, under our names.

create table users (
	id typed_id primary key,
	name text not null check (name <> ''),
	-- Lower case, so that unique means unique whatever the case.
	email text not null unique check (email = lower(email) and email <> ''),
	email_verified boolean not null default false,
	image text,
	two_factor_enabled boolean not null default false,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);

create table sessions (
	id typed_id primary key,
	user_id typed_id not null references users on delete cascade,
	token text not null unique,
	expires_at timestamptz not null,
	ip_address text,
	user_agent text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

-- A way to sign in; with the provider "credential" the password's scrypt hash.
create table accounts (
	id typed_id primary key,
	user_id typed_id not null references users on delete cascade,
	provider_id text not null,
	account_id text not null,
	password text,
	access_token text,
	refresh_token text,
	id_token text,
	access_token_expires_at timestamptz,
	refresh_token_expires_at timestamptz,
	scope text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	unique (provider_id, account_id)
);
create index accounts_user on accounts (user_id);

create table verifications (
	id typed_id primary key,
	identifier text not null,
	value text not null,
	expires_at timestamptz not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now()
);
create index verifications_identifier on verifications (identifier);

create table two_factors (
	id typed_id primary key,
	user_id typed_id not null unique references users on delete cascade,
	secret text not null,
	backup_codes text not null,
	verified boolean not null default true,
	failed_verification_count integer not null default 0,
	locked_until timestamptz
);

-- Wrong passwords per address that somebody tried to sign in with, whether it has a user or not.
create table sign_in_failures (
	email_hash bytea primary key check (octet_length(email_hash) = 32),
	failures integer not null,
	since timestamptz not null
);
create index sign_in_failures_since on sign_in_failures (since);

-- Ours: what people may do.

create table memberships (
	organization_id typed_id not null references organizations,
	user_id typed_id not null references users,
	role text not null check (role in ('admin', 'member', 'viewer')),
	created_at timestamptz not null default now(),
	primary key (organization_id, user_id)
);
create index memberships_user on memberships (user_id);

create table invitations (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	email text not null check (email = lower(email) and email <> ''),
	role text not null check (role in ('admin', 'member', 'viewer')),
	token_hash bytea not null unique check (octet_length(token_hash) = 32),
	-- A name, which outlives the user.
	invited_by text not null,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null,
	accepted_at timestamptz,
	revoked_at timestamptz,
	primary key (organization_id, id),
	check (accepted_at is null or revoked_at is null)
);

-- A token acts for its user in every organization the user belongs to. Its row is rewritten while
-- it is used: what that changes stays out of every index.
create table api_tokens (
	id typed_id primary key,
	user_id typed_id not null references users,
	name text not null check (name <> ''),
	description text,
	token_hash bytea not null unique check (octet_length(token_hash) = 32),
	created_at timestamptz not null default now(),
	expires_at timestamptz,
	revoked_at timestamptz,
	last_used_at timestamptz,
	last_used_client text,
	last_used_address text
) with (fillfactor = 70);
create index api_tokens_user on api_tokens (user_id);

-- Days are those of UTC.
create table api_token_usage (
	token_id typed_id not null references api_tokens,
	day date not null,
	tool text not null,
	calls bigint not null check (calls >= 0),
	errors bigint not null check (errors between 0 and calls),
	primary key (token_id, day, tool)
) with (fillfactor = 70);

-- Row-level security. A transaction of an organization (assay.organization_id) sees that one
-- alone; one of a user (assay.user_id) without an organization sees the organizations of the user.

do $$
declare
	table_name text;
begin
	foreach table_name in array array[
		'users', 'sessions', 'accounts', 'verifications', 'two_factors', 'sign_in_failures',
		'memberships', 'invitations', 'api_tokens', 'api_token_usage'
	] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format('create policy identity on %I to assay_identity using (true)', table_name);
	end loop;
end
$$;

create policy tenant on memberships to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy own on memberships for select to assay_app
	using (
		user_id = current_setting('assay.user_id', true)
		and current_setting('assay.organization_id', true) = ''
	);
create policy tenant on invitations to assay_app
	using (organization_id = current_setting('assay.organization_id', true));

create policy own on organizations for select to assay_app
	using (
		current_setting('assay.organization_id', true) = ''
		and exists (
			select from memberships m
			where m.organization_id = organizations.id and m.user_id = current_setting('assay.user_id', true)
		)
	);
create policy identity on organizations to assay_identity using (true);

create policy tenant on users for select to assay_app
	using (
		exists (
			select from memberships m
			where m.organization_id = current_setting('assay.organization_id', true) and m.user_id = users.id
		)
	);
create policy own on users for select to assay_app
	using (id = current_setting('assay.user_id', true));

-- An organization reaches the tokens of its members: to show them and to revoke them.
create policy tenant on api_tokens for select to assay_app
	using (
		exists (
			select from memberships m
			where m.organization_id = current_setting('assay.organization_id', true)
				and m.user_id = api_tokens.user_id
		)
	);
create policy revoke on api_tokens for update to assay_app
	using (
		exists (
			select from memberships m
			where m.organization_id = current_setting('assay.organization_id', true)
				and m.user_id = api_tokens.user_id
		)
	);
create policy own on api_tokens to assay_app
	using (user_id = current_setting('assay.user_id', true));
create policy reached on api_token_usage for select to assay_app
	using (exists (select from api_tokens t where t.id = api_token_usage.token_id));

grant select (id, name, email, created_at) on users to assay_app;
grant select, insert, update (role), delete on memberships to assay_app;
grant select (organization_id, id, email, role, invited_by, created_at, expires_at, accepted_at, revoked_at),
	insert, update (revoked_at) on invitations to assay_app;
grant select (id, user_id, name, description, created_at, expires_at, revoked_at, last_used_at, last_used_client, last_used_address),
	insert (id, user_id, name, description, token_hash, expires_at), update (revoked_at) on api_tokens to assay_app;
grant select on api_token_usage to assay_app;

grant select, insert, update, delete
	on users, sessions, accounts, verifications, two_factors, sign_in_failures to assay_identity;
grant select, insert on memberships to assay_identity;
grant select, update (accepted_at) on invitations to assay_identity;
grant select, update (last_used_at, last_used_client, last_used_address) on api_tokens to assay_identity;
grant select, insert, update on api_token_usage to assay_identity;
-- Updating is what locking a row needs.
grant select, update (updated_at) on organizations to assay_identity;

-- An organization that has an administrator keeps one. The lock on the organization's row makes
-- two transactions take turns, so that of two administrators who leave at once the second stays;
-- an audit entry, which refers to that row, waits for neither.
create function keep_an_administrator() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	if new.role = 'admin' then
		return null;
	end if;
	perform from organizations where id = old.organization_id for no key update;
	if not exists (
		select from memberships m where m.organization_id = old.organization_id and m.role = 'admin'
	) then
		raise exception 'the last administrator of % cannot go', old.organization_id
			using errcode = 'check_violation', constraint = 'last_administrator';
	end if;
	return null;
end
$$;
create trigger keep_an_administrator after update of role or delete on memberships
	for each row when (old.role = 'admin') execute function keep_an_administrator();

-- The live token behind each hash, with what its user may do as of this statement; a token that is
-- unknown, expired or revoked has no row.
create function authenticate_api_tokens(p_hash bytea[])
returns table (
	ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select h.n::integer, t.id::text, t.name, u.id::text, u.name, m.all_of_them
	from unnest(p_hash) with ordinality h (hash, n)
	join api_tokens t on t.token_hash = h.hash
	join users u on u.id = t.user_id
	cross join lateral (
		-- "<id> <role>,<id> <role>": a tenth of the time that JSON takes for a user of many.
		select coalesce(
			string_agg(m.organization_id || ' ' || m.role, ',' order by m.organization_id), ''
		) as all_of_them
		from memberships m where m.user_id = t.user_id
	) m
	where t.revoked_at is null and (t.expires_at is null or t.expires_at > now());
end
$$;

-- Adds what tokens were used for: when, by what and from where last (an element a token), and the
-- calls (an element a token, day and tool). The tokens' rows are locked in one order before anything
-- else is touched, so that two processes never wait for each other in a circle.
create function record_api_token_usage(
	p_token_id text[], p_used_at timestamptz[], p_client text[], p_address text[],
	p_call_token_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[]
)
returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	perform from api_tokens t where t.id = any (p_token_id) or t.id = any (p_call_token_id)
	order by t.id for no key update;
	update api_tokens t
	set last_used_at = n.used_at, last_used_client = n.client, last_used_address = n.address
	from unnest(p_token_id, p_used_at, p_client, p_address) n (token_id, used_at, client, address)
	where t.id = n.token_id and (t.last_used_at is null or t.last_used_at < n.used_at);
	insert into api_token_usage as u (token_id, day, tool, calls, errors)
	select n.token_id, n.day, n.tool, n.calls, n.errors
	from unnest(p_call_token_id, p_day, p_tool, p_calls, p_errors) n (token_id, day, tool, calls, errors)
	where exists (select from api_tokens t where t.id = n.token_id)
	order by n.token_id, n.day, n.tool
	on conflict (token_id, day, tool)
	do update set calls = u.calls + excluded.calls, errors = u.errors + excluded.errors;
end
$$;

-- The user with this address: the one there is, left as it is, or a new one. Without a password
-- (a scrypt hash as better-auth writes it) nobody can sign in as the new one yet.
create function create_user(p_id text, p_email text, p_name text, p_account_id text, p_password text)
returns table (user_id text, is_new boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into users (id, email, name) values (p_id, lower(p_email), p_name)
	on conflict (email) do nothing;
	if found and p_password is not null then
		insert into accounts (id, user_id, provider_id, account_id, password)
		values (p_account_id, p_id, 'credential', p_id, p_password);
	end if;
	return query select u.id::text, u.id = p_id from users u where u.email = lower(p_email);
end
$$;

-- The address that a live invitation is for; null when there is none.
create function invitation_email(p_token_hash bytea) returns text
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select i.email from invitations i
		where i.token_hash = p_token_hash
			and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	);
end
$$;

-- Makes the user of the transaction a member by an invitation to that user's address. Gives the
-- membership, or no row when the invitation is unknown, used, revoked, expired or somebody else's.
-- Who is a member already keeps the role.
create function accept_invitation(p_token_hash bytea)
returns table (invitation_id text, organization_id text, role text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
	invitation invitations;
begin
	update invitations i
	set accepted_at = now()
	from users u
	where u.id = caller and i.email = u.email and i.token_hash = p_token_hash
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	returning i.* into invitation;
	if not found then
		return;
	end if;
	insert into memberships (organization_id, user_id, role)
	values (invitation.organization_id, caller, invitation.role)
	on conflict do nothing;
	return query
	select invitation.id::text, m.organization_id::text, m.role
	from memberships m
	where m.organization_id = invitation.organization_id and m.user_id = caller;
end
$$;

do $$
declare
	signature regprocedure;
begin
	-- To own a function a role must be allowed to create one, if only for a moment.
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'keep_an_administrator()', 'authenticate_api_tokens(bytea[])',
		'record_api_token_usage(text[], timestamptz[], text[], text[], text[], date[], text[], bigint[], bigint[])',
		'create_user(text, text, text, text, text)', 'accept_invitation(bytea)',
		'invitation_email(bytea)'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
		if signature <> 'keep_an_administrator()'::regprocedure then
			execute format('grant execute on function %s to assay_app', signature);
		end if;
	end loop;
	revoke create on schema public from assay_identity;
end
$$;
