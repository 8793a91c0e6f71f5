-- Evidence: a text, a link or a file that shows that something is done. A link (record_links) ties it
-- to the records that it is about. Contents of files lie in chunks, so one backup, one replica and
-- one transaction cover them (docs/decisions/0032).

create table evidence (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	url text,
	valid_until date,
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description, url)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
select make_register('evidence');

-- A content is stored once in an organization, whatever number of files have it.
create table file_contents (
	organization_id typed_id not null references organizations,
	sha256 bytea not null check (octet_length(sha256) = 32),
	size_bytes bigint not null check (size_bytes > 0),
	created_at timestamptz not null default now(),
	primary key (organization_id, sha256)
);

create table file_chunks (
	organization_id typed_id not null,
	sha256 bytea not null,
	place integer not null check (place >= 0),
	bytes bytea not null check (octet_length(bytes) between 1 and 262144),
	primary key (organization_id, sha256, place),
	foreign key (organization_id, sha256) references file_contents on delete cascade
);
-- Most files are compressed already.
alter table file_chunks alter column bytes set storage external;

-- The file of a piece of evidence.
create table evidence_files (
	organization_id typed_id not null,
	evidence_id typed_id not null,
	sha256 bytea not null,
	file_name text not null check (char_length(file_name) between 1 and 255),
	content_type text not null check (char_length(content_type) <= 100),
	-- The user may leave, and the file stays.
	uploaded_by_id typed_id,
	uploaded_by_name text not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, evidence_id),
	foreign key (organization_id, evidence_id) references evidence on delete cascade,
	foreign key (organization_id, sha256) references file_contents
);
create index evidence_files_content on evidence_files (organization_id, sha256);
create index evidence_files_uploader on evidence_files (uploaded_by_id);

-- Lets one transaction at a time add or remove contents of an organization, so that two uploads
-- cannot exceed its quota together and a content cannot vanish while another file begins to use it.
create function lock_files_of(p_organization_id text) returns void
language sql
as $$
	select pg_advisory_xact_lock(hashtextextended('files ' || p_organization_id, 0));
$$;

-- A content goes with the last file that has it.
create function remove_unused_content() returns trigger
language plpgsql
as $$
begin
	perform lock_files_of(old.organization_id);
	delete from file_contents c
	where c.organization_id = old.organization_id and c.sha256 = old.sha256 and not exists (
		select from evidence_files f
		where f.organization_id = c.organization_id and f.sha256 = c.sha256
	);
	return null;
end
$$;
create trigger remove_unused_content after delete on evidence_files
	for each row execute function remove_unused_content();

do $$
declare
	table_name text;
begin
	foreach table_name in array array['file_contents', 'file_chunks', 'evidence_files'] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('grant select, insert, delete on %I to assay_app', table_name);
	end loop;
end
$$;
create policy privacy on evidence_files to assay_privacy using (true);
grant select, update (uploaded_by_name) on evidence_files to assay_privacy;
select allow_backup();
