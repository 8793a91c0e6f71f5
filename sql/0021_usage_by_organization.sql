-- The use of an API token is counted per organization, and an administrator sees only the part that
-- concerns the administrator's own. Null: the call concerned no organization, or an earlier version
-- counted it. The last call and its sender are per organization too.

alter table api_token_usage
	add column organization_id typed_id references organizations,
	add column last_called_at timestamptz,
	add column last_client text,
	add column last_address text,
	drop constraint api_token_usage_pkey;
create unique index api_token_usage_key on api_token_usage (token_id, organization_id, day, tool)
	nulls not distinct;

-- A transaction of a user sees the use of the user's tokens everywhere.
drop policy reached on api_token_usage;
create policy reached on api_token_usage for select to assay_app
	using (
		exists (select from api_tokens t where t.id = api_token_usage.token_id)
		and current_setting('assay.organization_id', true) in ('', organization_id)
	);

-- Does what record_api_token_usage did, with the organization, the last time and the last sender of
-- each group of calls.
create function record_api_token_calls(
	p_token_id text[], p_used_at timestamptz[], p_client text[], p_address text[],
	p_call_token_id text[], p_organization_id text[], p_day date[], p_tool text[],
	p_calls bigint[], p_errors bigint[],
	p_called_at timestamptz[], p_call_client text[], p_call_address text[]
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
	insert into api_token_usage as u (
		token_id, organization_id, day, tool, calls, errors, last_called_at, last_client, last_address
	)
	select n.*
	from unnest(
		p_call_token_id, p_organization_id, p_day, p_tool, p_calls, p_errors,
		p_called_at, p_call_client, p_call_address
	) n (token_id, organization_id, day, tool, calls, errors, called_at, client, address)
	where exists (select from api_tokens t where t.id = n.token_id)
		and (n.organization_id is null or exists (select from organizations o where o.id = n.organization_id))
	order by n.token_id, n.organization_id, n.day, n.tool
	on conflict (token_id, organization_id, day, tool)
	do update set
		calls = u.calls + excluded.calls,
		errors = u.errors + excluded.errors,
		last_called_at = greatest(u.last_called_at, excluded.last_called_at),
		last_client = case when u.last_called_at > excluded.last_called_at then u.last_client else excluded.last_client end,
		last_address = case when u.last_called_at > excluded.last_called_at then u.last_address else excluded.last_address end;
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function record_api_token_calls(
		text[], timestamptz[], text[], text[],
		text[], text[], date[], text[], bigint[], bigint[], timestamptz[], text[], text[]
	) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function record_api_token_calls from public;
grant execute on function record_api_token_calls to assay_app;

-- Processes of an earlier version call this one until they stop. They do not tell the organization.
create or replace function record_api_token_usage(
	p_token_id text[], p_used_at timestamptz[], p_client text[], p_address text[],
	p_call_token_id text[], p_day date[], p_tool text[], p_calls bigint[], p_errors bigint[]
)
returns void
language sql security definer set search_path = public, pg_temp
as $$
	select record_api_token_calls(
		p_token_id, p_used_at, p_client, p_address,
		p_call_token_id, array_fill(null::text, array[cardinality(p_call_token_id)]), p_day, p_tool,
		p_calls, p_errors,
		array_fill(null::timestamptz, array[cardinality(p_call_token_id)]),
		array_fill(null::text, array[cardinality(p_call_token_id)]),
		array_fill(null::text, array[cardinality(p_call_token_id)])
	)
$$;
