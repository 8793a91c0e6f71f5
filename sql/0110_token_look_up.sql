-- As in 0090, in half the time (80 instead of 150 us for two tokens): the rule about the organization's
-- provider is part of the statement instead of a function, and the statement is planned once. Without
-- the setting, PostgreSQL plans it for each list of hashes, which takes longer than running it.
create or replace function authenticate_scoped_tokens(p_hash bytea[])
returns table (
	ordinal integer, token_id text, token_name text, user_id text, user_name text, memberships text,
	read_only boolean, toolsets text[], locked text
)
language plpgsql stable security definer
set search_path = public, pg_temp set plan_cache_mode = force_generic_plan
as $$
begin
	return query
	select h.n::integer, t.id::text, t.name, u.id::text, u.name, m.all_of_them, t.read_only, t.toolsets,
		m.locked
	from unnest(p_hash) with ordinality h (hash, n)
	join api_tokens t on t.token_hash = h.hash
	join users u on u.id = t.user_id
	cross join lateral (
		-- "<id> <role>,<id> <role>": a tenth of the time that JSON takes for a user of many. A narrowed
		-- one is "<id> <role> <registers or *> <audit or ->".
		select coalesce(
			string_agg(
				one.organization_id || ' ' || one.role || case
					when one.writable_registers is not null or one.reads_audit_log
					then ' ' || coalesce(array_to_string(one.writable_registers, '+'), '*')
						|| case when one.reads_audit_log then ' audit' else ' -' end
					else ''
				end,
				',' order by one.organization_id
			) filter (where one.is_accepted), ''
		) as all_of_them,
		string_agg(one.organization_id, ',' order by one.organization_id) filter (
			where not one.is_accepted
		) as locked
		from (
			select m.organization_id, m.role, m.writable_registers, m.reads_audit_log,
				-- The rule of is_token_accepted. PostgreSQL would start that function for each membership.
				not exists (
					select from sign_in_rules r
					where r.organization_id = m.organization_id
						and t.sign_in_organization_id is distinct from m.organization_id
						and not (r.accepts_older_tokens and t.created_at < r.since)
				) as is_accepted
			from memberships m
			where m.user_id = t.user_id
				and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
				and (m.ends_on is null or is_live_membership(m.organization_id, m.ends_on))
		) one
	) m
	where t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
		and (t.secret_ends_at is null or t.secret_ends_at > now());
end
$$;
