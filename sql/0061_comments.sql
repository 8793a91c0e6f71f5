-- Comments on records, and who watches a record. Records are of many kinds, so no foreign key can
-- hold record_id: who adds a comment locks the record, and its removal removes them (below).

create table record_comments (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	record_id typed_id not null,
	record_kind text not null,
	-- The author may leave, and the comment stays.
	author_id typed_id not null,
	author_name text not null,
	text text not null check (text <> '' and char_length(text) <= 5000),
	-- Users who are mentioned.
	mentioned_ids text[] not null default '{}' check (cardinality(mentioned_ids) <= 20),
	created_at timestamptz not null default now(),
	primary key (organization_id, id)
);
create index record_comments_record on record_comments (organization_id, record_id, created_at, id);
create index record_comments_created_at on record_comments (organization_id, created_at, id);
create index record_comments_author on record_comments (author_id);

create table record_watches (
	organization_id typed_id not null references organizations,
	user_id typed_id not null,
	record_id typed_id not null,
	record_kind text not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, user_id, record_id),
	foreign key (organization_id, user_id) references memberships on delete cascade
);
create index record_watches_record on record_watches (organization_id, record_id);

do $$
declare
	table_name text;
begin
	foreach table_name in array array['record_comments', 'record_watches'] loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('create policy privacy on %I to assay_privacy using (true)', table_name);
		execute format('grant select, insert, delete on %I to assay_app', table_name);
	end loop;
end
$$;
grant select, update (author_name) on record_comments to assay_privacy;
grant select on record_watches to assay_privacy;
select allow_backup();

-- Whatever is about a record goes with it.
create or replace function remove_links() returns trigger
language plpgsql
as $$
begin
	delete from record_links l
	where l.organization_id = old.organization_id and (l.first_id = old.id or l.second_id = old.id);
	delete from record_comments c
	where c.organization_id = old.organization_id and c.record_id = old.id;
	delete from record_watches w
	where w.organization_id = old.organization_id and w.record_id = old.id;
	return null;
end
$$;
