-- Mails to members do not count for the limit of an organization that a user made.
alter table mails add column is_to_member boolean not null default false;
grant insert (is_to_member) on mails to assay_app;

-- The number of people who got no mail of the channel the last time because of the limit, and the
-- time.
alter table notification_channels
	add column unmailed_count integer not null default 0 check (unmailed_count >= 0),
	add column unmailed_at timestamptz,
	add check ((unmailed_count > 0) = (unmailed_at is not null));

-- Returns the number of further people who are not members that the transaction's organization may
-- mail. Organizations that users made wait for each other until the transaction ends.
create function mails_left_to_people(p_of_organization integer, p_of_all integer)
returns integer
language plpgsql security definer set search_path = public, pg_temp
as $$
declare
	current_one text := current_setting('assay.organization_id', true);
begin
	if not (select o.made_by_user from organizations o where o.id = current_one) then
		return 2147483647;
	end if;
	perform pg_advisory_xact_lock(hashtextextended('mails to people', 0));
	return (
		select greatest(0, least(
			p_of_organization - count(*) filter (where m.organization_id = current_one),
			p_of_all - count(*)
		))
		from mails m
		join organizations o on o.id = m.organization_id
		where m.kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK')
			and m.created_at > now() - interval '1 day' and o.made_by_user and not m.is_to_member
	);
end
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function mails_left_to_people(integer, integer) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function mails_left_to_people(integer, integer) from public;
grant execute on function mails_left_to_people(integer, integer) to assay_app;

-- Only processes of earlier versions call it.
create or replace function may_mail_people(
	p_count integer, p_of_organization integer, p_of_all integer
)
returns boolean
language sql security definer set search_path = public, pg_temp
as $$
	select p_count <= mails_left_to_people(p_of_organization, p_of_all)
$$;
