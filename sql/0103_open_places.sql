-- The upkeep walks the devices that are in a nonconformity in steps. Without this index, a step
-- reads the devices that have left, too, and they become more each year.
create index nonconformity_devices_walk on nonconformity_devices (organization_id, position)
	where until is null or is_held;
