-- A mail about an account, such as a forgotten password, belongs to no organization. Only the operator
-- sees it, because the user may belong to organizations whose administrators have nothing to do with
-- each other.
drop policy tenant on mails;
create policy tenant on mails to assay_app
	using (organization_id = current_setting('assay.organization_id', true));

-- Says whether the caller may send another test mail. The limit is one of the user in all
-- organizations, because everybody may be the administrator of many.
create function may_send_test_mail(p_of_user integer) returns boolean
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	caller text := current_setting('assay.user_id', true);
begin
	perform pg_advisory_xact_lock(hashtextextended('test mails of ' || caller, 0));
	return (
		select count(*) < p_of_user from mails m
		where m.user_id = caller and m.kind = 'TEST' and m.created_at > now() - interval '1 hour'
	);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function may_send_test_mail(integer) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function may_send_test_mail(integer) from public;
grant execute on function may_send_test_mail(integer) to assay_app;
