-- A device that gets another owner while it is in a nonconformity: the new owner has to be told.
alter table nonconformity_devices add column is_owner_new boolean not null default false;
create index nonconformity_devices_owner_new on nonconformity_devices (organization_id)
	where is_owner_new;

create function note_new_owner() returns trigger
language plpgsql set search_path = public, pg_temp
as $$
begin
	update nonconformity_devices p set is_owner_new = true
	where p.organization_id = new.organization_id and p.device_id = new.id and p.until is null;
	return null;
end
$$;
create trigger note_new_owner after update of owner_id on devices
	for each row
	when (new.owner_id is not null and new.owner_id is distinct from old.owner_id)
	execute function note_new_owner();
