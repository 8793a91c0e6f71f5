-- A device check verifies a measure: at least this share of the devices must pass it, in percent.
alter table measures
	add column verified_by_check text collate "C"
		check (verified_by_check <> '' and length(verified_by_check) <= 200),
	add column verified_by_percent smallint not null default 100
		check (verified_by_percent between 1 and 100);
create index measures_verified_by_check on measures (organization_id, verified_by_check, created_at, id);
