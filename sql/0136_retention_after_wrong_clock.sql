-- As in 0127, but the time may also move back. A clock that was ahead would otherwise leave a time in
-- the future, and nothing would notice until then that the removal fails.
create or replace function note_retention() returns void
language sql security definer set search_path = public, pg_temp
as $$
	insert into last_retention (done_at) values (now())
	on conflict (singleton) do update set done_at = excluded.done_at
$$;
