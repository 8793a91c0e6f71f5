-- Approved versions of the statement of applicability of a framework. A version keeps the statement
-- as it was approved, and never changes.
create table applicability_statements (
	organization_id typed_id not null,
	id typed_id not null,
	framework_id typed_id not null,
	version_number integer not null check (version_number > 0),
	-- The controls as getStatementOfApplicability returns them.
	controls jsonb not null,
	-- SHA-256 of what is approved of each control, in UTF-8.
	sha256 bytea not null check (octet_length(sha256) = 32),
	note text check (char_length(note) <= 5000),
	-- The user may leave, and the approval stays.
	approved_by_id typed_id,
	approved_by_name text not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, id),
	unique (organization_id, framework_id, version_number),
	foreign key (organization_id, framework_id) references frameworks on delete cascade
);
create index applicability_statements_approver on applicability_statements (approved_by_id);
alter table applicability_statements enable row level security;
alter table applicability_statements force row level security;
create policy tenant on applicability_statements to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy privacy on applicability_statements to assay_privacy using (true);
grant select, insert, delete on applicability_statements to assay_app;
grant select, update (approved_by_name) on applicability_statements to assay_privacy;
select allow_backup();
