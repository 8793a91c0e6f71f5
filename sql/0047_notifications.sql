-- What happens is told to people by mail and to teams in their chat. A channel says who is told
-- what. Everything that happens while a message waits goes into the same message.

create table notification_channels (
	organization_id typed_id not null references organizations on delete cascade,
	id typed_id not null,
	kind text not null check (kind in (
		'DEVICE_OWNERS', 'OVERDUE_WORK', 'ADMINISTRATORS', 'SLACK', 'TEAMS'
	)),
	name text not null check (length(name) between 1 and 200),
	-- The address of a chat is a secret, so it is encrypted with the secret of the service.
	sealed_address text check (length(sealed_address) <= 4000),
	-- The host alone, for people.
	address_host text check (length(address_host) <= 300),
	event_types text[] not null default '{}',
	-- The day of the weekly mail, from 1 (Monday) to 7.
	digest_weekday integer check (digest_weekday between 1 and 7),
	next_digest_at timestamptz,
	is_enabled boolean not null default true,
	-- The time of the first failure since the last success.
	failing_since timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	check ((kind in ('SLACK', 'TEAMS')) = (sealed_address is not null)),
	check ((sealed_address is null) = (address_host is null)),
	check ((kind in ('DEVICE_OWNERS', 'OVERDUE_WORK')) = (digest_weekday is not null)),
	check ((digest_weekday is null) = (next_digest_at is null))
);
create unique index notification_channels_mail on notification_channels (organization_id, kind)
	where kind not in ('SLACK', 'TEAMS');
create index notification_channels_digest on notification_channels (next_digest_at)
	where is_enabled and next_digest_at is not null;
alter table notification_channels enable row level security;
alter table notification_channels force row level security;
create policy tenant on notification_channels to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update, delete on notification_channels to assay_app;
create policy agent on notification_channels for select to assay_agent using (true);
grant select on notification_channels to assay_agent;

-- A message to a chat is a job, as a delivery to a webhook is.
create table notification_messages (
	organization_id typed_id not null,
	id typed_id not null,
	channel_id typed_id not null,
	is_test boolean not null default false,
	-- The events that the message is about, and the number of those beyond the limit.
	event_ids bigint[] not null default '{}',
	further_events integer not null default 0,
	-- What was sent. Null until the first attempt.
	body text,
	state text not null default 'QUEUED' check (state in ('QUEUED', 'DELIVERED', 'FAILED')),
	attempts integer not null default 0,
	created_at timestamptz not null default now(),
	due_at timestamptz default now(),
	delivered_at timestamptz,
	attempted_at timestamptz,
	duration_ms integer,
	answer_status integer,
	answer text check (length(answer) <= 1000),
	failure text check (length(failure) <= 500),
	primary key (organization_id, id),
	foreign key (organization_id, channel_id) references notification_channels on delete cascade,
	check ((state = 'QUEUED') = (due_at is not null)),
	check ((state = 'DELIVERED') = (delivered_at is not null))
);
create index notification_messages_due on notification_messages (due_at) where state = 'QUEUED';
create index notification_messages_channel
	on notification_messages (organization_id, channel_id, created_at);
create index notification_messages_created_at on notification_messages (created_at);
alter table notification_messages enable row level security;
alter table notification_messages force row level security;
create policy tenant on notification_messages to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on notification_messages to assay_app;
create policy agent on notification_messages to assay_agent using (true);
grant select, update (attempts, due_at) on notification_messages to assay_agent;
create policy identity on notification_messages to assay_identity using (true);
grant select (ctid, created_at), update (created_at), delete on notification_messages
	to assay_identity;

-- The weekly mails that a person has stopped.
create table notification_stops (
	organization_id typed_id not null,
	people_id typed_id not null,
	kind text not null check (kind in ('DEVICE_DIGEST', 'OVERDUE_WORK')),
	stopped_at timestamptz not null default now(),
	primary key (organization_id, people_id, kind),
	foreign key (organization_id, people_id) references people on delete cascade
);
alter table notification_stops enable row level security;
alter table notification_stops force row level security;
create policy tenant on notification_stops to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, delete on notification_stops to assay_app;

