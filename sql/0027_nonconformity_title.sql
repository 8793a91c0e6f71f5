-- A nonconformity has a title, which is shown beside its reference id. Search finds it too.
alter table nonconformities add column title text check (title <> '');
alter table nonconformities drop column search_text;
alter table nonconformities add column search_text text not null generated always as (
	search_text(reference_id, title, description, root_cause, corrective_action, effectiveness_check)
) stored;
create index nonconformities_search on nonconformities using gin (organization_id, search_text gin_trgm_ops);
grant select (organization_id, id, search_text) on nonconformities to assay_search;

-- The first line of the first of these texts that is not blank, cut to 100 characters. A record with
-- a reference id is shown with it: "NC-005 The last access review is missing".
create function subject_of(variadic p_texts text[]) returns text
language sql immutable parallel safe set search_path = pg_catalog, public
as $$
	select case when length(line) > 100 then left(line, 99) || '…' else line end
	from (
		select split_part(btrim(t.text, e' \t\r\n'), e'\n', 1) as line
		from unnest(p_texts) with ordinality t (text, place)
		where btrim(t.text, e' \t\r\n') <> ''
		order by t.place
		limit 1
	) first
$$;
