-- The longest silence that a policy permits keeps its former values in record_versions, so that a
-- past moment is judged by the value of that moment. Before the first row of a policy, the default
-- of its column counts.
create function keep_silence_limit() returns trigger
language plpgsql
as $$
declare
	v_policy constant text := coalesce(to_jsonb(new) ->> 'id', new.organization_id);
	v_before integer;
	v_since timestamptz;
begin
	if tg_op = 'UPDATE' then
		v_before := old.max_silence_days;
	elsif tg_table_name = 'device_policies' then
		v_before := 3;
	end if;
	if v_before is not distinct from new.max_silence_days then
		return null;
	end if;
	select coalesce(
		(
			select max(v.valid_to) from record_versions v
			where v.organization_id = new.organization_id and v.register = tg_table_name
				and v.record_id = v_policy
		),
		o.created_at
	) into v_since from organizations o where o.id = new.organization_id;
	insert into record_versions (organization_id, register, record_id, valid_from, valid_to, fields)
	values (
		new.organization_id, tg_table_name, v_policy, v_since,
		greatest(now(), v_since + interval '1 microsecond'),
		jsonb_build_object('max_silence_days', v_before)
	);
	return null;
end
$$;
-- An import brings the former values along.
create trigger keep_silence_limit after insert or update of max_silence_days on device_policies
	for each row when (current_setting('assay.importing', true) is distinct from new.organization_id::text)
	execute function keep_silence_limit();
create trigger keep_silence_limit after update of max_silence_days on device_group_policies
	for each row execute function keep_silence_limit();
