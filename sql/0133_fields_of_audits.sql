-- Audits get a type, an auditor, a scope, the days on which they begin and end, and a lead. The
-- dates of validity are those of the result. Nobody has stated the type of the existing audits.
alter table audits
	add column audit_type text not null default 'NOT_STATED'
		check (audit_type in ('NOT_STATED', 'INTERNAL', 'EXTERNAL')),
	add column auditor text check (auditor <> ''),
	add column owner_id typed_id,
	add column scope text,
	add column starts_on date,
	add column ends_on date,
	add constraint audits_dates check (starts_on <= ends_on),
	add constraint audits_owner_id_fkey foreign key (organization_id, owner_id) references people;
alter table audits drop column search_text;
alter table audits add column search_text text not null generated always as (
	search_text(name, auditor, scope)
) stored;
create index audits_search on audits using gin (organization_id, search_text gin_trgm_ops);
grant select (organization_id, id, search_text) on audits to assay_search;
select index_register('audits');
