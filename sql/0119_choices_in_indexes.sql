-- Every index of a register ends with the columns that have few values: choices, scales such as that
-- of likelihood, and whether the record is archived. So a list with two filters is counted in one
-- index, and no record is looked up in the table.

-- As in 0105, with these columns. Makes an index of its own again if it has other columns, such as
-- after a choice was added.
create or replace function index_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	wanted record;
	old record;
begin
	for wanted in
		with columns as (
			select a.attname as name, a.attnum as place, a.atttypid as type, (
				-- Lists put the records without it last.
				a.atttypid = 'date'::regtype or a.atttypid = 'timestamptz'::regtype and not a.attnotnull
			) as is_time, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'f' and c.conkey[2] = a.attnum
			) as is_reference, exists (
				select from pg_constraint c
				where c.conrelid = a.attrelid and c.contype = 'c' and c.conkey = array[a.attnum]
					and pg_get_constraintdef(c.oid) ~ '= ANY \(+ARRAY'
			) as is_choice, exists (
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
					-- Counts of the past find by this index what has not changed since.
					or a.name = 'updated_at' and (
						few.is_reference or few.type in ('date'::regtype, 'smallint'::regtype, 'integer'::regtype)
					)
				)
				-- Nearly every list asks for the records in use. If choices stood before archived_at, PostgreSQL 18
				-- would expect a search for each combination of them.
				order by few.name <> 'archived_at', few.place
			) as keys
		from columns a
		where is_reference or is_choice or a.name like '%\_key'
			or a.type in ('date'::regtype, 'timestamptz'::regtype, 'smallint'::regtype, 'integer'::regtype)
		order by a.place
	loop
		select x.index_name, x.keys into old
		from (
			select i.indexrelid::regclass::text as index_name, array(
				select regexp_replace(
					regexp_replace(pg_get_indexdef(i.indexrelid, n, true), '\s+', ' ', 'g'), '^\( (CASE .*)\)$', '\1'
				) from generate_series(1, i.indnatts) n
			) as keys
			from pg_index i
			where i.indrelid = p_table::regclass and i.indpred is null and i.indnatts > 1
		) x
		where x.keys[1:2] = wanted.keys[1:2]
		-- Its own one first.
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

-- The function does not make this one, because no CHECK names the checks of devices.
drop index measures_verified_by_check;
create index measures_verified_by_check on measures (
	organization_id, verified_by_check, created_at, id, archived_at, state
);
-- The index of each likelihood has the four scores that the risk matrix counts by.
drop index risks_residual, risks_scores;

select index_register(c.relname)
from pg_trigger t join pg_class c on c.oid = t.tgrelid
where t.tgname = 'keep_version_before_delete' and t.tgfoid = 'keep_record_version'::regproc
order by c.relname;
