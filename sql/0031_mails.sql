-- A mail is a job: a row that waits until the mail server has taken the mail. It holds ids and no
-- address, no text and no secret. The service makes the text and the link when it sends the mail.

create table mails (
	id typed_id primary key,
	-- Null for mails about an account, which may be in several organizations.
	organization_id typed_id references organizations,
	kind text not null check (kind in ('INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST')),
	invitation_id typed_id,
	user_id typed_id references users on delete cascade,
	state text not null default 'QUEUED' check (state in ('QUEUED', 'SENT', 'FAILED', 'NOT_NEEDED')),
	attempts integer not null default 0,
	-- True when the link of a password reset was stored. It is never stored a second time, because a
	-- used link must not work again.
	is_link_made boolean not null default false,
	created_at timestamptz not null default now(),
	-- The time of the next attempt. A process that takes the mail moves this time on, so another one
	-- takes the mail if the first one dies.
	due_at timestamptz default now(),
	sent_at timestamptz,
	-- Why the last attempt failed. The text contains no address.
	failure text check (failure in (
		'CERTIFICATE', 'LOGIN', 'TLS', 'CONNECTION', 'RECIPIENT', 'SENDER', 'OTHER'
	)),
	failure_text text check (length(failure_text) <= 500),
	foreign key (organization_id, invitation_id) references invitations on delete cascade,
	check ((kind = 'INVITATION') = (invitation_id is not null)),
	check ((kind = 'INVITATION') = (user_id is null)),
	check (kind not in ('INVITATION', 'TEST') or organization_id is not null),
	check ((state = 'QUEUED') = (due_at is not null)),
	check ((state = 'SENT') = (sent_at is not null))
);
create index mails_due on mails (due_at) where state = 'QUEUED';
create index mails_organization on mails (organization_id, created_at);
create index mails_invitation on mails (organization_id, invitation_id);
create index mails_user on mails (user_id);
create index mails_created_at on mails (created_at);

alter table mails enable row level security;
alter table mails force row level security;
-- Administrators see the mails of their organization and those about its members' accounts.
create policy tenant on mails to assay_app
	using (
		organization_id = current_setting('assay.organization_id', true)
		or organization_id is null and exists (
			select from memberships m
			where m.user_id = mails.user_id
				and m.organization_id = current_setting('assay.organization_id', true)
		)
	)
	with check (
		organization_id = current_setting('assay.organization_id', true) or organization_id is null
	);
grant select, insert (id, organization_id, kind, invitation_id, user_id),
	update (state, due_at, attempts)
	on mails to assay_app;
create policy identity on mails to assay_identity using (true);
grant select, insert, update, delete on mails to assay_identity;
-- Erasing a user or an invitation deletes the mails to them.
create policy privacy on mails to assay_privacy using (true);
grant select on mails to assay_privacy;

-- A mailed link is stored when the mail is sent, and the limits count queued mails too.
alter table invitations add column is_mailed boolean not null default false;
alter table invitations no force row level security;
update invitations set is_mailed = true where mailed_token_hash is not null;
alter table invitations force row level security;
grant update (mailed_token_hash) on invitations to assay_identity;
drop index invitations_mailed_at;
create index invitations_mailed_at on invitations (created_at)
	where is_mailed or mailed_token_hash is not null;

create or replace function may_mail_invitation(p_of_user integer, p_of_all integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	if is_trusted_inviter(caller) then
		return true;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('invitation mails', 0));
	return (
		select count(*) filter (where i.invited_by_id = caller) < p_of_user and count(*) < p_of_all
		from invitations i
		-- Processes of an older version set only the hash.
		where (i.is_mailed or i.mailed_token_hash is not null)
			and i.created_at > now() - interval '1 day'
			and not is_trusted_inviter(i.invited_by_id)
	);
end
$$;

-- Counts the mails of all organizations that an operator has to look at.
create function count_mails()
returns table (queued bigint, retrying bigint, failed bigint, oldest_seconds double precision)
language sql stable security definer set search_path = public, pg_temp
as $$
	select
		count(*) filter (where state = 'QUEUED'),
		count(*) filter (where state = 'QUEUED' and failure is not null),
		count(*) filter (where state = 'FAILED' and created_at > now() - interval '2 days'),
		coalesce(extract(epoch from now() - min(created_at) filter (where state = 'QUEUED')), 0)
	from mails
	where state = 'QUEUED' or created_at > now() - interval '2 days'
$$;

-- As in 0025, but a restore must not send mails again.
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
				'account_links', 'mails', 'sessions', 'sign_in_failures', 'unknown_device_keys',
				'verifications'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function count_mails() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function count_mails() from public;
grant execute on function count_mails() to assay_app;
