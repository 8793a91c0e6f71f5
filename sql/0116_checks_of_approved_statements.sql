-- The number of devices by check and state when the statement was approved, as check_count_days has
-- it. Null: the version was approved before this was kept.
alter table applicability_statements add column check_counts jsonb;
