-- A link opens the page of a person's own devices, without an account. It works once, and makes a
-- short session of its own kind.

create table my_devices_links (
	organization_id typed_id not null,
	id typed_id not null,
	people_id typed_id not null,
	-- The SHA-256 of the secret in the link.
	token_hash bytea not null unique check (octet_length(token_hash) = 32),
	-- An administrator has seen a copied link. Only a mailed link proves the address.
	is_copied boolean not null,
	copied_by_id typed_id references users on delete set null,
	created_at timestamptz not null default now(),
	expires_at timestamptz not null,
	redeemed_at timestamptz,
	session_hash bytea unique check (octet_length(session_hash) = 32),
	session_ends_at timestamptz,
	primary key (organization_id, id),
	foreign key (organization_id, people_id) references people on delete cascade,
	check (is_copied or copied_by_id is null),
	check ((redeemed_at is null) = (session_hash is null)),
	check ((redeemed_at is null) = (session_ends_at is null))
);
create index my_devices_links_people on my_devices_links (organization_id, people_id);
create index my_devices_links_copied_by on my_devices_links (copied_by_id)
	where copied_by_id is not null;
create index my_devices_links_expires_at on my_devices_links (expires_at);

alter table my_devices_links enable row level security;
alter table my_devices_links force row level security;
create policy tenant on my_devices_links to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update, delete on my_devices_links to assay_app;
create policy identity on my_devices_links to assay_identity using (true);
grant select, update (expires_at), delete on my_devices_links to assay_identity;

-- Finds a link by its own hash or by the hash of its session. The caller does not know the
-- organization yet.
create function find_my_devices_link(p_hash bytea)
returns table (organization_id text, id text)
language sql stable security definer set search_path = public, pg_temp
as $$
	select l.organization_id::text, l.id::text from my_devices_links l
	where l.token_hash = p_hash or l.session_hash = p_hash
$$;

-- A link was sent to the address that the person had. It must not work for whoever has that address
-- now.
create function end_my_devices_links() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	delete from my_devices_links l
	where l.organization_id = new.organization_id and l.people_id = new.id;
	return null;
end
$$;
create trigger end_links after update of primary_email_address on people
	for each row when (old.primary_email_address is distinct from new.primary_email_address)
	execute function end_my_devices_links();

-- The mail with a link.
alter table mails add column people_id typed_id,
	add foreign key (organization_id, people_id) references people on delete cascade,
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'MY_DEVICES'
	)),
	drop constraint mails_check1,
	add constraint mails_user_check check (
		(kind in ('INVITATION', 'MY_DEVICES')) = (user_id is null)
	),
	add constraint mails_people_check check ((kind = 'MY_DEVICES') = (people_id is not null));
create index mails_people on mails (organization_id, people_id);
grant insert (people_id), update (is_link_made) on mails to assay_app;

do $$
begin
	grant create on schema public to assay_identity;
	alter function find_my_devices_link(bytea) owner to assay_identity;
	alter function end_my_devices_links() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function find_my_devices_link(bytea), end_my_devices_links() from public;
grant execute on function find_my_devices_link(bytea) to assay_app;

-- As in 0035. A restored link would work a second time.
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
				'account_links', 'events', 'mails', 'my_devices_links', 'sessions', 'sign_in_failures',
				'unknown_device_keys', 'verifications', 'webhook_deliveries'
			])
			and not exists (select from pg_policy p where p.polrelid = c.oid and p.polname = 'backup')
	loop
		execute format('create policy backup on %I for select to assay_backup using (true)', name);
		execute format('grant select on %I to assay_backup', name);
	end loop;
end
$$;
