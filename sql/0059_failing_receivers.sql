-- The operator sees how many webhooks and chats fail, or were disabled because they failed.
create policy agent on webhooks for select to assay_agent using (true);
grant select (is_enabled, failing_since, given_up_at) on webhooks to assay_agent;

create function count_failing_receivers()
returns table (kind text, failing bigint, disabled bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select 'webhook', count(*) filter (where is_enabled and failing_since is not null),
		count(*) filter (where not is_enabled and given_up_at is not null)
	from webhooks
	union all
	select 'chat', count(*) filter (where is_enabled and failing_since is not null),
		count(*) filter (where not is_enabled and failing_since is not null)
	from notification_channels where kind in ('SLACK', 'TEAMS')
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function count_failing_receivers() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function count_failing_receivers() from public;
grant execute on function count_failing_receivers() to assay_app;