-- As in 0042. A restore must not send messages again.
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
				'account_links', 'audit_sealing', 'events', 'last_backup', 'mails', 'my_devices_links',
				'notification_messages', 'sessions', 'sign_in_failures', 'unknown_device_keys',
				'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
select allow_backup();

alter table mails add column channel_id typed_id,
	add column event_ids bigint[] not null default '{}',
	add column further_events integer not null default 0,
	add foreign key (organization_id, channel_id) references notification_channels on delete cascade,
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'MY_DEVICES',
		'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK'
	)),
	drop constraint mails_user_check,
	add constraint mails_user_check check (
		(kind in ('INVITATION', 'MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK'))
			= (user_id is null)
	),
	drop constraint mails_people_check,
	add constraint mails_people_check check (
		(kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK'))
			= (people_id is not null)
	),
	add constraint mails_channel_check check (
		(kind in ('EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK')) = (channel_id is not null)
	);
create index mails_channel on mails (organization_id, channel_id, created_at)
	where channel_id is not null;
grant insert (channel_id, event_ids, further_events, due_at), update (event_ids, further_events)
	on mails to assay_app;

-- As in 0046, with the weekly mails.
create or replace function may_mail_people(
	p_count integer, p_of_organization integer, p_of_all integer
)
returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	current_one text := current_setting('assay.organization_id', true);
begin
	if not (select o.made_by_user from organizations o where o.id = current_one) then
		return true;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('mails to people', 0));
	return (
		select
			count(*) filter (where m.organization_id = current_one) + p_count <= p_of_organization
			and count(*) + p_count <= p_of_all
		from mails m
		join organizations o on o.id = m.organization_id
		where m.kind in ('MY_DEVICES', 'DEVICE_DIGEST', 'OVERDUE_WORK')
			and m.created_at > now() - interval '1 day' and o.made_by_user
	);
end
$$;

-- Takes messages that are due for p_seconds: at most p_count, one to each channel and none to the
-- channels p_busy, at most p_of_one of each organization and none of the organizations p_full.
create function take_notification_messages(
	p_count integer, p_busy text[], p_of_one integer, p_full text[], p_seconds integer
)
returns table (organization_id text, id text, channel_id text, attempts integer)
language sql volatile security definer set search_path = public, pg_temp
as $$
	update notification_messages m
	set attempts = m.attempts + 1, due_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the message a moment ago. Its due_at has then moved on.
	where m.state = 'QUEUED' and m.due_at <= now() and (m.organization_id, m.id) in (
		select y.organization_id, y.id
		from (
			select x.*, row_number() over (partition by x.organization_id order by x.due_at) as turn
			from (
				select w.organization_id, w.id, w.due_at, row_number() over (
					partition by w.organization_id, w.channel_id order by w.due_at, w.id
				) as place
				from notification_messages w
				where w.state = 'QUEUED' and w.due_at <= now() and w.channel_id <> all (p_busy)
					and w.organization_id <> all (p_full)
			) x
			where x.place = 1
		) y
		where y.turn <= p_of_one
		-- Each organization has its turn before any of them has a second one.
		order by y.turn, y.due_at
		limit p_count
	)
	returning m.organization_id::text, m.id::text, m.channel_id::text, m.attempts
$$;

-- The organizations whose weekly mails are due.
create function organizations_with_due_digests() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select distinct c.organization_id::text from notification_channels c
	where c.is_enabled and c.next_digest_at <= now() limit 100
$$;

do $$
begin
	grant create on schema public to assay_agent;
	alter function take_notification_messages(integer, text[], integer, text[], integer)
		owner to assay_agent;
	alter function organizations_with_due_digests() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function take_notification_messages(integer, text[], integer, text[], integer),
	organizations_with_due_digests() from public;
grant execute on function take_notification_messages(integer, text[], integer, text[], integer),
	organizations_with_due_digests() to assay_app;
