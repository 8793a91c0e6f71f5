-- As in 0029, in PL/pgSQL. Since PostgreSQL 15.20 and the other releases of that day, a table cannot
-- get a column with a default or of a domain while a function with a parsed SQL body uses its row type.
create or replace function audit_device(device devices, operation text, changes jsonb) returns void
language plpgsql
as $$
begin
	perform audit_append(device.organization_id, jsonb_build_array(jsonb_build_object(
		'actor_kind', 'AGENT',
		'actor_id', device.id,
		'actor_name', left(coalesce(device.hostname, device.name, device.id), 1000),
		'address', nullif(current_setting('assay.address', true), ''),
		'operation', operation,
		'record_kind', 'device',
		'record_id', device.id,
		'record_name', left(coalesce(device.name, device.hostname), 1000),
		'changes', changes
	)));
end
$$;
