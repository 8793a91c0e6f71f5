-- A saved view is a name for the search, filters, order and columns of a list. It belongs to one
-- member, or to the whole organization.

create table saved_views (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	-- The kind of the list's records.
	list text not null check (list <> '' and length(list) <= 100),
	name text not null check (length(name) between 1 and 100),
	-- The parameters of the list's address.
	search jsonb not null check (jsonb_typeof(search) = 'object' and length(search::text) <= 20000),
	-- Null: the view is shared with the organization.
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references memberships on delete cascade
);
create unique index saved_views_name
	on saved_views (organization_id, list, coalesce(owner_id, ''), lower(name));
create index saved_views_owner on saved_views (organization_id, owner_id) where owner_id is not null;
alter table saved_views enable row level security;
alter table saved_views force row level security;
create policy tenant on saved_views to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update, delete on saved_views to assay_app;
create policy privacy on saved_views for select to assay_privacy using (true);
grant select on saved_views to assay_privacy;
select allow_backup();
