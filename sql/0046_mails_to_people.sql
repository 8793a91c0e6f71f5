-- Says whether the service may mail this many links to people of the transaction's organization.
-- Anybody who is signed in may make an organization and add people with any address to it. Such
-- organizations mail only a few links a day, each of them and all together. They take turns, so that
-- simultaneous calls do not exceed the limits.
create function may_mail_people(p_count integer, p_of_organization integer, p_of_all integer)
returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	current_one text := current_setting('assay.organization_id', true);
begin
	if not (select o.made_by_user from organizations o where o.id = current_one) then
		return true;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('mails to people', 0));
	return (
		select
			count(*) filter (where m.organization_id = current_one) + p_count <= p_of_organization
			and count(*) + p_count <= p_of_all
		from mails m
		join organizations o on o.id = m.organization_id
		where m.kind = 'MY_DEVICES' and m.created_at > now() - interval '1 day' and o.made_by_user
	);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function may_mail_people(integer, integer, integer) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function may_mail_people(integer, integer, integer) from public;
grant execute on function may_mail_people(integer, integer, integer) to assay_app;
