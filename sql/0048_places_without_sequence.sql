-- A backup contains no sequences, so after a restore a sequence would give numbers that are taken.
-- A random number is enough: it only has to be unique, and a run adds a device again if it is not.
alter table nonconformity_devices alter column position drop identity;
alter table nonconformity_devices
	alter column position set default floor(random() * 9007199254740991)::bigint;
