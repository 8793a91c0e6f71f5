-- Who has sent invitations to one address is counted over all organizations, of which one user may have many
-- (src/access/invitation-operations.ts). Invitations of before this count for nobody.

alter table invitations add column invited_by_id typed_id references users on delete set null;
create index invitations_sent on invitations (invited_by_id, email) where invited_by_id is not null;

-- How many invitations the transaction's user has sent to an address within a day.
create function invitations_sent(p_email text) returns integer
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select count(*)::integer from invitations i
		where i.invited_by_id = current_setting('assay.user_id', true) and i.email = p_email
			and i.created_at > now() - interval '1 day'
	);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function invitations_sent(text) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function invitations_sent(text) from public;
grant execute on function invitations_sent(text) to assay_app;
