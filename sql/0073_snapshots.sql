-- A snapshot keeps records as they were at a moment. Its rows never change, except that the erasure
-- of a person removes the name (docs/decisions/0034).

create table snapshots (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	type text not null,
	description text check (char_length(description) <= 5000),
	-- The user may leave, and the snapshot stays.
	taken_by_id typed_id,
	taken_by_name text not null,
	created_at timestamptz not null default now(),
	-- The number of records of each kind.
	counts jsonb not null default '{}',
	-- SHA-256 of the file of the snapshot: a line of JSON for each record, in the order of their ids.
	sha256 bytea not null check (octet_length(sha256) = 32),
	-- The same after the last erasure of a person, if there was one.
	sha256_after_erasure bytea check (octet_length(sha256_after_erasure) = 32),
	search_text text not null generated always as (search_text(name, description)) stored,
	primary key (organization_id, id)
);
create index snapshots_created_at on snapshots (organization_id, created_at, id);
create index snapshots_taken_by on snapshots (taken_by_id);
create trigger remove_links after delete on snapshots for each row execute function remove_links();

create table snapshot_records (
	organization_id typed_id not null,
	snapshot_id typed_id not null,
	-- The id that the record has, or had, in its register.
	id typed_id not null,
	kind text not null,
	name text not null default '',
	fields jsonb not null,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, snapshot_id, id),
	foreign key (organization_id, snapshot_id) references snapshots on delete cascade
);
create index snapshot_records_kind on snapshot_records (organization_id, snapshot_id, kind, name_key, id);
create index snapshot_records_name on snapshot_records (organization_id, snapshot_id, name_key, id);

do $$
declare
	table_name text;
begin
	foreach table_name in array array['snapshots', 'snapshot_records'] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('grant select, insert, delete on %I to assay_app', table_name);
		execute format('create policy privacy on %I to assay_privacy using (true)', table_name);
	end loop;
end
$$;
-- A link locks both of its records, which needs the right to update one column.
grant update (counts, sha256, description) on snapshots to assay_app;
grant select, update (taken_by_name, sha256_after_erasure) on snapshots to assay_privacy;
grant select, update (name, fields) on snapshot_records to assay_privacy;
select allow_backup();
