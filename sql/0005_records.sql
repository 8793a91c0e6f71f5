-- The registers: one table a kind of record, links between records, text search.

create extension if not exists pg_trgm;
create extension if not exists btree_gin;
create extension if not exists unaccent;

do $$
begin
	if not exists (select from pg_roles where rolname = 'assay_search') then
		create role assay_search nologin;
	end if;
exception
	-- Roles belong to the whole server: another database may be migrating too.
	when duplicate_object or unique_violation then null;
end
$$;
do $$
begin
	if not pg_has_role(current_user, 'assay_search', 'member') then
		grant assay_search to current_user;
	end if;
	grant usage on schema public to assay_search;
end
$$;

-- Text as search and order see it: without case and accents. Immutable as long as the rules
-- of unaccent are: they come with the server's version.
create function search_fold(text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, public
as $$ select lower(public.unaccent('public.unaccent', $1)) $$;

-- What text is ordered by: as people sort (A.5.9 before A.5.10: numbers get ten digits), and short
-- enough for an index.
create function sort_key(text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, public
as $$
	select left(
		case when $1 ~ '\d' then
			regexp_replace(
				regexp_replace(public.search_fold($1), '(\d+)', '000000000\1', 'g'), '\d*(\d{10})', '\1', 'g'
			)
		else public.search_fold($1) end,
		200
	)
$$;

-- What a record can be found by.
create function search_text(variadic parts text[]) returns text
language sql immutable parallel safe set search_path = pg_catalog, public
as $$ select coalesce(public.search_fold(array_to_string(parts, ' ')), '') $$;

-- The pattern for text that contains the word.
create function search_pattern(text) returns text
language sql immutable strict parallel safe set search_path = pg_catalog, public
as $$ select '%' || regexp_replace(public.search_fold($1), '([\\%_])', '\\\1', 'g') || '%' $$;

create table people (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	full_name text not null check (full_name <> ''),
	primary_email_address text not null,
	additional_email_addresses text[] not null default '{}',
	kind text not null check (kind in ('EMPLOYEE', 'CONTRACTOR', 'SERVICE_ACCOUNT')),
	position text,
	contract_start_date date,
	contract_end_date date,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (
		search_text(variadic array[full_name, primary_email_address, position] || additional_email_addresses)
	) stored,
	full_name_key text collate "C" generated always as (sort_key(full_name)) stored,
	primary_email_address_key text collate "C" generated always as (sort_key(primary_email_address)) stored,
	primary key (organization_id, id),
	check (contract_start_date <= contract_end_date)
);
create index people_full_name on people (organization_id, full_name_key, id);
create index people_primary_email_address on people (organization_id, primary_email_address_key, id);

create table vendors (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	category text not null default 'OTHER' check (category in (
		'ANALYTICS', 'CLOUD_MONITORING', 'CLOUD_PROVIDER', 'COLLABORATION', 'CUSTOMER_SUPPORT',
		'DATA_STORAGE_AND_PROCESSING', 'DOCUMENT_MANAGEMENT', 'EMPLOYEE_MANAGEMENT', 'ENGINEERING', 'FINANCE',
		'IDENTITY_PROVIDER', 'IT', 'MARKETING', 'OFFICE_OPERATIONS', 'OTHER', 'PASSWORD_MANAGEMENT',
		'PRODUCT_AND_DESIGN', 'PROFESSIONAL_SERVICES', 'RECRUITING', 'SALES', 'SECURITY', 'VERSION_CONTROL'
	)),
	legal_name text,
	website_url text,
	privacy_policy_url text,
	dpa_url text,
	security_page_url text,
	status_page_url text,
	certifications text[] not null default '{}',
	countries text[] not null default '{}',
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (
		search_text(variadic array[name, description, legal_name, website_url] || certifications)
	) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index vendors_name on vendors (organization_id, name_key, id);

create table measures (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	category text not null,
	state text not null default 'NOT_STARTED'
		check (state in ('NOT_STARTED', 'IN_PROGRESS', 'IMPLEMENTED', 'NOT_APPLICABLE')),
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description, category)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index measures_name on measures (organization_id, name_key, id);

create table risks (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	category text not null,
	treatment text not null check (treatment in ('MITIGATED', 'ACCEPTED', 'AVOIDED', 'TRANSFERRED')),
	inherent_likelihood smallint not null check (inherent_likelihood between 1 and 5),
	inherent_impact smallint not null check (inherent_impact between 1 and 5),
	residual_likelihood smallint not null check (residual_likelihood between 1 and 5),
	residual_impact smallint not null check (residual_impact between 1 and 5),
	inherent_risk_score smallint not null generated always as (inherent_likelihood * inherent_impact) stored,
	residual_risk_score smallint not null generated always as (residual_likelihood * residual_impact) stored,
	note text,
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description, category, note)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index risks_name on risks (organization_id, name_key, id);
create index risks_inherent_risk_score on risks (organization_id, inherent_risk_score, id);
create index risks_residual_risk_score on risks (organization_id, residual_risk_score, id);

create table frameworks (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	version text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description, version)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id)
);
create index frameworks_name on frameworks (organization_id, name_key, id);

create table controls (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	framework_id typed_id not null,
	section_title text not null check (section_title <> ''),
	name text not null check (name <> ''),
	description text,
	status text not null default 'INCLUDED' check (status in ('INCLUDED', 'EXCLUDED')),
	exclusion_justification text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (
		search_text(section_title, name, description, exclusion_justification)
	) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	section_title_key text collate "C" generated always as (sort_key(section_title)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, framework_id) references frameworks,
	check (status = 'INCLUDED' or exclusion_justification is not null)
);
create index controls_name on controls (organization_id, name_key, id);
create index controls_section_title on controls (organization_id, section_title_key, id);

create table audits (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	framework_id typed_id not null,
	name text check (name <> ''),
	valid_from date,
	valid_until date,
	state text not null default 'NOT_STARTED'
		check (state in ('NOT_STARTED', 'IN_PROGRESS', 'COMPLETED', 'REJECTED', 'OUTDATED')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, framework_id) references frameworks,
	check (valid_from <= valid_until)
);
create index audits_valid_from on audits (organization_id, coalesce(valid_from, 'infinity'::date), id);
create index audits_valid_until on audits (organization_id, coalesce(valid_until, 'infinity'::date), id);

create table nonconformities (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	reference_id text not null check (reference_id <> ''),
	description text,
	audit_id typed_id,
	date_identified date,
	root_cause text,
	corrective_action text,
	owner_id typed_id,
	due_date date,
	status text not null default 'OPEN' check (status in ('OPEN', 'IN_PROGRESS', 'CLOSED')),
	effectiveness_check text,
	severity text not null default 'MINOR' check (severity in ('MINOR', 'MAJOR')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (
		search_text(reference_id, description, root_cause, corrective_action, effectiveness_check)
	) stored,
	reference_id_key text collate "C" generated always as (sort_key(reference_id)) stored,
	primary key (organization_id, id),
	constraint nonconformities_reference_id_key unique (organization_id, reference_id),
	foreign key (organization_id, audit_id) references audits,
	foreign key (organization_id, owner_id) references people
);
create index nonconformities_reference_id on nonconformities (organization_id, reference_id_key, id);
create index nonconformities_due_date on nonconformities (organization_id, coalesce(due_date, 'infinity'::date), id);

create table obligations (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	source text,
	area text,
	requirement text not null check (requirement <> ''),
	actions_to_be_implemented text,
	regulator text,
	type text not null default 'LEGAL' check (type in ('LEGAL', 'CONTRACTUAL')),
	owner_id typed_id,
	last_review_date date,
	due_date date,
	status text not null default 'NON_COMPLIANT'
		check (status in ('NON_COMPLIANT', 'PARTIALLY_COMPLIANT', 'COMPLIANT')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (
		search_text(source, area, requirement, actions_to_be_implemented, regulator)
	) stored,
	requirement_key text collate "C" generated always as (sort_key(requirement)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index obligations_requirement on obligations (organization_id, requirement_key, id);
create index obligations_due_date on obligations (organization_id, coalesce(due_date, 'infinity'::date), id);

create table assets (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	amount integer not null default 1 check (amount >= 0),
	owner_id typed_id,
	asset_type text not null check (asset_type in ('PHYSICAL', 'VIRTUAL')),
	data_types_stored text,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, data_types_stored)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index assets_name on assets (organization_id, name_key, id);
create index assets_amount on assets (organization_id, amount, id);

create table asset_vendors (
	organization_id typed_id not null,
	asset_id typed_id not null,
	vendor_id typed_id not null,
	primary key (organization_id, asset_id, vendor_id),
	foreign key (organization_id, asset_id) references assets on delete cascade,
	constraint asset_vendors_vendor_id_fkey foreign key (organization_id, vendor_id) references vendors
);
create index asset_vendors_vendor on asset_vendors (organization_id, vendor_id);
-- What a row stands for where a refusal to delete counts them (src/record-store.ts).
comment on table asset_vendors is 'assets';

create table data (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	data_classification text not null
		check (data_classification in ('PUBLIC', 'INTERNAL', 'CONFIDENTIAL', 'SECRET')),
	owner_id typed_id,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, owner_id) references people
);
create index data_name on data (organization_id, name_key, id);

create table datum_vendors (
	organization_id typed_id not null,
	datum_id typed_id not null,
	vendor_id typed_id not null,
	primary key (organization_id, datum_id, vendor_id),
	foreign key (organization_id, datum_id) references data on delete cascade,
	constraint datum_vendors_vendor_id_fkey foreign key (organization_id, vendor_id) references vendors
);
create index datum_vendors_vendor on datum_vendors (organization_id, vendor_id);
comment on table datum_vendors is 'data';

create table tasks (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	name text not null check (name <> ''),
	description text,
	state text not null default 'TODO' check (state in ('TODO', 'IN_PROGRESS', 'DONE')),
	priority text not null default 'URGENT' check (priority in ('URGENT', 'HIGH', 'MEDIUM', 'LOW')),
	measure_id typed_id,
	assigned_to_id typed_id,
	deadline date,
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(name, description)) stored,
	name_key text collate "C" generated always as (sort_key(name)) stored,
	primary key (organization_id, id),
	foreign key (organization_id, measure_id) references measures,
	foreign key (organization_id, assigned_to_id) references people
);
create index tasks_name on tasks (organization_id, name_key, id);
create index tasks_deadline on tasks (organization_id, coalesce(deadline, 'infinity'::date), id);

create table continual_improvements (
	organization_id typed_id not null references organizations,
	id typed_id not null,
	reference_id text not null check (reference_id <> ''),
	description text,
	source text,
	owner_id typed_id,
	target_date date,
	status text not null default 'OPEN' check (status in ('OPEN', 'IN_PROGRESS', 'CLOSED')),
	priority text not null default 'LOW' check (priority in ('LOW', 'MEDIUM', 'HIGH')),
	created_at timestamptz not null default now(),
	updated_at timestamptz not null default now(),
	search_text text not null generated always as (search_text(reference_id, description, source)) stored,
	reference_id_key text collate "C" generated always as (sort_key(reference_id)) stored,
	primary key (organization_id, id),
	constraint continual_improvements_reference_id_key unique (organization_id, reference_id),
	foreign key (organization_id, owner_id) references people
);
create index continual_improvements_reference_id on continual_improvements (organization_id, reference_id_key, id);
create index continual_improvements_target_date on continual_improvements
	(organization_id, coalesce(target_date, 'infinity'::date), id);

-- A link has no direction: the lesser id stands first. Its ends are of many kinds, so no foreign
-- key can hold them: whoever adds one locks both records, and their removal removes it (below).
create table record_links (
	organization_id typed_id not null references organizations,
	first_id typed_id not null,
	second_id typed_id not null,
	first_kind text not null,
	second_kind text not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, first_id, second_id),
	check (first_id < second_id)
);
create index record_links_second on record_links (organization_id, second_id);

create function remove_links() returns trigger
language plpgsql
as $$
begin
	delete from record_links l
	where l.organization_id = old.organization_id and (l.first_id = old.id or l.second_id = old.id);
	return null;
end
$$;

-- Numbers for reference ids, a row an organization and register.
create table reference_counters (
	organization_id typed_id not null references organizations,
	register text not null,
	last integer not null,
	primary key (organization_id, register)
);

-- The next free reference id, NC-001 and so on. Two at once take turns at the counter's row.
create function make_reference_id(p_organization_id text, p_table text, p_prefix text) returns text
language plpgsql
as $$
declare
	number integer;
	candidate text;
	is_taken boolean;
begin
	loop
		insert into reference_counters as c values (p_organization_id, p_table, 1)
		on conflict (organization_id, register) do update set last = c.last + 1
		returning last into number;
		candidate := p_prefix || '-' || lpad(number::text, greatest(3, length(number::text)), '0');
		execute format('select exists (select from %I where organization_id = $1 and reference_id = $2)', p_table)
			into is_taken using p_organization_id, candidate;
		exit when not is_taken;
	end loop;
	return candidate;
end
$$;

do $$
declare
	table_name text;
	column_name text;
	registers constant text[] := array[
		'people', 'vendors', 'measures', 'risks', 'frameworks', 'controls', 'audits', 'nonconformities',
		'obligations', 'assets', 'data', 'tasks', 'continual_improvements'
	];
begin
	foreach table_name in array registers loop
		execute format('create index %I on %I (organization_id, created_at, id)', table_name || '_created_at', table_name);
		execute format('create index %I on %I (organization_id, updated_at, id)', table_name || '_updated_at', table_name);
		execute format('create index %I on %I using gin (organization_id, search_text gin_trgm_ops)', table_name || '_search', table_name);
		execute format('create policy search on %I for select to assay_search using (true)', table_name);
		execute format('grant select (organization_id, id, search_text) on %I to assay_search', table_name);
		execute format('create trigger remove_links after delete on %I for each row execute function remove_links()', table_name);
		-- A reference is looked up when what it names is deleted, and filtered by.
		for column_name in
			select a.attname from pg_constraint c
			join pg_attribute a on a.attrelid = c.conrelid and a.attnum = c.conkey[2]
			where c.contype = 'f' and c.conrelid = table_name::regclass and array_length(c.conkey, 1) = 2
		loop
			execute format('create index %I on %I (organization_id, %I)', table_name || '_' || column_name, table_name, column_name);
			execute format(
				'alter table %I rename constraint %I to %I',
				table_name, table_name || '_organization_id_' || column_name || '_fkey', table_name || '_' || column_name || '_fkey'
			);
		end loop;
	end loop;

	foreach table_name in array
		registers || array['asset_vendors', 'datum_vendors', 'record_links', 'reference_counters']
	loop
		execute format('alter table %I enable row level security', table_name);
		execute format('alter table %I force row level security', table_name);
		execute format(
			'create policy tenant on %I to assay_app using (organization_id = current_setting(''assay.organization_id'', true))',
			table_name
		);
		execute format('grant select, insert, update, delete on %I to assay_app', table_name);
	end loop;
end
$$;

-- Ids of the records of the transaction's organization whose text contains all the words, p_limit
-- at most. It sees all rows and keeps to the organization itself, because row-level security
-- would keep the index from being used: LIKE is not leakproof, so it may only be asked of rows that
-- the policy has let through.
create function find_records(p_table text, p_words text[], p_limit integer) returns setof text
language plpgsql stable security definer set search_path = public, pg_temp
as $$
begin
	return query execute format(
		'select t.id::text from %I t where t.organization_id = $1 and %s limit %s',
		p_table,
		(select string_agg(format('t.search_text like search_pattern(%L)', word), ' and ') from unnest(p_words) word),
		p_limit
	) using current_setting('assay.organization_id', true);
end
$$;

do $$
begin
	grant create on schema public to assay_search;
	alter function find_records(text, text[], integer) owner to assay_search;
	revoke create on schema public from assay_search;
	revoke execute on function find_records(text, text[], integer) from public;
	grant execute on function find_records(text, text[], integer) to assay_app;
end
$$;
