-- What people do with their own accounts, and links that work once: the first run's, and those with
-- which a forgotten password is set anew. Of passwords, sessions and second factors the service's
-- role still sees nothing; what it may ask for is in the functions below, which look at the
-- transaction's user and organization themselves.

create table account_links (
	token_hash bytea primary key check (octet_length(token_hash) = 32),
	purpose text not null check (purpose in ('SETUP', 'PASSWORD_RESET')),
	-- Whose password; nobody's yet at the first run.
	user_id typed_id references users on delete cascade,
	-- The administrator who made it; null: it went to the user's own address, or came from the command line.
	made_by typed_id references users on delete cascade,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null,
	check ((purpose = 'SETUP') = (user_id is null)),
	check (purpose = 'PASSWORD_RESET' or made_by is null)
);
create index account_links_user on account_links (user_id);
create index account_links_made_by on account_links (made_by);
create index account_links_expiry on account_links (expires_at);

alter table account_links enable row level security;
alter table account_links force row level security;
create policy identity on account_links to assay_identity using (true);
grant select, insert, update, delete on account_links to assay_identity;

-- Everybody changes the own name.
create policy own_name on users for update to assay_app
	using (id = current_setting('assay.user_id', true));
grant update (name, updated_at) on users to assay_app;

create function has_users() returns boolean
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return exists (select from users);
end
$$;

-- Keeps the link of the first run in place of any before it; false when there are users already. This
-- and using it take turns.
create function add_setup_link(p_token_hash bytea) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	perform pg_advisory_xact_lock(4723119);
	delete from account_links where purpose = 'SETUP';
	if exists (select from users) then
		return false;
	end if;
	insert into account_links (token_hash, purpose, expires_at)
	values (p_token_hash, 'SETUP', now() + interval '24 hours');
	return true;
end
$$;

create function is_setup_link(p_token_hash bytea) returns boolean
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return exists (
		select from account_links l
		where l.token_hash = p_token_hash and l.purpose = 'SETUP' and l.expires_at > now()
	);
end
$$;

-- Uses up the link of the first run; false when it is none, has expired, or there are users. Of two
-- transactions that come at once the second waits for the first and finds a user.
create function use_setup_link(p_token_hash bytea) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	perform pg_advisory_xact_lock(4723119);
	delete from account_links l
	where l.token_hash = p_token_hash and l.purpose = 'SETUP' and l.expires_at > now();
	return found and not exists (select from users);
end
$$;

-- What of the transaction's user only assay_identity may read.
create function own_account() returns table (two_factor_enabled boolean)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select u.two_factor_enabled
	from users u where u.id = current_setting('assay.user_id', true);
end
$$;

-- The live sessions of the transaction's user, without what signs in.
create function own_sessions()
returns table (
	session_id text, created_at timestamptz, last_seen_at timestamptz, expires_at timestamptz,
	address text, user_agent text
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select s.id::text, s.created_at, s.updated_at, s.expires_at, s.ip_address, s.user_agent
	from sessions s
	where s.user_id = current_setting('assay.user_id', true) and s.expires_at > now();
end
$$;

-- Ends one session of the transaction's user, or all but one; gives those that it ended.
create function end_own_sessions(p_one text, p_all_but text) returns setof text
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	return query
	delete from sessions s
	where s.user_id = current_setting('assay.user_id', true)
		and (s.id = p_one or s.id <> p_all_but)
	returning s.id::text;
end
$$;

-- Those members of the transaction's organization who sign in with a second factor.
create function members_with_second_factor() returns setof text
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select u.id::text from memberships m join users u on u.id = m.user_id
	where m.organization_id = current_setting('assay.organization_id', true) and u.two_factor_enabled;
end
$$;

-- True when p_admin_id administers every organization of p_user_id, of which there is at least one.
-- Who could set another's password anywhere else would get into an organization that is none of theirs.
create function administers_account(p_admin_id text, p_user_id text) returns boolean
language plpgsql stable set search_path = public, pg_temp
as $$
begin
	return exists (select from memberships m where m.user_id = p_user_id)
		and not exists (
			select from memberships m
			where m.user_id = p_user_id and not exists (
				select from memberships a
				where a.organization_id = m.organization_id and a.user_id = p_admin_id and a.role = 'admin'
			)
		);
end
$$;

-- Keeps a link with which p_user_id sets a new password, in place of those before it, made by the
-- transaction's user; false when that one may not.
create function add_password_reset(p_token_hash bytea, p_user_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	if not administers_account(caller, p_user_id) then
		return false;
	end if;
	delete from account_links l where l.user_id = p_user_id;
	insert into account_links (token_hash, purpose, user_id, made_by, expires_at)
	values (p_token_hash, 'PASSWORD_RESET', p_user_id, caller, now() + interval '24 hours');
	return true;
end
$$;

-- Takes the second factor of p_user_id away and ends the sessions; false when the transaction's user
-- may not.
create function remove_second_factor(p_user_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	if not administers_account(current_setting('assay.user_id', true), p_user_id) then
		return false;
	end if;
	delete from two_factors f where f.user_id = p_user_id;
	update users u set two_factor_enabled = false, updated_at = now() where u.id = p_user_id;
	-- Devices that need no code, and sign-ins that wait for one.
	delete from verifications v where v.value = p_user_id;
	delete from sessions s where s.user_id = p_user_id;
	return true;
end
$$;

do $$
declare
	signature regprocedure;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'has_users()', 'add_setup_link(bytea)', 'is_setup_link(bytea)', 'use_setup_link(bytea)', 'own_account()',
		'own_sessions()', 'end_own_sessions(text, text)', 'members_with_second_factor()',
		'administers_account(text, text)', 'add_password_reset(bytea, text)', 'remove_second_factor(text)'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
		if signature <> 'administers_account(text, text)'::regprocedure then
			execute format('grant execute on function %s to assay_app', signature);
		end if;
	end loop;
	revoke create on schema public from assay_identity;
end
$$;
