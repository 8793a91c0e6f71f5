-- What happens becomes an event row in the transaction in which it happens. Consequences, such as
-- deliveries to webhooks, are made from these rows later.

create table events (
	organization_id typed_id not null references organizations on delete cascade,
	id bigint generated always as identity,
	type text not null check (type ~ '^[a-z_]+\.[a-z_]+$'),
	-- The record that the event is about. Events of one record are handled in their order.
	record_id typed_id not null,
	-- Ids and codes. Names and addresses are not stored, so erasing a person leaves nothing here.
	data jsonb not null default '{}',
	occurred_at timestamptz not null default now(),
	-- Null until every consequence is stored, in the same transaction.
	handled_at timestamptz,
	primary key (organization_id, id)
);
create index events_waiting on events (organization_id, id) where handled_at is null;
create index events_handled_at on events (handled_at) where handled_at is not null;

alter table events enable row level security;
alter table events force row level security;
create policy tenant on events to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert (organization_id, type, record_id, data), update (handled_at) on events
	to assay_app;
create policy agent on events to assay_agent using (true);
grant select, insert on events to assay_agent;
create policy identity on events to assay_identity using (true);
grant select (ctid, handled_at), update (handled_at), delete on events to assay_identity;

create table webhooks (
	organization_id typed_id not null references organizations on delete cascade,
	id typed_id not null,
	url text not null check (length(url) between 1 and 2000),
	description text check (length(description) <= 1000),
	event_types text[] not null check (cardinality(event_types) > 0),
	is_enabled boolean not null default true,
	-- The signing secret is derived from the secret of the service and this number.
	secret_version integer not null default 1,
	-- Until then, deliveries are also signed with the secret of the version before.
	previous_secret_until timestamptz,
	-- The time of the first failure since the last success.
	failing_since timestamptz,
	-- The time at which the service gave up. Null if a person disabled the webhook.
	given_up_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id)
);
alter table webhooks enable row level security;
alter table webhooks force row level security;
create policy tenant on webhooks to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update, delete on webhooks to assay_app;

create table webhook_deliveries (
	organization_id typed_id not null,
	-- Also the webhook-id that receivers see. It stays the same when a delivery is repeated.
	id typed_id not null,
	webhook_id typed_id not null,
	event_type text not null,
	record_id typed_id not null,
	body text not null,
	state text not null default 'QUEUED' check (state in ('QUEUED', 'DELIVERED', 'FAILED')),
	attempts integer not null default 0,
	created_at timestamptz not null default now(),
	position bigint generated always as identity,
	-- The time of the next attempt. A process that takes the delivery moves this time on.
	due_at timestamptz default now(),
	delivered_at timestamptz,
	-- The last attempt.
	attempted_at timestamptz,
	duration_ms integer,
	answer_status integer,
	answer text check (length(answer) <= 1000),
	failure text check (length(failure) <= 500),
	primary key (organization_id, id),
	foreign key (organization_id, webhook_id) references webhooks on delete cascade,
	check ((state = 'QUEUED') = (due_at is not null)),
	check ((state = 'DELIVERED') = (delivered_at is not null))
);
create index webhook_deliveries_due on webhook_deliveries (due_at) where state = 'QUEUED';
create index webhook_deliveries_order on webhook_deliveries (organization_id, webhook_id, record_id, position)
	where state = 'QUEUED';
create index webhook_deliveries_webhook on webhook_deliveries (organization_id, webhook_id, position);
create index webhook_deliveries_created_at on webhook_deliveries (created_at);

alter table webhook_deliveries enable row level security;
alter table webhook_deliveries force row level security;
create policy tenant on webhook_deliveries to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on webhook_deliveries to assay_app;
create policy agent on webhook_deliveries to assay_agent using (true);
grant select, update (attempts, due_at) on webhook_deliveries to assay_agent;
create policy identity on webhook_deliveries to assay_identity using (true);
grant select (ctid, created_at), update (created_at), delete on webhook_deliveries to assay_identity;

