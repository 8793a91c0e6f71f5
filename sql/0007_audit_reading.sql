-- Reading the audit log: what `assay audit` needs, and indexes for what listAuditLog filters by.

-- As assay_audit the commands read the logs of all organizations; the service never works as it.
grant select on audit_entries to assay_audit;
-- Which organizations there are: each has a log, so one without is one whose log was deleted.
grant select (id, name) on organizations to assay_audit;
create policy audit on organizations for select to assay_audit using (true);

-- An index on the text searched would be of no use: row-level security keeps LIKE from an index
-- (see find_records), and entries are read newest first until a page is full.
create index audit_entries_token on audit_entries (organization_id, token_id, sequence)
	where token_id is not null;
create index audit_entries_operation on audit_entries (organization_id, operation, sequence);
create index audit_entries_record_kind on audit_entries (organization_id, record_kind, sequence)
	where record_kind is not null;
create index audit_entries_refused on audit_entries (organization_id, sequence)
	where outcome = 'REFUSED';
create index audit_entries_at on audit_entries (organization_id, at, sequence);
