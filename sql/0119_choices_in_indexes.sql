-- Every index of a register ends with the columns that have few values: choices, and scales such as
-- that of likelihood. A list with two filters is counted in one index then, without looking up
-- each record of one filter in the table, and an order finds the records of a choice in its own index.

-- As in 0105, with those columns.
create or replace function index_register(p_table text) returns void
language plpgsql set search_path = public, pg_temp
as $$
declare
	wanted record;
begin
	for wanted in
		with columns as (
			select a.attname as column_name, a.attnum, a.atttypid, a.attnotnull, exists (
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
		select a.column_name, case
				when a.atttypid = 'date'::regtype
					then format('CASE WHEN %1$I IS NULL THEN ''infinity''::date ELSE %1$I END', a.column_name)
				when a.atttypid = 'timestamptz'::regtype and not a.attnotnull
					then format(
						'CASE WHEN %1$I IS NULL THEN ''infinity''::timestamp with time zone ELSE %1$I END', a.column_name
					)
				else format('%I', a.column_name)
			end as expression, case
				-- A choice has few values: each is read in the order that a list begins with.
				when is_choice then 'created_at, id'
				when is_reference or is_scale then null
				else 'id'
			end as further, (
				select string_agg(format('%I', few.column_name), ', ' order by few.attnum)
				from columns few
				where few.attnum <> a.attnum and (
					few.is_choice or few.is_scale or few.column_name = 'archived_at'
					-- Counts of the past find by this index what has not changed since.
					or (a.column_name = 'updated_at' and (
						few.is_reference
						or few.atttypid in ('date'::regtype, 'smallint'::regtype, 'integer'::regtype)
					))
				)
			) as few
		from columns a
		where is_reference or is_choice or a.column_name like '%\_key'
			or a.atttypid in ('date'::regtype, 'timestamptz'::regtype, 'smallint'::regtype, 'integer'::regtype)
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
					wanted.further, wanted.few
				)
			);
		end if;
	end loop;
end
$$;

-- The registers that there are, with the indexes that this function had made.
do $$
declare
	register record;
	old record;
begin
	for register in
		select c.oid, c.relname as name
		from pg_trigger t join pg_class c on c.oid = t.tgrelid
		where t.tgname = 'keep_version_before_delete' and t.tgfoid = 'keep_record_version'::regproc
		order by 2
	loop
		for old in
			select x.relname as name
			from pg_index i join pg_class x on x.oid = i.indexrelid
			where i.indrelid = register.oid and not i.indisunique and i.indpred is null and (
				x.relname in ('risks_scores', 'risks_residual') or exists (
					select from pg_attribute a
					where a.attrelid = register.oid
						and x.relname = register.name || '_' || regexp_replace(a.attname, '_key$', '')
				)
			)
		loop
			execute format('drop index %I', old.name);
		end loop;
		-- What this function does not make.
		if register.name = 'measures' then
			create index measures_verified_by_check on measures (
				organization_id, verified_by_check, created_at, id, state, archived_at
			);
		elsif register.name = 'risks' then
			-- The risk matrix counts by the four scores of the risks in use.
			create index risks_scores on risks (
				organization_id, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact,
				archived_at, treatment
			);
		end if;
		perform index_register(register.name);
	end loop;
end
$$;
