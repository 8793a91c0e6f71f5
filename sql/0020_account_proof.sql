-- Nobody prepares an account for somebody else's address and keeps a way into it.
--
-- An account is proven when its address's owner is known to have it: the first set-up, a command on
-- the server (COMMAND), a link that was mailed to the address or handed over by whoever runs the
-- service (LINK). Accounts of before this version count as proven (ASSUMED). Null: made with a link
-- that somebody else could see.

alter table users add column address_proof text default 'ASSUMED'
	check (address_proof in ('ASSUMED', 'COMMAND', 'LINK'));
alter table users alter column address_proof drop default;

-- When this session last gave the password or a code.
alter table sessions add column proved_at timestamptz not null default 'epoch';
alter table sessions alter column proved_at set default now();

-- Attempts are counted in windows of different lengths.
alter table sign_in_failures
	add column ends_at timestamptz not null default now() + interval '15 minutes';
create index sign_in_failures_end on sign_in_failures (ends_at);

-- The secret that only the mail has; no screen shows it.
alter table invitations
	add column mailed_token_hash bytea unique check (octet_length(mailed_token_hash) = 32);
-- How many invitations a user has sent within a day.
create index invitations_sent_at on invitations (invited_by_id, created_at) where invited_by_id is not null;

grant update (revoked_at, organization_ids) on api_tokens to assay_identity;

-- Records that p_user_id has the account's address. The first proof of an unproven account revokes
-- its API tokens and ends its sessions but p_kept_session_id, and takes away trusted devices and the
-- second factor: somebody else may have made them. Returns true for that first proof.
create function prove_address(p_user_id text, p_kept_session_id text) returns boolean
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
	update users u set two_factor_enabled = false where u.id = p_user_id;
	return true;
end
$$;

-- Does what create_user does, which processes of an earlier version call, with the
-- proof of a new account.
create function create_proven_user(
	p_id text, p_email text, p_name text, p_account_id text, p_password text, p_address_proof text
)
returns table (user_id text, is_new boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	return query
	select c.user_id, c.is_new from create_user(p_id, p_email, p_name, p_account_id, p_password) c;
	update users u set address_proof = p_address_proof where u.id = p_id;
end
$$;

-- The address that a live invitation is for, and whether the secret is the mailed one; no row when
-- there is no such invitation.
create function find_invitation(p_token_hash bytea) returns table (email text, is_mailed boolean)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select i.email, i.mailed_token_hash is not distinct from p_token_hash
	from invitations i
	where (i.token_hash = p_token_hash or i.mailed_token_hash = p_token_hash)
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now();
end
$$;

-- Makes the user of the transaction a member by an invitation to that user's address. Returns the
-- membership, or no row when the invitation is unknown, used, revoked, expired or somebody else's.
-- A member keeps the role there was. The mailed secret proves the address.
--
-- Of the user's live API tokens those in p_token_ids reach the organization; every other one is
-- limited to the organizations before it, or revoked when there are none.
create function accept_invitation_with_tokens(p_token_hash bytea, p_session_id text, p_token_ids text[])
returns table (invitation_id text, organization_id text, role text, is_first_proof boolean)
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
	invitation invitations;
	is_first boolean := false;
	earlier text[];
begin
	update invitations i
	set accepted_at = now()
	from users u
	where u.id = caller and i.email = u.email and (i.token_hash = p_token_hash or i.mailed_token_hash = p_token_hash)
		and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
	returning i.* into invitation;
	if not found then
		return;
	end if;
	if invitation.mailed_token_hash = p_token_hash then
		is_first := prove_address(caller, p_session_id);
	end if;
	select array_agg(m.organization_id order by m.organization_id) into earlier
	from memberships m where m.user_id = caller and m.organization_id <> invitation.organization_id;
	insert into memberships (organization_id, user_id, role)
	values (invitation.organization_id, caller, invitation.role)
	on conflict do nothing;
	if found then
		update api_tokens t
		set revoked_at = case when earlier is null then now() end,
			organization_ids = coalesce(t.organization_ids, earlier[1:100]::typed_id[])
		where t.user_id = caller and t.revoked_at is null
			and t.organization_ids is null and t.id <> all (p_token_ids);
		update api_tokens t set organization_ids = t.organization_ids || invitation.organization_id
		where t.user_id = caller and t.revoked_at is null
			and cardinality(t.organization_ids) < 100 and t.id = any (p_token_ids);
	end if;
	return query
	select invitation.id::text, m.organization_id::text, m.role, is_first
	from memberships m
	where m.organization_id = invitation.organization_id and m.user_id = caller;
end
$$;

-- When the session of the transaction's user last gave the password or a code; null: no such session.
create function own_session_proved_at(p_session_id text) returns timestamptz
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select s.proved_at from sessions s
		where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true)
	);
end
$$;

-- How many invitations the transaction's user has sent within a day, in all organizations, those
-- that were revoked included.
create function invitations_sent_today() returns integer
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select count(*)::integer from invitations i
		where i.invited_by_id = current_setting('assay.user_id', true)
			and i.created_at > now() - interval '1 day'
	);
end
$$;

do $$
declare
	signature regprocedure;
begin
	grant create on schema public to assay_identity;
	foreach signature in array array[
		'prove_address(text, text)', 'create_proven_user(text, text, text, text, text, text)',
		'find_invitation(bytea)', 'accept_invitation_with_tokens(bytea, text, text[])',
		'own_session_proved_at(text)', 'invitations_sent_today()'
	]::regprocedure[] loop
		execute format('alter function %s owner to assay_identity', signature);
		execute format('revoke execute on function %s from public', signature);
		if signature <> 'prove_address(text, text)'::regprocedure then
			execute format('grant execute on function %s to assay_app', signature);
		end if;
	end loop;
	revoke create on schema public from assay_identity;
end
$$;
