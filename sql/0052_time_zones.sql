-- The time zone of an organization decides which day is today, when a day begins, and when its
-- weekly mails go out.
alter table organizations
	add column time_zone text not null default 'UTC'
		check (time_zone ~ '^[A-Za-z][A-Za-z0-9_+/-]{0,63}$');

-- Today's date in the transaction's organization. Without an organization, it is the date in UTC.
create function organization_today() returns date
language sql stable set search_path = public, pg_temp
as $$
	select (now() at time zone coalesce(
		(select time_zone from organizations where id = current_setting('assay.organization_id', true)),
		'UTC'
	))::date
$$;
revoke execute on function organization_today() from public;
grant execute on function organization_today() to assay_app;
