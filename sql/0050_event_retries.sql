-- An event that one handler cannot handle waits for this handler alone, and is retried later.

alter table events
	-- The handlers that have not handled the event. Null: none of them has seen it yet.
	add column waiting_for text[],
	-- The attempts that failed, and the time of the next one.
	add column attempts integer not null default 0,
	add column retry_at timestamptz;
grant update (waiting_for, attempts, retry_at) on events to assay_app;

-- The organizations with events that are due, the one with the oldest event first. Otherwise, a
-- hundred busy organizations could keep the others from their turn.
create or replace function organizations_with_events() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select organization_id::text from events
	where handled_at is null and (retry_at is null or retry_at <= now())
	group by organization_id
	order by min(coalesce(retry_at, occurred_at))
	limit 100
$$;
