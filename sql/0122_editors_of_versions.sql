-- The users besides the author who have changed the text of a version. None of them approves it.
alter table document_versions add column editor_ids typed_id[] not null default '{}';
grant select (editor_ids) on document_versions to assay_privacy;

-- The audit log says who has changed the open versions so far. This migration belongs to no
-- organization.
alter table document_versions no force row level security;
alter table audit_entries no force row level security;
update document_versions v set editor_ids = array(
	select distinct e.actor_id::typed_id from audit_entries e
	where e.organization_id = v.organization_id and e.record_id = v.document_id
		and e.operation = 'updateDocumentVersion' and e.outcome = 'DONE'
		and e.changes ? format('version_%s_characters', v.version_number)
		and e.at >= v.created_at and e.actor_id is distinct from v.author_id
		and e.actor_id is not null
)
where v.status <> 'PUBLISHED';
alter table document_versions force row level security;
alter table audit_entries force row level security;
