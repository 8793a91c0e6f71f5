-- read_archive_state also counts the files that have to be deleted. Files of the archive say
-- whether they are the only copy of their reports (src/archive/).

alter table archive_files
	-- True after the database has dropped the reports. It may get further reports of the month later.
	add column is_only_copy boolean not null default false;

-- Row-level security binds the owner too.
alter table archive_files no force row level security;
update archive_files set is_only_copy = true
where to_regclass('packed_posture_reports_' || to_char(month, 'YYYY_MM')) is null;
alter table archive_files force row level security;

-- Finds the file of a device.
create index archive_files_devices on archive_files (organization_id, month, first_device_id);

-- Like read_archive_backlog, which processes of older versions call, but also returns the number of
-- files that have to be deleted.
create function read_archive_state(out months bigint, out devices bigint, out files bigint)
language sql stable security definer set search_path = public, pg_temp
as $$
	select b.months, b.devices, (select count(*) from archive_leftovers)
	from read_archive_backlog() b
$$;

do $$
begin
	-- To own a function takes the right to create in its schema, for that moment.
	grant create on schema public to assay_agent;
	alter function read_archive_state() owner to assay_agent;
	revoke create on schema public from assay_agent;
end
$$;
revoke execute on function read_archive_state() from public;
grant execute on function read_archive_state() to assay_app;
