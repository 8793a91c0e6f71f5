-- A connected app is a program that acts for a user, because the user allowed it on the consent page
-- (OAuth 2.1). It is an API token with two more secrets: a code that is used once, and a refresh
-- token. Each refresh gives the API token another secret, which ends after an hour.

alter table api_tokens
	-- When the secret of a connected app ends. The app then asks for another. Null: with the token.
	add column secret_ends_at timestamptz;
grant select (secret_ends_at), insert (secret_ends_at) on api_tokens to assay_app;
grant update (token_hash, secret_ends_at), delete on api_tokens to assay_identity;

-- The programs that asked to be connected: those that registered themselves (RFC 7591), and those
-- whose id is the address of a document about them.
create table oauth_clients (
	id text primary key check (octet_length(id) between 1 and 2000),
	name text not null check (length(name) between 1 and 200),
	redirect_uris text[] not null check (cardinality(redirect_uris) between 1 and 20),
	is_registered boolean not null,
	-- When the client registered, or when its document was last fetched.
	known_at timestamptz not null default now(),
	used_at timestamptz
);
create index oauth_clients_unused on oauth_clients (known_at) where used_at is null;

create table connected_apps (
	token_id typed_id primary key references api_tokens on delete cascade,
	client_id text not null check (octet_length(client_id) between 1 and 2000),
	redirect_uri text not null check (octet_length(redirect_uri) between 1 and 2000),
	code_hash bytea not null unique check (octet_length(code_hash) = 32),
	code_challenge text not null check (length(code_challenge) = 43),
	code_ends_at timestamptz not null,
	-- When the app exchanged the code. Null: the app is not connected yet, or never was.
	connected_at timestamptz,
	refresh_hash bytea unique check (octet_length(refresh_hash) = 32),
	former_refresh_hash bytea unique check (octet_length(former_refresh_hash) = 32),
	refreshed_at timestamptz
);
create index connected_apps_unused on connected_apps (code_ends_at) where connected_at is null;

alter table oauth_clients enable row level security;
alter table oauth_clients force row level security;
create policy app on oauth_clients for select to assay_app using (true);
create policy identity on oauth_clients to assay_identity using (true);
grant select on oauth_clients to assay_app;
grant select, insert, update, delete on oauth_clients to assay_identity;

alter table connected_apps enable row level security;
alter table connected_apps force row level security;
-- Whoever may see the API token may see the app.
create policy reached on connected_apps for select to assay_app
	using (exists (select from api_tokens t where t.id = token_id));
create policy own on connected_apps for insert to assay_app
	with check (exists (
		select from api_tokens t
		where t.id = token_id and t.user_id = current_setting('assay.user_id', true)
	));
create policy identity on connected_apps to assay_identity using (true);
create policy privacy on connected_apps for select to assay_privacy using (true);
grant select (token_id, client_id, connected_at, code_ends_at), insert on connected_apps to assay_app;
grant select, update, delete on connected_apps to assay_identity;
grant select (token_id, client_id, connected_at) on connected_apps to assay_privacy;
select allow_backup();

-- Finds the live token behind each hash, with its scopes and the memberships that they leave. A
-- token that is unknown, expired or revoked has no row.
create or replace function authenticate_scoped_tokens(p_hash bytea[])
returns table (
	ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text,
	read_only boolean, toolsets text[]
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select h.n::integer, t.id::text, t.name, u.id::text, u.name, m.all_of_them, t.read_only, t.toolsets
	from unnest(p_hash) with ordinality h (hash, n)
	join api_tokens t on t.token_hash = h.hash
	join users u on u.id = t.user_id
	cross join lateral (
		-- "<id> <role>,<id> <role>": a tenth of the time that JSON takes for a user of many.
		select coalesce(
			string_agg(m.organization_id || ' ' || m.role, ',' order by m.organization_id), ''
		) as all_of_them
		from memberships m
		where m.user_id = t.user_id
			and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
	) m
	where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
		and (t.secret_ends_at is null or t.secret_ends_at > now());
end
$$;
