-- Returns the ids of at most p_limit records of the transaction's organization whose text has all
-- the words and matches one of the LIKE patterns. Like find_records, it sees all rows and selects
-- those of the organization itself. The plan of the rows does not know the limit. With it,
-- PostgreSQL might expect matches everywhere and read a whole table, although a misspelled word has
-- none.
create function find_similar(p_table text, p_words text[], p_patterns text[], p_limit integer)
returns setof text
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query execute format(
		'with hit as materialized (
			select t.id from %I t where t.organization_id = $1 and (%s)%s
		)
		select h.id::text from hit h limit %s',
		p_table,
		(select string_agg(format('t.search_text like %L', pattern), ' or ') from unnest(p_patterns) pattern),
		(select string_agg(format(' and t.search_text like search_pattern(%L)', word), '') from unnest(p_words) word),
		p_limit
	) using current_setting('assay.organization_id', true);
end
$$;

do $$
begin
	grant create on schema public to assay_search;
	alter function find_similar(text, text[], text[], integer) owner to assay_search;
	revoke create on schema public from assay_search;
	revoke execute on function find_similar(text, text[], text[], integer) from public;
	grant execute on function find_similar(text, text[], text[], integer) to assay_app;
end
$$;
