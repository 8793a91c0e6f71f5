-- The texts of a record that lists order by and search are generated columns. As functions in SQL
-- with a search_path of their own, they took twice as long as in PL/pgSQL (80 and 40 us for three
-- columns of a short record), because each statement prepared them again. Their results are the same,
-- so no column and no index changes. Every name has its schema, so they need no search_path.
create or replace function search_fold(text) returns text
language plpgsql immutable strict parallel safe
as $$
begin
	return pg_catalog.lower(public.unaccent('public.unaccent', $1));
end
$$;

create or replace function search_text(variadic parts text[]) returns text
language plpgsql immutable parallel safe
as $$
begin
	return coalesce(
		pg_catalog.lower(
			public.unaccent('public.unaccent', pg_catalog.array_to_string(parts, ' '))
		), ''
	);
end
$$;

create or replace function sort_key(text) returns text
language plpgsql immutable strict parallel safe
as $$
declare
	folded constant text := pg_catalog.lower(public.unaccent('public.unaccent', $1));
begin
	if $1 operator(pg_catalog.!~) '\d' then
		return pg_catalog.left(folded, 200);
	end if;
	return pg_catalog.left(
		pg_catalog.regexp_replace(
			pg_catalog.regexp_replace(folded, '(\d+)', '000000000\1', 'g'), '\d*(\d{10})', '\1', 'g'
		), 200
	);
end
$$;

create or replace function search_pattern(text) returns text
language plpgsql immutable strict parallel safe
as $$
begin
	return pg_catalog.concat(
		'%',
		pg_catalog.regexp_replace(
			pg_catalog.lower(public.unaccent('public.unaccent', $1)), '([\\%_])', '\\\1', 'g'
		),
		'%'
	);
end
$$;
