-- The index of a date ends with the other dates of the record and the time of its creation. If a list
-- is filtered by one of them and ordered by another, one index has all that finds its first page.

-- As in 0119, with these columns.
create or replace function index_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	wanted record;
	old record;
begin
	-- Whoever reads the register and then waits to change it would wait for this transaction, and this
	-- one for the reader, if it took a lesser lock first.
	execute format('lock table %I in access exclusive mode', p_table);
	for wanted in
		with columns as (
			select a.attname as name, a.attnum as place, a.atttypid as type, (
				-- Lists put the records without it last.
				a.atttypid = 'date'::regtype or a.atttypid = 'timestamptz'::regtype and not a.attnotnull
			) as is_time, (
				a.atttypid in ('smallint'::regtype, 'integer'::regtype)
			) as is_number, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'f' and c.conkey[2] = a.attnum
			) as is_reference, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
					and pg_get_constraintdef(c.oid) ~ '= ANY \(+ARRAY'
			) as is_choice, a.atttypid = 'smallint'::regtype and exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
					and pg_get_constraintdef(c.oid) ~ '<= \d\)'
			) as is_scale
			from pg_attribute a
			where a.attrelid = p_table::regclass and a.attnum > 0 and not a.attisdropped
		)
		select
			p_table || '_' || regexp_replace(a.name, '_key$', '') as index_name,
			array['organization_id', case
				when a.is_time then format(
					'CASE WHEN %1$I IS NULL THEN ''infinity''::%2$s ELSE %1$I END', a.name, format_type(a.type, null)
				)
				else format('%I', a.name)
			end] || case
				-- A choice has few values: each is read in the order that a list begins with.
				when a.is_choice then array['created_at', 'id']
				when a.is_reference or a.is_scale then '{}'
				else array['id']
			end || array(
				select format('%I', few.name) from columns few
				-- With the time itself, PostgreSQL sees that the index has all that the expression needs.
				where few.place = a.place and a.is_time or few.place <> a.place and (
					few.is_choice or few.is_scale or few.name = 'archived_at'
					-- A list that is filtered by one date and ordered by another may sort all records that
					-- match, and does not look them up for that.
					or a.type = 'date'::regtype and (few.type = 'date'::regtype or few.name = 'created_at')
					-- Counts of the past use this index to find the records that have not changed since.
					or a.name = 'updated_at' and (few.is_reference or few.is_number or few.type = 'date'::regtype)
				)
				-- Nearly every list asks for the records in use. If choices stood before archived_at, PostgreSQL 18
				-- would expect a search for each combination of them.
				order by few.name <> 'archived_at', few.place
			) as keys
		from columns a
		where is_reference or is_choice or is_number or a.name like '%\_key'
			or a.type in ('date'::regtype, 'timestamptz'::regtype)
		order by a.place
	loop
		select x.index_name, x.keys into old
		from (
			select c.relname as index_name, array(
				select regexp_replace(
					regexp_replace(pg_get_indexdef(i.indexrelid, n, true), '\s+', ' ', 'g'), '^\( (CASE .*)\)$', '\1'
				) from generate_series(1, i.indnatts) n
			) as keys
			from pg_index i join pg_class c on c.oid = i.indexrelid
			where i.indrelid = p_table::regclass and i.indpred is null and not i.indisunique
		) x
		where x.keys[1:2] = wanted.keys[1:2]
		-- The one of its own first.
		order by x.index_name <> wanted.index_name
		limit 1;
		if old.index_name = wanted.index_name and old.keys <> wanted.keys then
			execute format('drop index %I', old.index_name);
		end if;
		if old.index_name is null or old.index_name = wanted.index_name and old.keys <> wanted.keys then
			execute format('create index %I on %I (%s)', wanted.index_name, p_table, (
				select string_agg(case when key like 'CASE %' then format('(%s)', key) else key end, ', ' order by n)
				from unnest(wanted.keys) with ordinality k (key, n)
			));
		end if;
	end loop;
end
$$;

do $$
declare
	registers constant text[] := array(
		select c.relname from pg_trigger t join pg_class c on c.oid = t.tgrelid
		where t.tgname = 'keep_version_before_delete' and t.tgfoid = 'keep_record_version'::regproc
		order by 1
	);
begin
	-- All at once, so that a deadlock with somebody who reads several of them loses no work.
	execute format(
		'lock table %s in access exclusive mode',
		(select string_agg(format('%I', name), ', ') from unnest(registers) name)
	);
	perform index_register(name) from unnest(registers) name;
end
$$;
