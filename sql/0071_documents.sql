-- Documents, such as policies: versions with a content that never changes once it is published,
-- approvals, and signatures of people.

create table documents (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	title text not null check (title <> ''),
	document_type text not null check (document_type in ('OTHER', 'ISMS', 'POLICY', 'PROCEDURE')),
	classification text not null check (classification in ('PUBLIC', 'INTERNAL', 'CONFIDENTIAL', 'SECRET')),
	description text,
	owner_id typed_id,
	review_interval_months smallint check (review_interval_months between 1 and 120),
	next_review_on date,
	archived_at timestamptz,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(title, description)) stored,
	title_key text collate "C" generated always as (sort_key(title)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
select make_register('documents');

create table document_approvers (
	organization_id typed_id not null,
	document_id typed_id not null,
	person_id typed_id not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, document_id, person_id),
	foreign key (organization_id, document_id) references documents on delete cascade,
	constraint document_approvers_person_id_fkey foreign key (organization_id, person_id) references people
);
create index document_approvers_person on document_approvers (organization_id, person_id);
-- What a row stands for where a refusal to delete counts them (src/records/removal.ts).
comment on table document_approvers is 'documents';
select keep_link_versions_of('document_approvers', 'document_id', 'person_id');

create table document_versions (
	organization_id typed_id not null,
	id typed_id not null,
	document_id typed_id not null,
	version_number integer not null check (version_number > 0),
	status text not null default 'DRAFT' check (status in ('DRAFT', 'PENDING_APPROVAL', 'PUBLISHED')),
	title text not null,
	content text not null default '' check (char_length(content) <= 200000),
	changelog text check (char_length(changelog) <= 5000),
	-- People who have signed an earlier version are asked to sign this one.
	asks_again boolean not null default false,
	-- The author may leave, and the version stays.
	author_id typed_id,
	author_name text not null,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	published_at timestamptz,
	published_by_name text,
	-- SHA-256 of the content in UTF-8, from its publication on.
	content_hash bytea check (octet_length(content_hash) = 32),
	primary key (organization_id, id),
	foreign key (organization_id, document_id) references documents on delete cascade,
	unique (organization_id, document_id, version_number),
	check ((status = 'PUBLISHED') = (published_at is not null)),
	check ((status = 'PUBLISHED') = (content_hash is not null))
);
-- A document has one version at a time that is not published yet.
create unique index document_versions_open on document_versions (organization_id, document_id)
	where status <> 'PUBLISHED';
create index document_versions_author on document_versions (author_id);

create function keep_published_version() returns trigger
language plpgsql
as $$
begin
	if old.status = 'PUBLISHED' and (
		to_jsonb(new) - array['author_id', 'author_name', 'published_by_name']
			<> to_jsonb(old) - array['author_id', 'author_name', 'published_by_name']
	) then
		raise exception 'a published version never changes' using errcode = 'restrict_violation';
	end if;
	return new;
end
$$;
create trigger keep_published_version before update on document_versions
	for each row execute function keep_published_version();

-- What an approver decided about a version. A rejection stays when the version is drafted further.
create table document_approvals (
	organization_id typed_id not null,
	id typed_id not null,
	version_id typed_id not null,
	person_id typed_id,
	person_name text not null,
	decision text not null check (decision in ('APPROVED', 'REJECTED')),
	-- False once the version went back to its author, so that it must be approved anew.
	is_current boolean not null default true,
	note text check (char_length(note) <= 5000),
	decided_at timestamptz not null default now(),
	primary key (organization_id, id),
	foreign key (organization_id, version_id) references document_versions on delete cascade,
	foreign key (organization_id, person_id) references people on delete set null (person_id)
);
create unique index document_approvals_current on document_approvals (organization_id, version_id, person_id)
	where is_current;
create index document_approvals_version on document_approvals (organization_id, version_id, decided_at);
create index document_approvals_person on document_approvals (organization_id, person_id);

create table document_signatures (
	organization_id typed_id not null,
	id typed_id not null,
	version_id typed_id not null,
	person_id typed_id,
	person_name text not null,
	state text not null default 'REQUESTED' check (state in ('REQUESTED', 'SIGNED')),
	requested_by_name text not null,
	requested_at timestamptz not null default now(),
	signed_at timestamptz,
	way text check (way in ('SESSION', 'LINK')),
	address text check (char_length(address) <= 100),
	content_hash bytea check (octet_length(content_hash) = 32),
	primary key (organization_id, id),
	foreign key (organization_id, version_id) references document_versions on delete cascade,
	foreign key (organization_id, person_id) references people on delete set null (person_id),
	check ((state = 'SIGNED') = (signed_at is not null)),
	check ((state = 'SIGNED') = (content_hash is not null)),
	check ((state = 'SIGNED') = (way is not null))
);
create unique index document_signatures_of_person on document_signatures (organization_id, version_id, person_id);
create index document_signatures_version on document_signatures (organization_id, version_id, requested_at, id);
create index document_signatures_person on document_signatures (organization_id, person_id, state);

-- A person who is deleted signs nothing more.
create function cancel_signature_requests() returns trigger
language plpgsql
as $$
begin
	delete from document_signatures
	where organization_id = old.organization_id and person_id = old.id and state = 'REQUESTED';
	return old;
end
$$;
create trigger cancel_signature_requests before delete on people
	for each row execute function cancel_signature_requests();

do $$
declare
	table_name text;
begin
	foreach table_name in array array[
		'document_approvers', 'document_versions', 'document_approvals', 'document_signatures'
	] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('grant select, insert, delete on %I to assay_app', table_name);
	end loop;
	foreach table_name in array array['document_versions', 'document_approvals', 'document_signatures'] loop
		execute format('grant update on %I to assay_app', table_name);
		execute format('create policy privacy on %I to assay_privacy using (true)', table_name);
	end loop;
end
$$;
grant select (organization_id, id, document_id, version_number, title, author_id, author_name, published_by_name, created_at),
	update (author_name, published_by_name) on document_versions to assay_privacy;
grant select, update (person_name) on document_approvals to assay_privacy;
grant select, update (person_name, requested_by_name, address) on document_signatures to assay_privacy;
select allow_backup();
