-- What every register needs is one call: `select make_register('incidents');` after its `create table`.

-- Makes the indexes that a register's orders and filters read, unless they exist. The type of a
-- column decides: a `…_key` is ordered by, a reference, a choice and a number are filtered by, and a
-- date or a time is both. A row without the date comes last, hence the coalesce (as in byDate).
create function index_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	wanted record;
begin
	for wanted in
		select a.attname as column_name, case
				when a.atttypid = 'date'::regtype then format('COALESCE(%I, ''infinity''::date)', a.attname)
				when a.atttypid = 'timestamptz'::regtype and not a.attnotnull
					then format('COALESCE(%I, ''infinity''::timestamp with time zone)', a.attname)
				else format('%I', a.attname)
			end as expression, case
				-- A choice has few values: each is read in the order that a list begins with.
				when is_choice then 'created_at, id'
				when is_reference then null
				else 'id'
			end as further
		from pg_attribute a
		cross join lateral (
			select
				exists (
					select from pg_constraint c
					where c.conrelid = a.attrelid and c.contype = 'f' and c.conkey[2] = a.attnum
				) as is_reference,
				exists (
					select from pg_constraint c
					where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
						and pg_get_constraintdef(c.oid) ~ '= ANY \(+ARRAY'
				) as is_choice
		) kind
		where a.attrelid = p_table::regclass and a.attnum > 0 and not a.attisdropped and (
			is_reference or is_choice or a.attname like '%\_key'
			or a.atttypid in ('date'::regtype, 'timestamptz'::regtype, 'smallint'::regtype, 'integer'::regtype)
		)
		order by a.attnum
	loop
		if not exists (
			select from pg_index i
			where i.indrelid = p_table::regclass and i.indpred is null and i.indnatts > 1
				and pg_get_indexdef(i.indexrelid, 1, true) = 'organization_id'
				and pg_get_indexdef(i.indexrelid, 2, true) = wanted.expression
		) then
			execute format(
				'create index %I on %I (%s)',
				p_table || '_' || regexp_replace(wanted.column_name, '_key$', ''), p_table,
				concat_ws(', ', 'organization_id', wanted.expression, wanted.further)
			);
		end if;
	end loop;
end
$$;

-- Makes a register of a table: its indexes, the removal of links, row-level security, and what each
-- role may do with it. Names the foreign keys `<table>_<column>_fkey`, as the service expects.
create function make_register(p_table text) returns void
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
revoke execute on function index_register(text), make_register(text) from public;

-- The registers that there are. A name may be too long for an index, so what filters by one reads
-- its key.
alter table risks add column category_key text collate "C" generated always as (sort_key(category)) stored;
alter table measures add column category_key text collate "C" generated always as (sort_key(category)) stored;

do $$
declare
	table_name text;
begin
	foreach table_name in array array[
		'people', 'vendors', 'measures', 'risks', 'frameworks', 'controls', 'audits', 'nonconformities',
		'obligations', 'assets', 'data', 'tasks', 'continual_improvements'
	] loop
		perform index_register(table_name);
	end loop;
end
$$;
