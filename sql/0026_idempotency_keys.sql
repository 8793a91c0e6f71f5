-- A client that lost the answer to an add repeats the call with the same key and gets the first
-- answer. A key is kept for 24 hours.
create table idempotency_keys (
	organization_id typed_id not null references organizations,
	user_id typed_id not null references users on delete cascade,
	operation text not null check (operation <> ''),
	key text not null check (length(key) between 1 and 200),
	-- SHA-256 of the input.
	input_hash bytea not null check (octet_length(input_hash) = 32),
	-- The first answer as JSON. Null until the first call ends, in the same transaction.
	result text,
	created_at timestamptz not null default now(),
	primary key (organization_id, user_id, operation, key)
);
create index idempotency_keys_user on idempotency_keys (user_id);
create index idempotency_keys_created_at on idempotency_keys (created_at);

alter table idempotency_keys enable row level security;
alter table idempotency_keys force row level security;
create policy tenant on idempotency_keys to assay_app
	using (organization_id = current_setting('assay.organization_id', true));
grant select, insert, update on idempotency_keys to assay_app;

-- The role that removes expired rows sees when a key was used, and not for what.
create policy identity on idempotency_keys to assay_identity using (true);
grant select (ctid, created_at), update (created_at), delete on idempotency_keys to assay_identity;

-- An answer has the names of people, so erasing a person removes the keys of the organization.
create policy privacy on idempotency_keys to assay_privacy using (true);
grant select (organization_id, user_id, operation, created_at), delete on idempotency_keys to assay_privacy;

select allow_backup();
