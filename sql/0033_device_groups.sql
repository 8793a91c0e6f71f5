-- Groups of devices. A group lists its devices, or it has a filter of the list of devices and
-- contains the devices that match at the moment.

create table device_groups (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	-- As the tools take it. Null: the group lists its devices.
	filter jsonb check (jsonb_typeof(filter) = 'object'),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id)
);
create unique index device_groups_name on device_groups (organization_id, name_key);
create index device_groups_created_at on device_groups (organization_id, created_at, id);

create table device_group_members (
	organization_id typed_id not null,
	group_id typed_id not null,
	device_id typed_id not null,
	added_at timestamptz not null default now(),
	primary key (organization_id, group_id, device_id),
	foreign key (organization_id, group_id) references device_groups on delete cascade,
	foreign key (organization_id, device_id) references devices on delete cascade
);
create index device_group_members_device_id on device_group_members (organization_id, device_id);

alter table device_groups enable row level security;
alter table device_groups force row level security;
alter table device_group_members enable row level security;
alter table device_group_members force row level security;
create policy tenant on device_groups to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy tenant on device_group_members to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update, delete on device_groups, device_group_members to assay_app;
select allow_backup();
