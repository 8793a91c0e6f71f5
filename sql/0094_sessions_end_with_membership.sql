-- A session that an organization's provider vouched for ends with the membership of its user. A
-- confined one reached nothing else, and the provider no longer vouches for the others.
create function end_provider_sessions() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	delete from sessions s
	where s.user_id = old.user_id and s.identity_provider_id in (
		select p.id from identity_providers p where p.organization_id = old.organization_id
	);
	return null;
end
$$;
do $$
begin
	grant create on schema public to assay_identity;
	alter function end_provider_sessions() owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function end_provider_sessions() from public;
create trigger end_provider_sessions after delete on memberships
	for each row execute function end_provider_sessions();
