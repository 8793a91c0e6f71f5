-- The owner of a device is told at once when it joins a nonconformity of severity MAJOR. This is the
-- mail that says so. It stays after the mail was deleted, so that nobody is told twice.
alter table nonconformity_devices add column alert_mail_id typed_id;
create index nonconformity_devices_alert_mail_id
	on nonconformity_devices (organization_id, alert_mail_id) where alert_mail_id is not null;

-- As in 0047, with the mails that are sent at once.
create or replace function may_mail_people(
	p_count integer, p_of_organization integer, p_of_all integer
)
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
		where m.kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK')
			and m.created_at > now() - interval '1 day' and o.made_by_user
	);
end
$$;
