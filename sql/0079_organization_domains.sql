-- Mail domains of an organization. Users are shared by all organizations, so an administrator alone
-- cannot claim a domain: a TXT record or the operator's command proves it.
create table organization_domains (
	organization_id typed_id not null references organizations on delete cascade,
	id typed_id not null,
	-- In lower case, and international names in their ASCII form.
	domain text not null check (domain = lower(domain) and length(domain) between 3 and 253),
	-- Text that the TXT record must contain. It is public.
	challenge text not null check (length(challenge) between 20 and 100),
	verified_by text check (verified_by in ('DNS', 'OPERATOR')),
	verified_at timestamptz,
	-- Since when the record of a verified domain is gone.
	missing_since timestamptz,
	-- When an administrator asked for a look. Null after the look.
	check_requested_at timestamptz,
	-- The service looks for the record after this time. Null: only when somebody asks.
	next_check_at timestamptz,
	checked_at timestamptz,
	-- Why the last look did not find the record.
	failure text check (failure in ('NOT_FOUND', 'OTHER_VALUE', 'NO_ANSWER', 'TAKEN')),
	created_at timestamptz not null default now(),
	primary key (organization_id, id),
	unique (organization_id, domain),
	check ((verified_by is null) = (verified_at is null)),
	check (missing_since is null or verified_by = 'DNS')
);
-- A domain belongs to at most one organization.
create unique index organization_domains_verified on organization_domains (domain)
	where verified_at is not null;
create index organization_domains_due on organization_domains (next_check_at)
	where next_check_at is not null;

alter table organization_domains enable row level security;
alter table organization_domains force row level security;
create policy tenant on organization_domains to assay_app
	using (organization_id = current_setting('assay.organization_id', true))
	with check (organization_id = current_setting('assay.organization_id', true));
create policy identity on organization_domains to assay_identity using (true);
grant select, insert, update, delete on organization_domains to assay_app;
grant select, update (next_check_at) on organization_domains to assay_identity;

-- Takes due looks at the DNS for p_seconds: at most p_count, and at most p_to_one of an organization.
create function take_domain_checks(p_count integer, p_to_one integer, p_seconds integer)
returns table (organization_id text, id text)
language sql volatile security definer set search_path = public, pg_temp
as $$
	update organization_domains d
	set next_check_at = now() + p_seconds * interval '1 second'
	-- Another process may have taken the domain a moment ago.
	where d.next_check_at <= now() and (d.organization_id, d.id) in (
		select x.organization_id, x.id
		from (
			select w.organization_id, w.id, w.next_check_at, row_number() over (
				partition by w.organization_id order by w.next_check_at
			) as place
			from organization_domains w
			where w.next_check_at <= now() and not exists (
				select from organization_closures c where c.organization_id = w.organization_id
			)
		) x
		where x.place <= p_to_one
		order by x.next_check_at
		limit p_count
	)
	returning d.organization_id::text, d.id::text
$$;

do $$
begin
	grant create on schema public to assay_identity;
	alter function take_domain_checks(integer, integer, integer) owner to assay_identity;
	revoke create on schema public from assay_identity;
end
$$;
revoke execute on function take_domain_checks(integer, integer, integer) from public;
grant execute on function take_domain_checks(integer, integer, integer) to assay_app;

select allow_backup();
