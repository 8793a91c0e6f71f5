-- Limits of sessions as the policy of an organization. A session reaches an organization only within
-- its limits. Null: only the limits of the service apply.
alter table organizations
	add column session_idle_minutes integer check (session_idle_minutes between 5 and 10080),
	add column session_max_hours integer check (session_max_hours between 1 and 720);

-- When and where a session was used last, exact to a minute, and the longest time for which it was not
-- used. An organization whose idle limit was exceeded once stays out of reach for this session, although
-- its user came back. The other columns for this are better-auth's, which are exact to an hour.
alter table sessions
	add column last_used_at timestamptz not null default now(),
	add column last_address text,
	add column last_user_agent text,
	add column longest_idle interval not null default '0';
alter table sessions no force row level security;
update sessions set last_used_at = updated_at, last_address = ip_address, last_user_agent = user_agent;
alter table sessions force row level security;
grant select (last_used_at, last_address, last_user_agent) on sessions to assay_privacy;

drop function own_sessions();
create function own_sessions() returns table (
	session_id text, created_at timestamptz, last_seen_at timestamptz, expires_at timestamptz,
	address text, user_agent text, last_address text, last_user_agent text
)
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query
	select s.id::text, s.created_at, s.last_used_at, s.expires_at, s.ip_address, s.user_agent,
		coalesce(s.last_address, s.ip_address), coalesce(s.last_user_agent, s.user_agent)
	from sessions s
	where s.user_id = current_setting('assay.user_id', true) and s.expires_at > now();
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function own_sessions() owner to assay_identity;
	revoke execute on function own_sessions() from public;
	grant execute on function own_sessions() to assay_app;
	revoke create on schema public from assay_identity;
end
$$;
