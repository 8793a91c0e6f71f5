-- Organizations that are closed for a while: suspended by the operator, or waiting for their deletion.
-- Their agents get 503, and everybody else gets 403.
create table organization_closures (
	organization_id typed_id primary key references organizations,
	kind text not null check (kind in ('SUSPENDED', 'DELETION')),
	reason text not null check (length(reason) between 1 and 500),
	began_at timestamptz not null default now(),
	-- The service deletes the organization after this time.
	delete_after timestamptz,
	check ((kind = 'DELETION') = (delete_after is not null))
);

alter table organization_closures enable row level security;
alter table organization_closures force row level security;
create policy tenant on organization_closures to assay_app
	using (organization_id = current_setting('assay.organization_id', true))
	with check (organization_id = current_setting('assay.organization_id', true));
create policy identity on organization_closures for select to assay_identity using (true);
create policy agent on organization_closures for select to assay_agent using (true);
grant select, insert, update, delete on organization_closures to assay_app;
grant select on organization_closures to assay_identity, assay_agent;

-- All closed organizations. Each process of the service reads them every few seconds.
create function read_closed_organizations()
returns table (
	organization_id text, name text, kind text, reason text, began_at timestamptz,
	delete_after timestamptz, is_due boolean
)
language sql stable security definer set search_path = public, pg_temp
as $$
	select c.organization_id::text, o.name, c.kind, c.reason, c.began_at, c.delete_after,
		coalesce(c.delete_after <= now(), false)
	from organization_closures c join organizations o on o.id = c.organization_id
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function read_closed_organizations() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function read_closed_organizations() from public;
grant execute on function read_closed_organizations() to assay_app;

-- What stays of an organization that was deleted. The rows are chained by their hashes, as the entries
-- of an audit log are. Only the owner of the table can add a row, and nobody needs to change one.
create table deleted_organizations (
	number bigint primary key check (number > 0),
	organization_id typed_id not null unique,
	name text not null,
	reason text not null,
	closed_at timestamptz not null,
	deleted_at timestamptz not null,
	-- The last number and hash of the organization's audit log.
	last_sequence bigint not null,
	last_hash bytea check (octet_length(last_hash) = 32),
	previous_hash bytea not null check (octet_length(previous_hash) = 32),
	hash bytea not null check (octet_length(hash) = 32)
);

alter table deleted_organizations enable row level security;
alter table deleted_organizations force row level security;
create policy identity on deleted_organizations for select to assay_identity using (true);
grant select on deleted_organizations to assay_identity;

select allow_backup();

-- What the service does by itself waits while an organization is closed.

create or replace function organizations_with_devices() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select o.id::text from organizations o
	where (
		exists (select from devices d where d.organization_id = o.id)
		or exists (select from device_exceptions e where e.organization_id = o.id)
	)
	and not exists (select from organization_closures c where c.organization_id = o.id)
$$;

create or replace function organizations_with_due_digests() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select distinct c.organization_id::text from notification_channels c
	where c.is_enabled and c.next_digest_at <= now()
		and not exists (
			select from organization_closures k where k.organization_id = c.organization_id
		)
	limit 100
$$;

create or replace function organizations_with_events() returns setof text
language sql stable security definer set search_path = public, pg_temp
as $$
	select e.organization_id::text from events e
	where e.handled_at is null and (e.retry_at is null or e.retry_at <= now())
		and not exists (
			select from organization_closures k where k.organization_id = e.organization_id
		)
	group by e.organization_id
	order by min(coalesce(e.retry_at, e.occurred_at))
	limit 100
$$;
