-- Lists of work can begin with the open records, the earliest due date first. Open records without a
-- due date follow, and records that are done come last (openFirst in src/records/range-filters.ts).
-- Behind row-level security, PostgreSQL begins in the middle of an index on a case expression, but
-- not of one on coalesce, which it does not take for leakproof.
create index nonconformities_open_first on nonconformities (organization_id, (
	case when status = 'CLOSED' then 'infinity'::date when due_date is null then '9999-12-31'::date else due_date end
), id);
create index tasks_open_first on tasks (organization_id, (
	case when state = 'DONE' then 'infinity'::date when deadline is null then '9999-12-31'::date else deadline end
), id);
create index obligations_open_first on obligations (organization_id, (
	case when status = 'COMPLIANT' then 'infinity'::date when due_date is null then '9999-12-31'::date else due_date end
), id);
create index continual_improvements_open_first on continual_improvements (organization_id, (
	case when status = 'CLOSED' then 'infinity'::date when target_date is null then '9999-12-31'::date else target_date end
), id);
