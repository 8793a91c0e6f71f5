-- A fleet that enrolls at once opens nine spans a device. A trigger for each of them took half of the
-- time, so there is now one for each statement.
--
-- An empty table is read as a whole, and PostgreSQL keeps such a plan until it analyzes the table
-- again. While the first reports of 20,000 devices came, each further span then read all earlier
-- ones, until the statements took longer than allowed. So the store of reports, with everything it
-- calls, uses the indexes from the first report on.

drop trigger event on posture_spans;

create or replace function note_posture_event() returns trigger
language plpgsql security definer set search_path = public, pg_temp
as $$
begin
	insert into events (organization_id, type, record_id, data)
	select
		a.organization_id, case a.status when 'FAIL' then 'posture.failed' else 'posture.passed' end,
		a.device_id,
		jsonb_build_object(
			'check_key', a.check_key, 'previous_status', b.status,
			'since', to_char(a.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
			'report_id', a.first_report_id
		)
	from added a
	left join lateral (
		select s.status from posture_spans s
		where s.organization_id = a.organization_id and s.device_id = a.device_id
			and s.check_key = a.check_key and s.since < a.since
		order by s.since desc limit 1
	) b on true
	where a.is_current and a.status in ('FAIL', 'PASS')
		-- The first result of a check is news only if it fails.
		and (a.status = 'FAIL' or b.status is not null)
		-- What an import adds has happened long ago, and elsewhere.
		and current_setting('assay.importing', true) is distinct from a.organization_id::text;
	return null;
end
$$;

create trigger event after insert on posture_spans
	referencing new table as added
	for each statement execute function note_posture_event();

alter function agent_store_postures(
	bytea[], text[], text[], timestamptz[], jsonb, integer[], integer[], text[], text[], bigint[], boolean[]
) set enable_seqscan = off;