-- The mail that tells administrators that a webhook was given up.
alter table mails add column webhook_id typed_id,
	add foreign key (organization_id, webhook_id) references webhooks on delete cascade,
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP'
	)),
	add check ((kind = 'WEBHOOK_GIVEN_UP') = (webhook_id is not null));
create index mails_webhook on mails (organization_id, webhook_id);
grant insert (webhook_id) on mails to assay_app;
grant select on webhooks to assay_identity;
create policy identity on webhooks for select to assay_identity using (true);

-- A check of a device has begun to fail or to pass. Only a status that changes opens a span, so a
-- report that changes nothing does not come here.
create function note_posture_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	before text;
begin
	if new.is_current and new.status in ('FAIL', 'PASS') then
		select s.status into before from posture_spans s
		where s.organization_id = new.organization_id and s.device_id = new.device_id
			and s.check_key = new.check_key and s.since < new.since
		order by s.since desc limit 1;
		-- The first result of a check is news only if it fails.
		if new.status = 'FAIL' or before is not null then
			insert into events (organization_id, type, record_id, data)
			values (
				new.organization_id, case new.status when 'FAIL' then 'posture.failed' else 'posture.passed' end,
				new.device_id,
				jsonb_build_object(
					'check_key', new.check_key, 'previous_status', before,
					'since', to_char(new.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
					'report_id', new.first_report_id
				)
			);
		end if;
	end if;
	return null;
end
$$;
create trigger event after insert on posture_spans
	for each row execute function note_posture_event();

-- The life of a device. Heartbeats do not set these columns.
create function note_device_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into events (organization_id, type, record_id)
	select new.organization_id, e.type, new.id
	from (values
		('device.enrolled', new.enrolled_at is distinct from old.enrolled_at and new.enrolled_at is not null),
		('device.activated', new.status = 'ACTIVE' and old.status <> 'ACTIVE'),
		('device.revoked', new.status = 'REVOKED' and old.status <> 'REVOKED')
	) e (type, happened)
	where e.happened;
	return null;
end
$$;
create trigger event after update of status, enrolled_at on devices
	for each row execute function note_device_event();
-- A device that enrolls with an enrollment key is new.
create trigger event_of_new after insert on devices
	for each row when (new.enrolled_at is not null) execute function note_device_event();

-- The organizations with events that wait.
create function organizations_with_events() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select distinct organization_id::text from events where handled_at is null limit 100
$$;

-- Takes deliveries that are due, so that no other process takes them meanwhile. Takes only the
-- oldest waiting delivery of each record and webhook, which keeps their order.
create function take_webhook_deliveries(p_count integer, p_seconds integer)
returns table (organization_id text, id text, webhook_id text, attempts integer)
language sql volatile security definer set search_path = public, pg_temp
as $$
	update webhook_deliveries d
	set attempts = d.attempts + 1, due_at = now() + p_seconds * interval '1 second'
	where (d.organization_id, d.id) in (
		select w.organization_id, w.id from webhook_deliveries w
		where w.state = 'QUEUED' and w.due_at <= now() and not exists (
			select from webhook_deliveries earlier
			where earlier.organization_id = w.organization_id and earlier.webhook_id = w.webhook_id
				and earlier.record_id = w.record_id and earlier.state = 'QUEUED'
				and earlier.position < w.position
		)
		order by w.due_at limit p_count for update skip locked
	)
	returning d.organization_id::text, d.id::text, d.webhook_id::text, d.attempts
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function note_posture_event() owner to assay_agent;
	alter function note_device_event() owner to assay_agent;
	alter function organizations_with_events() owner to assay_agent;
	alter function take_webhook_deliveries(integer, integer) owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function note_posture_event(), note_device_event(),
	organizations_with_events(), take_webhook_deliveries(integer, integer) from public;
grant execute on function organizations_with_events(), take_webhook_deliveries(integer, integer)
	to assay_app;

-- As in 0031. A restore must not deliver events again either.
create or replace function allow_backup() returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	name text;
begin
	for name in
		select c.relname from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
			and c.relforcerowsecurity
			and c.relname <> all (array[
				'account_links', 'events', 'mails', 'sessions', 'sign_in_failures',
				'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
select allow_backup();
