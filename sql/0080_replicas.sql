-- The servers that receive the write-ahead log from this one, and how far each is behind. PostgreSQL
-- shows that only to members of pg_monitor or pg_read_all_stats. The function acts as the owner of the
-- database, so the operator grants the right to the login in DATABASE_URL. Without it, state and the
-- rest are null. A backup of the whole server also receives the log, but it is not a replica. A program
-- that only keeps the log, such as pg_receivewal, replays nothing, so what it has written counts.
create function read_replicas()
returns table (name text, state text, is_synchronous boolean, behind_bytes float8, behind_seconds float8)
language sql volatile security definer set search_path = pg_catalog, pg_temp
as $$
	select
		r.application_name,
		r.state,
		r.sync_state in ('sync', 'quorum'),
		case when b.bytes < 0 then 0 else b.bytes end,
		-- A replica that does not answer any more reports no delay, so the age of its last answer counts.
		case when b.bytes > 0 then
			greatest(extract(epoch from r.replay_lag), extract(epoch from clock_timestamp() - r.reply_time), 0)
		when b.bytes is not null then 0 end
	from pg_stat_replication r
	cross join lateral (
		select pg_wal_lsn_diff(
			case when pg_is_in_recovery() then pg_last_wal_receive_lsn() else pg_current_wal_lsn() end,
			coalesce(r.replay_lsn, r.write_lsn, r.sent_lsn)
		)::float8 as bytes
	) b
	where r.state is null or r.state in ('catchup', 'streaming')
	order by r.application_name, r.pid
$$;
revoke execute on function read_replicas() from public;
grant execute on function read_replicas() to assay_app;
