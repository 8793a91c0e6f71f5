-- Reference ids are compared without case, so the next number must not be one that only the case
-- tells apart from an existing one: with "nc-005" in the register, NC-005 is taken.
create or replace function make_reference_id(p_organization_id text, p_table text, p_prefix text) returns text
language plpgsql
as $$
declare
	number integer;
	candidate text;
	is_taken boolean;
begin
	loop
		insert into reference_counters as c values (p_organization_id, p_table, 1)
		on conflict (organization_id, register) do update set last = c.last + 1
		returning last into number;
		candidate := p_prefix || '-' || lpad(number::text, greatest(3, length(number::text)), '0');
		execute format(
			'select exists (
				select from %I where organization_id = $1 and reference_id_key = sort_key($2)
					and lower(reference_id) = lower($2)
			)', p_table
		) into is_taken using p_organization_id, candidate;
		exit when not is_taken;
	end loop;
	return candidate;
end
$$;
