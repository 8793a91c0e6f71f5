-- Many people are invited at once from a file.

-- The same value for all invitations of a file.
alter table invitations add column bulk_id typed_id;

-- How many times the transaction's user has invited within a day, in all organizations, those that
-- were revoked included. A file counts once.
create or replace function invitations_sent_today() returns integer
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return (
		select count(distinct coalesce(i.bulk_id, i.id))::integer from invitations i
		where i.invited_by_id = current_setting('assay.user_id', true)
			and i.created_at > now() - interval '1 day'
	);
end
$$;
