-- Chats and webhooks learn once a day what is overdue, which reviews are due, and which signatures
-- are missing. A row of `events` says that the day's event was made. If there was nothing to tell,
-- the row counts as handled from the beginning, so nobody gets it and nobody looks again.
create unique index events_daily on events (organization_id, type, (data ->> 'date'))
	where type in ('work.overdue', 'reviews.due', 'signatures.missing');
grant insert (handled_at) on events to assay_app;

create index document_signatures_requested on document_signatures (organization_id, requested_at)
	where state = 'REQUESTED';

create index notification_channels_daily on notification_channels (organization_id)
	where is_enabled and event_types && array['work.overdue', 'reviews.due', 'signatures.missing'];
create index webhooks_daily on webhooks (organization_id)
	where is_enabled and event_types && array['work.overdue', 'reviews.due', 'signatures.missing'];
grant select (organization_id, event_types, updated_at) on webhooks to assay_agent;

-- The organizations that have to make the daily events of today: it is after 7:00 there, and a
-- receiver wants one of them since before that time.
create function organizations_with_daily_events() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select o.id::text
	from (
		select c.organization_id, c.updated_at from notification_channels c
		where c.is_enabled
			and c.event_types && array['work.overdue', 'reviews.due', 'signatures.missing']
		union all
		select w.organization_id, w.updated_at from webhooks w
		where w.is_enabled
			and w.event_types && array['work.overdue', 'reviews.due', 'signatures.missing']
	) r
	join organizations o on o.id = r.organization_id
	cross join lateral (select (now() at time zone o.time_zone)::date as today) d
	cross join lateral (select (d.today + time '07:00') at time zone o.time_zone as at) m
	where m.at <= now() and r.updated_at < m.at
		and not exists (
			select from events e
			where e.organization_id = o.id and e.type = 'work.overdue'
				and e.data ->> 'date' = to_char(d.today, 'YYYY-MM-DD')
		)
		and not exists (select from organization_closures k where k.organization_id = o.id)
	group by o.id
	limit 100
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function organizations_with_daily_events() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function organizations_with_daily_events() from public;
grant execute on function organizations_with_daily_events() to assay_app;
