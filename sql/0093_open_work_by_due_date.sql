-- A list of open work by due date read the due dates of all work that is done, because these lie
-- before the first open one. Now it reads the open work in its order. The due date itself is
-- included, because the home page counts it without reading the rows.
drop index nonconformities_open, tasks_open, obligations_open, continual_improvements_open;
create index nonconformities_open on nonconformities
	(organization_id, coalesce(due_date, 'infinity'::date), id) include (due_date)
	where status <> 'CLOSED';
create index tasks_open on tasks
	(organization_id, coalesce(deadline, 'infinity'::date), id) include (deadline)
	where state <> 'DONE';
create index obligations_open on obligations
	(organization_id, coalesce(due_date, 'infinity'::date), id) include (due_date)
	where status <> 'COMPLIANT';
create index continual_improvements_open on continual_improvements
	(organization_id, coalesce(target_date, 'infinity'::date), id) include (target_date)
	where status <> 'CLOSED';
