-- As read_closed_organizations in 0077, with the time zone in which the day of the deletion is told.
-- Processes of the version before still call that one.
create function list_closed_organizations()
returns table (
	organization_id text, name text, time_zone text, kind text, reason text, began_at timestamptz,
	delete_after timestamptz, is_due boolean
)
language sql stable security definer set search_path = public, pg_temp
as $$
	select c.organization_id::text, o.name, o.time_zone, c.kind, c.reason, c.began_at, c.delete_after,
		coalesce(c.delete_after <= now(), false)
	from organization_closures c join organizations o on o.id = c.organization_id
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function list_closed_organizations() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function list_closed_organizations() from public;
grant execute on function list_closed_organizations() to assay_app;
