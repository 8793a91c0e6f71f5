-- The versions, approvals and signatures of a deleted document, and the approved statements of a
-- deleted framework, are kept in record_versions like the document and the framework themselves. So
-- is each former state of a version that is not published. All others never change after their time.
-- The argument names the column of the row that it belongs to.
create function keep_part() returns trigger
language plpgsql
as $$
declare
	part constant jsonb := to_jsonb(old);
	since constant timestamptz := coalesce(
		part ->> 'published_at', part ->> 'decided_at', part ->> 'requested_at', part ->> 'updated_at',
		part ->> 'created_at'
	)::timestamptz;
begin
	insert into record_versions
		(organization_id, register, record_id, other_id, valid_from, valid_to, fields)
	values (
		old.organization_id, tg_table_name, old.id, part ->> tg_argv[0], since,
		-- A deletion has no new row.
		coalesce(
			(to_jsonb(new) ->> 'updated_at')::timestamptz,
			greatest(now(), since + interval '1 microsecond')
		),
		part - array['organization_id', 'id', tg_argv[0]]
	);
	return null;
end
$$;
create trigger keep_version_before_update after update on document_versions
	for each row when (old.status <> 'PUBLISHED' and old.updated_at < new.updated_at)
	execute function keep_part('document_id');
create trigger keep_version_before_delete after delete on document_versions
	for each row execute function keep_part('document_id');
create trigger keep_version_before_delete after delete on document_approvals
	for each row execute function keep_part('version_id');
create trigger keep_version_before_delete after delete on document_signatures
	for each row execute function keep_part('version_id');
create trigger keep_version_before_delete after delete on applicability_statements
	for each row execute function keep_part('framework_id');

-- An approved statement keeps the name that its framework had.
alter table applicability_statements add column framework_name text, add column framework_version text;
-- This migration belongs to no organization.
alter table applicability_statements no force row level security;
alter table frameworks no force row level security;
alter table record_versions no force row level security;
update applicability_statements s set
	framework_name = coalesce(v.fields ->> 'name', f.name),
	framework_version = case when v.fields is null then f.version else v.fields ->> 'version' end
from frameworks f
left join record_versions v on v.organization_id = f.organization_id and v.register = 'frameworks'
	and v.record_id = f.id
where f.organization_id = s.organization_id and f.id = s.framework_id
	and (v.fields is null or (v.valid_from <= s.created_at and v.valid_to > s.created_at));
update applicability_statements s set framework_name = f.name, framework_version = f.version
from frameworks f
where f.organization_id = s.organization_id and f.id = s.framework_id and s.framework_name is null;
alter table applicability_statements force row level security;
alter table frameworks force row level security;
alter table record_versions force row level security;
alter table applicability_statements alter column framework_name set not null;
