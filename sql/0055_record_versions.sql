-- Records remember. A register's row is the newest state of a record, valid since its updated_at.
-- Each change and each deletion keeps the state before it here (docs/decisions/0030), so adding a
-- record costs nothing and records from before this migration need no first version.

-- `register` is the table that the row was in. A link is valid since its created_at and has a second
-- end. There is no foreign key to the organization: the row that was replaced had one, and a key
-- would lock the organization's row at each change.
create table record_versions (
	organization_id typed_id not null,
	register text not null,
	record_id typed_id not null,
	other_id typed_id,
	valid_from timestamptz not null,
	valid_to timestamptz not null,
	fields jsonb not null,
	check (valid_from < valid_to)
);
-- One record or link at a moment; and the two links of a record.
create unique index record_versions_record on record_versions
	(organization_id, register, record_id, other_id, valid_to) nulls not distinct;
create index record_versions_other on record_versions (organization_id, register, other_id)
	where other_id is not null;
-- A register at a moment. Both bounds are compared in the index.
create index record_versions_valid on record_versions (organization_id, register, valid_to, valid_from);

alter table record_versions enable row level security;
alter table record_versions force row level security;
create policy tenant on record_versions to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy privacy on record_versions to assay_privacy using (true);
grant select, insert on record_versions to assay_app;
grant select, insert, update on record_versions to assay_privacy;
select allow_backup();

-- Before this moment, changes and deletions left no version.
alter table organizations add column records_known_since timestamptz not null default now();

-- now() is when a transaction began. If it waited for another change of the record, that change may
-- have begun later, so the time is moved after it: the states of a record never overlap.
create function order_record_versions() returns trigger
language plpgsql
as $$
begin
	new.updated_at := old.updated_at + interval '1 microsecond';
	return new;
end
$$;

-- Keeps the state that ends. The argument names columns that are computed from the others. A state
-- with the updated_at of the next one was made in the same transaction, and nobody has seen it.
create function keep_record_version() returns trigger
language plpgsql
as $$
begin
	insert into record_versions (organization_id, register, record_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, old.id, old.updated_at,
		case tg_op when 'UPDATE' then new.updated_at
			else greatest(now(), old.updated_at + interval '1 microsecond') end,
		to_jsonb(old) - tg_argv[0]::text[]
	);
	return null;
end
$$;

-- The same for a row that links two records. The arguments name the columns of its ends.
create function keep_link_version() returns trigger
language plpgsql
as $$
declare
	link constant jsonb := to_jsonb(old);
begin
	insert into record_versions
		(organization_id, register, record_id, other_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, link ->> tg_argv[0], link ->> tg_argv[1], old.created_at,
		greatest(now(), old.created_at + interval '1 microsecond'),
		link - array['organization_id', tg_argv[0], tg_argv[1]]
	);
	return null;
end
$$;

create function keep_versions_of(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	computed text[];
begin
	select array['organization_id', 'id', 'search_text'] || coalesce(array_agg(a.attname::text), '{}')
	into computed
	from pg_attribute a
	where a.attrelid = p_table::regclass and a.attname like '%\_key' and a.attgenerated = 's'
		and not a.attisdropped;
	execute format(
		'create trigger order_versions before update on %I for each row
		when (new.updated_at < old.updated_at) execute function order_record_versions()', p_table
	);
	execute format(
		'create trigger keep_version_before_update after update on %I for each row
		when (old.updated_at < new.updated_at) execute function keep_record_version(%L)', p_table, computed
	);
	execute format(
		'create trigger keep_version_before_delete after delete on %I for each row
		execute function keep_record_version(%L)', p_table, computed
	);
end
$$;

create function keep_link_versions_of(p_table text, p_first text, p_second text) returns void
language plpgsql set search_path = public, pg_temp
as $$
begin
	execute format(
		'create trigger keep_version_before_delete after delete on %I for each row
		execute function keep_link_version(%L, %L)', p_table, p_first, p_second
	);
end
$$;

alter table asset_vendors add column created_at timestamptz not null default now();
alter table datum_vendors add column created_at timestamptz not null default now();
select keep_link_versions_of('record_links', 'first_id', 'second_id'),
	keep_link_versions_of('asset_vendors', 'asset_id', 'vendor_id'),
	keep_link_versions_of('datum_vendors', 'datum_id', 'vendor_id');
-- Every register has this trigger, and so do devices, which keep no versions.
select keep_versions_of(c.relname::text)
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where t.tgname = 'remove_links' and c.relname <> 'devices' and c.relnamespace = 'public'::regnamespace;

-- As in 0018, and its records keep their versions.
create or replace function make_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	reference record;
begin
	for reference in
		select c.conname as name, a.attname as column_name
		from pg_constraint c
		join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
		where c.contype = 'f' and c.conrelid = p_table::regclass
			and c.conname <> p_table || '_' || a.attname || '_fkey'
	loop
		execute format(
			'alter table %I rename constraint %I to %I',
			p_table, reference.name, p_table || '_' || reference.column_name || '_fkey'
		);
	end loop;
	perform index_register(p_table);
	execute format(
		'create index %I on %I using gin (organization_id, search_text gin_trgm_ops)',
		p_table || '_search', p_table
	);
	execute format(
		'create trigger remove_links after delete on %I for each row execute function remove_links()', p_table
	);
	perform keep_versions_of(p_table);

	execute format('alter table %I enable row level security', p_table);
	execute format('alter table %I force row level security', p_table);
	execute format(
		'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
		p_table
	);
	execute format('grant select, insert, update, delete on %I to assay_app', p_table);
	execute format('create policy search on %I for select to assay_search using (true)', p_table);
	execute format('grant select (organization_id, id, search_text) on %I to assay_search', p_table);
	execute format('create policy privacy on %I to assay_privacy using (true)', p_table);
	execute format('grant select on %I to assay_privacy', p_table);
	perform allow_backup();
end
$$;
revoke execute on function keep_versions_of(text), keep_link_versions_of(text, text, text) from public;
