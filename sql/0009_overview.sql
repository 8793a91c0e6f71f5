-- What the console's home page counts: each number is read from an index alone.

create index nonconformities_open on nonconformities (organization_id, due_date) where status <> 'CLOSED';
create index tasks_open on tasks (organization_id, deadline) where state <> 'DONE';
create index obligations_open on obligations (organization_id, due_date) where status <> 'COMPLIANT';
create index continual_improvements_open on continual_improvements (organization_id, target_date)
	where status <> 'CLOSED';

create index risks_inherent on risks (organization_id, inherent_likelihood, inherent_impact);
create index risks_residual on risks (organization_id, residual_likelihood, residual_impact);

create index posture_spans_failing_since on posture_spans (organization_id, since)
	where is_current and status = 'FAIL';
