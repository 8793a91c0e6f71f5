-- The device checks that test a control, where people have chosen them. Null: the number of the control
-- decides, for frameworks that the service knows (src/devices/check-controls.ts).
alter table controls add column tested_by_checks text[]
	check (cardinality(tested_by_checks) <= 20);
