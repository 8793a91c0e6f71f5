-- Passkeys (WebAuthn credentials). A passkey whose authenticator verifies its user signs in without
-- a password. Every passkey may be the second factor after the password.
create table passkeys (
	id typed_id primary key,
	user_id typed_id not null references users on delete cascade,
	-- The host name for which the authenticator made the passkey. It works for no other.
	rp_id text not null check (rp_id <> '' and length(rp_id) <= 253),
	credential_id bytea not null unique check (octet_length(credential_id) between 1 and 1023),
	public_key bytea not null check (octet_length(public_key) between 1 and 4096),
	-- The authenticator's count of signatures. Many authenticators do not count and always report 0.
	counter bigint not null default 0 check (counter >= 0),
	transports text[] not null default '{}' check (cardinality(transports) <= 10),
	name text not null check (name <> '' and length(name) <= 100),
	-- False for a security key that does not verify its user, or that does not store the passkey.
	can_sign_in boolean not null,
	is_synced boolean not null,
	created_at timestamptz not null default now(),
	last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id);
alter table passkeys enable row level security;
alter table passkeys force row level security;
create policy identity on passkeys to assay_identity using (true);
grant select, insert, update, delete on passkeys to assay_identity;
create policy privacy on passkeys to assay_privacy using (true);
grant select on passkeys to assay_privacy;

-- The passkey that began the session.
alter table sessions add column passkey_id typed_id references passkeys on delete set null;
create index sessions_passkey on sessions (passkey_id) where passkey_id is not null;

drop function own_sessions();
create function own_sessions() returns table (
	session_id text, created_at timestamptz, last_seen_at timestamptz, expires_at timestamptz,
	address text, user_agent text, last_address text, last_user_agent text, passkey text
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select s.id::text, s.created_at, s.last_used_at, s.expires_at, s.ip_address, s.user_agent,
		coalesce(s.last_address, s.ip_address), coalesce(s.last_user_agent, s.user_agent), p.name
	from sessions s left join passkeys p on p.id = s.passkey_id
	where s.user_id = current_setting('assay.user_id', true) and s.expires_at > now();
end
$$;

create function own_passkeys() returns table (
	id text, rp_id text, name text, can_sign_in boolean, is_synced boolean, created_at timestamptz,
	last_used_at timestamptz
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select p.id::text, p.rp_id, p.name, p.can_sign_in, p.is_synced, p.created_at, p.last_used_at
	from passkeys p
	where p.user_id = current_setting('assay.user_id', true)
	order by p.created_at, p.id;
end
$$;

-- Returns the old name, or null if the transaction's user has no such passkey.
create function rename_own_passkey(p_id text, p_name text) returns text
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	old text;
begin
	select p.name into old from passkeys p
	where p.id = p_id and p.user_id = current_setting('assay.user_id', true) for no key update;
	update passkeys p set name = p_name
	where p.id = p_id and p.user_id = current_setting('assay.user_id', true);
	return old;
end
$$;

-- Removes a passkey and ends the sessions that began with it, except the given one. Refuses to
-- remove the only second factor of the user, because only recovery codes would be left.
create function remove_own_passkey(p_id text, p_kept_session_id text, p_rp_id text)
returns table (outcome text, name text)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller constant text := current_setting('assay.user_id', true);
	found_name text;
begin
	-- Two calls at the same time must not remove the last two passkeys.
	perform from users u where u.id = caller for no key update;
	select p.name into found_name from passkeys p where p.id = p_id and p.user_id = caller;
	if found_name is null then
		return query select 'ABSENT', null::text;
		return;
	end if;
	if exists (select from users u where u.id = caller and u.two_factor_enabled)
		and not exists (select from two_factors f where f.user_id = caller and f.verified)
		and not exists (
			select from passkeys p where p.user_id = caller and p.id <> p_id and p.rp_id = p_rp_id
		)
	then
		return query select 'LAST_FACTOR', found_name;
		return;
	end if;
	delete from sessions s
	where s.passkey_id = p_id and s.user_id = caller and s.id is distinct from p_kept_session_id;
	delete from passkeys p where p.id = p_id and p.user_id = caller;
	return query select 'REMOVED', found_name;
end
$$;

-- The factors of the transaction's user besides the password.
create function own_second_factors(p_rp_id text) returns table (has_app boolean, passkeys integer)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
declare
	caller constant text := current_setting('assay.user_id', true);
begin
	return query select
		exists (
			select from two_factors f join users u on u.id = f.user_id
			where f.user_id = caller and f.verified and u.two_factor_enabled
		),
		(select count(*)::integer from passkeys p where p.user_id = caller and p.rp_id = p_rp_id);
end
$$;

-- As in 0020 and 0008, and removes the passkeys too.
create or replace function remove_second_factor(p_user_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	if not administers_account(current_setting('assay.user_id', true), p_user_id) then
		return false;
	end if;
	delete from two_factors f where f.user_id = p_user_id;
	delete from passkeys p where p.user_id = p_user_id;
	update users u set two_factor_enabled = false, updated_at = now() where u.id = p_user_id;
	-- Devices that need no code, and sign-ins that wait for one.
	delete from verifications v where v.value = p_user_id;
	delete from sessions s where s.user_id = p_user_id;
	return true;
end
$$;

create or replace function prove_address(p_user_id text, p_kept_session_id text) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	proof text;
begin
	select u.address_proof into proof from users u where u.id = p_user_id for no key update;
	if not found then
		return false;
	end if;
	update users u set address_proof = 'LINK', updated_at = now()
	where u.id = p_user_id and u.address_proof is distinct from 'LINK';
	if proof is not null then
		return false;
	end if;
	update api_tokens t set revoked_at = now() where t.user_id = p_user_id and t.revoked_at is null;
	delete from sessions s where s.user_id = p_user_id and s.id is distinct from p_kept_session_id;
	delete from verifications v where v.value = p_user_id;
	delete from two_factors f where f.user_id = p_user_id;
	delete from passkeys p where p.user_id = p_user_id;
	update users u set two_factor_enabled = false where u.id = p_user_id;
	return true;
end
$$;

do $$
declare
	signature text;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'own_passkeys()', 'rename_own_passkey(text, text)', 'remove_own_passkey(text, text, text)',
		'own_second_factors(text)', 'own_sessions()'
	] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
		execute format('grant execute on function %s to assay_app', signature);
	end loop;
	revoke create on schema public from assay_identity;
end
$$;

select allow_backup();
