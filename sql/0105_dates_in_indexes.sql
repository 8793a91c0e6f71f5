-- Lists ask for a date or time in an index whose expression puts rows without one last. Row-level
-- security kept PostgreSQL from looking for a value in these indexes, because it does not know that
-- `coalesce` reveals nothing of other rows. It knows that of `case`.
do $$
declare
	old record;
begin
	for old in
		select c.relname as name, pg_get_indexdef(c.oid) as definition
		from pg_index i join pg_class c on c.oid = i.indexrelid
		where c.relnamespace = current_schema()::regnamespace
			and pg_get_indexdef(c.oid) ~ 'COALESCE\(\w+, ''infinity''::'
		order by 1
	loop
		execute format('drop index %I', old.name);
		execute regexp_replace(
			old.definition, 'COALESCE\((\w+), (''infinity''::(date|timestamp with time zone))\)',
			'(case when \1 is null then \2 else \1 end)'
		);
	end loop;
end
$$;

-- As in 0018, with that expression.
create or replace function index_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	wanted record;
begin
	for wanted in
		select a.attname as column_name, case
				when a.atttypid = 'date'::regtype then format('CASE WHEN %1$I IS NULL THEN ''infinity''::date ELSE %1$I END', a.attname)
				when a.atttypid = 'timestamptz'::regtype and not a.attnotnull
					then format(
						'CASE WHEN %1$I IS NULL THEN ''infinity''::timestamp with time zone ELSE %1$I END', a.attname
					)
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
				and regexp_replace(
					regexp_replace(pg_get_indexdef(i.indexrelid, 2, true), '\s+', ' ', 'g'),
					'^\( (CASE .*)\)$', '\1'
				) = wanted.expression
		) then
			execute format(
				'create index %I on %I (%s)',
				p_table || '_' || regexp_replace(wanted.column_name, '_key$', ''), p_table,
				concat_ws(
					', ', 'organization_id',
					case when wanted.expression like 'CASE %' then format('(%s)', wanted.expression)
						else wanted.expression end,
					wanted.further
				)
			);
		end if;
	end loop;
end
$$;
