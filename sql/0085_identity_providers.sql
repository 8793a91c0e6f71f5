-- Identity providers that the administrators of one organization have set up. The provider of the
-- whole installation is in the settings of the service and has no row.

create table identity_providers (
	organization_id typed_id not null references organizations,
	id typed_id not null unique,
	kind text not null check (kind in ('OIDC', 'SAML')),
	name text not null check (length(name) between 1 and 60),
	is_enabled boolean not null default false,
	-- The issuer (OpenID Connect) or the entity id (SAML).
	issuer text not null check (length(issuer) between 1 and 500),
	client_id text check (length(client_id) between 1 and 500),
	-- Encrypted with the secret of the service.
	client_secret text check (length(client_secret) between 1 and 4000),
	sign_in_url text check (length(sign_in_url) between 1 and 2000),
	sign_out_url text check (length(sign_out_url) between 1 and 2000),
	-- PEM, one certificate each. Several, so that the provider can replace its key.
	certificates text[] not null default '{}' check (cardinality(certificates) <= 5),
	-- True if addresses count as verified although the provider does not say so.
	trusts_addresses boolean not null default false,
	groups_claim text not null default 'groups' check (length(groups_claim) between 1 and 200),
	-- Role of newcomers in no group of `group_roles`. Null: they need an invitation.
	role text check (role in ('viewer', 'member')),
	-- Group → role.
	group_roles jsonb not null default '{}' check (jsonb_typeof(group_roles) = 'object'),
	-- Last successful test of these settings. A change of what the test depends on empties it.
	tested_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	check ((kind = 'OIDC') = (client_id is not null)),
	check ((kind = 'OIDC') = (client_secret is not null)),
	check ((kind = 'SAML') = (sign_in_url is not null)),
	check ((kind = 'SAML') = (cardinality(certificates) > 0)),
	check (not is_enabled or tested_at is not null)
);

alter table identity_providers enable row level security;
alter table identity_providers force row level security;
create policy tenant on identity_providers to assay_app
	using (organization_id = current_setting('assay.organization_id', true))
	with check (organization_id = current_setting('assay.organization_id', true));
create policy identity on identity_providers to assay_identity using (true);
grant select, insert, update, delete on identity_providers to assay_app;
grant select, update (tested_at) on identity_providers to assay_identity;

-- The organization's provider that vouched for the user of this session. Null: the installation's
-- provider did, or the user gave a password.
alter table sessions add column identity_provider_id typed_id
	references identity_providers (id) on delete cascade;
create index sessions_identity_provider on sessions (identity_provider_id)
	where identity_provider_id is not null;

-- Ends the sessions of a provider that was switched off, and forgets whom a deleted one knows.
create function end_provider() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	delete from sessions s where s.identity_provider_id = old.id;
	if tg_op = 'DELETE' then
		delete from accounts a where a.provider_id = old.id::text;
	end if;
	return null;
end
$$;
do $$
begin
	grant create on schema public to assay_identity;
	alter function end_provider() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function end_provider() from public;
create trigger end_deleted after delete on identity_providers
	for each row execute function end_provider();
create trigger end_disabled after update on identity_providers
	for each row when (old.is_enabled and not new.is_enabled) execute function end_provider();

-- The organization's provider that vouched for the transaction's user in this session, if one did.
create function own_identity_provider(p_session_id text) returns table (id text, name text)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select p.id::text, p.name
	from sessions s join identity_providers p on p.id = s.identity_provider_id
	where s.id = p_session_id and s.user_id = current_setting('assay.user_id', true);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function own_identity_provider(text) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function own_identity_provider(text) from public;
grant execute on function own_identity_provider(text) to assay_app;

-- Links a user to a person at a provider. Only a user who was made in the same transaction can be
-- linked, so the role of the service cannot give anybody a way into an existing account.
create function link_new_user(p_id text, p_user_id text, p_provider_id text, p_subject text) returns void
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into accounts (id, user_id, provider_id, account_id)
	select p_id, u.id, p_provider_id, p_subject
	from users u where u.id = p_user_id and u.created_at = now();
	if not found then
		raise exception 'the user was not made in this transaction';
	end if;
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function link_new_user(text, text, text, text) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function link_new_user(text, text, text, text) from public;
grant execute on function link_new_user(text, text, text, text) to assay_app;

select allow_backup();
