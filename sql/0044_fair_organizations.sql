-- A process takes only a few deliveries of an organization at a time. An organization with many
-- webhooks whose receivers hang does not hold up the others.

drop function take_webhook_deliveries(integer, integer, text[], integer);

-- Takes due deliveries for p_seconds: at most p_count, at most p_to_one to each webhook and none to
-- the webhooks p_busy, at most p_of_one of each organization and none of the organizations p_full.
create function take_webhook_deliveries(
	p_count integer, p_to_one integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer
)
returns table (organization_id text, id text, webhook_id text, attempts integer)
language sql volatile security definer set search_path = public, pg_temp
as $$
	update webhook_deliveries d
	set attempts = d.attempts + 1, due_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the delivery a moment ago. Its due_at has then moved on.
	where d.state = 'QUEUED' and d.due_at <= now() and (d.organization_id, d.id) in (
		select y.organization_id, y.id
		from (
			select x.*, row_number() over (partition by x.organization_id order by x.due_at) as turn
			from (
				select w.organization_id, w.id, w.due_at, row_number() over (
					partition by w.organization_id, w.webhook_id order by w.due_at
				) as place
				from webhook_deliveries w
				where w.state = 'QUEUED' and w.due_at <= now() and w.webhook_id <> all (p_busy)
					and w.organization_id <> all (p_full)
					and not exists (
						select from webhook_deliveries earlier
						where earlier.organization_id = w.organization_id
							and earlier.webhook_id = w.webhook_id and earlier.record_id = w.record_id
							and earlier.state = 'QUEUED' and earlier.position < w.position
					)
			) x
			where x.place <= p_to_one
		) y
		where y.turn <= p_of_one
		-- Each organization has its turn before any of them has a second one.
		order by y.turn, y.due_at
		limit p_count
	)
	returning d.organization_id::text, d.id::text, d.webhook_id::text, d.attempts
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function take_webhook_deliveries(integer, integer, text[], integer, text[], integer)
		owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function take_webhook_deliveries(integer, integer, text[], integer, text[], integer)
	from public;
grant execute on function take_webhook_deliveries(integer, integer, text[], integer, text[], integer)
	to assay_app;
