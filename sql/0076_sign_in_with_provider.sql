-- Sign-in through an identity provider (OpenID Connect). A row of accounts links a user to a subject
-- of a provider: provider_id is the provider's issuer and account_id is the subject.

-- The issuer that vouched for the user of this session. Null: the user gave a password.
alter table sessions add column provider text check (provider <> '' and length(provider) <= 500);

-- The open invitations of an address, which its owner accepts with the first sign-in.
create index invitations_open on invitations (email) where accepted_at is null and revoked_at is null;

-- How the transaction's user signed in, and whether the user could also give a password. Returns no
-- row if the session is not the user's.
create function own_sign_in(p_session_id text) returns table (provider text, has_password boolean)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select s.provider, exists (
		select from accounts a where a.user_id = s.user_id and a.password is not null
	)
	from sessions s
	where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function own_sign_in(text) owner to assay_identity;
	revoke execute on function own_sign_in(text) from public;
	grant execute on function own_sign_in(text) to assay_app;
	revoke create on schema public from assay_identity;
end
$$;
