-- Vendors have contracts, agreements, reviews and a rating. Records that are out of use are archived.

alter table vendors
	add column contract_start_date date,
	add column contract_end_date date,
	add column renewal_notice_date date,
	add column agreement_status text not null default 'NONE'
		check (agreement_status in ('NONE', 'REQUESTED', 'SIGNED', 'NOT_NEEDED')),
	add column agreement_signed_on date,
	add column risk_rating text not null default 'NOT_RATED'
		check (risk_rating in ('NOT_RATED', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
	add column last_review_date date,
	add column next_review_date date,
	add column services text[] not null default '{}',
	add column data_categories text[] not null default '{}',
	add column subprocessors text[] not null default '{}',
	add column contacts text[] not null default '{}',
	add column archived_at timestamptz,
	add constraint vendors_contract_dates check (contract_start_date <= contract_end_date);
alter table vendors drop column search_text;
alter table vendors add column search_text text not null generated always as (
	search_text(
		variadic array[name, description, legal_name, website_url]
			|| certifications || services || data_categories || subprocessors || contacts
	)
) stored;
create index vendors_search on vendors using gin (organization_id, search_text gin_trgm_ops);
grant select (organization_id, id, search_text) on vendors to assay_search;

alter table obligations add column next_review_date date;

-- Archived records stay, and lists leave them out.
alter table risks add column archived_at timestamptz;
alter table measures add column archived_at timestamptz;
alter table assets add column archived_at timestamptz;

select index_register(t) from unnest(array['vendors', 'obligations', 'risks', 'measures', 'assets']) t;

create table vendor_reviews (
	organization_id typed_id not null,
	id typed_id not null,
	vendor_id typed_id not null,
	reviewed_on date not null,
	outcome text not null check (outcome in ('APPROVED', 'APPROVED_WITH_CONDITIONS', 'REJECTED')),
	risk_rating text not null check (risk_rating in ('NOT_RATED', 'LOW', 'MEDIUM', 'HIGH', 'CRITICAL')),
	note text check (char_length(note) <= 5000),
	next_review_date date,
	evidence_ids text[] not null default '{}' check (cardinality(evidence_ids) <= 20),
	-- The reviewer may leave, and the review stays.
	reviewer_id typed_id,
	reviewer_name text not null,
	created_at timestamptz not null default now(),
	primary key (organization_id, id),
	foreign key (organization_id, vendor_id) references vendors on delete cascade,
	check (next_review_date > reviewed_on)
);
create index vendor_reviews_vendor on vendor_reviews (organization_id, vendor_id, created_at, id);
create index vendor_reviews_reviewer on vendor_reviews (reviewer_id);
alter table vendor_reviews enable row level security;
alter table vendor_reviews force row level security;
create policy tenant on vendor_reviews to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
create policy privacy on vendor_reviews to assay_privacy using (true);
grant select, insert, delete on vendor_reviews to assay_app;
grant select, update (reviewer_name) on vendor_reviews to assay_privacy;
select allow_backup();
