-- As in 0054 and 0042, in PL/pgSQL, for the same reason as 0064.
create or replace function audit_entry_text(entry audit_entries, p_sequence bigint, p_previous_hash bytea)
returns text
language plpgsql stable set timezone = 'UTC' set bytea_output = 'hex'
as $$
begin
	return (
		to_jsonb(entry) - case
			when entry.hash_version is null then '{id,hash_version,digests,salts}'::text[]
			else '{id,salts,actor_name,token_name,client,address,record_name,changes}'::text[]
		end
		- case when entry.import_id is null then '{import_id}' else '{}' end::text[]
		|| jsonb_build_object('sequence', p_sequence, 'previous_hash', p_previous_hash)
	)::text;
end
$$;

create or replace function audit_entry_hash(entry audit_entries, p_sequence bigint, p_previous_hash bytea)
returns bytea
language plpgsql stable
as $$
begin
	return sha256(convert_to(audit_entry_text(entry, p_sequence, p_previous_hash), 'UTF8'));
end
$$;
