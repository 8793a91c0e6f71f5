-- Browsers with which a user has signed in, each in a network. The first use of each is told to the
-- user by mail. Only signing in writes here.
create table sign_in_places (
	user_id typed_id not null references users on delete cascade,
	browser text not null check (length(browser) <= 100),
	network text not null check (length(network) <= 60),
	-- The full address of the first sign-in.
	address text check (length(address) <= 60),
	first_at timestamptz not null default now(),
	last_at timestamptz not null default now(),
	-- The mail that tells the user. Null: the user needs none, or too many have been sent today.
	mail_id typed_id,
	-- True if the user has not been told.
	is_untold boolean not null default false,
	primary key (user_id, browser, network)
);
create index sign_in_places_mail on sign_in_places (mail_id) where mail_id is not null;
create index sign_in_places_last_at on sign_in_places (last_at);
alter table sign_in_places enable row level security;
alter table sign_in_places force row level security;
create policy identity on sign_in_places to assay_identity using (true);
grant select, insert, update, delete on sign_in_places to assay_identity;
create policy privacy on sign_in_places to assay_privacy using (true);
grant select on sign_in_places to assay_privacy;

alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT',
		'NEW_SIGN_IN'
	));

select allow_backup();
