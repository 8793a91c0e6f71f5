-- The longest silence that a policy permitted, until each change. A past moment is judged by the
-- value of that moment. A row of device_policies is made with the first change of any value, so an
-- organization without one had the default.
create table silence_limits (
	organization_id typed_id not null references organizations,
	-- Null: the organization's policy.
	policy_id typed_id,
	valid_until timestamptz not null,
	-- Null: the organization's value counted.
	max_silence_days integer,
	foreign key (organization_id, policy_id) references device_group_policies on delete cascade,
	unique nulls not distinct (organization_id, policy_id, valid_until)
);
alter table silence_limits enable row level security;
alter table silence_limits force row level security;
create policy tenant on silence_limits to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert on silence_limits to assay_app;
select allow_backup();

create function keep_silence_limit() returns trigger
language plpgsql
as $$
declare
	v_policy constant text := to_jsonb(new) ->> 'id';
	v_before constant integer := case tg_op when 'UPDATE' then old.max_silence_days else 3 end;
begin
	if v_before is distinct from new.max_silence_days then
		insert into silence_limits (organization_id, policy_id, valid_until, max_silence_days)
		values (new.organization_id, v_policy, now(), v_before)
		-- The value before the first change of the transaction counted.
		on conflict do nothing;
	end if;
	return null;
end
$$;
-- An import brings the former values along.
create trigger keep_silence_limit after insert or update of max_silence_days on device_policies
	for each row when (current_setting('assay.importing', true) is distinct from new.organization_id::text)
	execute function keep_silence_limit();
create trigger keep_silence_limit after update of max_silence_days on device_group_policies
	for each row execute function keep_silence_limit();
