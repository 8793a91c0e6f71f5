-- Who is mentioned in a comment, or watches its record, gets a mail about it. A mail is about one
-- record, and says what is new on it when it is sent.
alter table mails
	add column record_id typed_id,
	add column record_kind text,
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS'
	)),
	drop constraint mails_people_check,
	add constraint mails_people_check check (
		(kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS'))
			= (people_id is not null)
	),
	drop constraint mails_user_check,
	add constraint mails_user_check check (
		(kind in ('INVITATION', 'MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS'))
			= (user_id is null)
	),
	add constraint mails_record_check check (
		(kind = 'COMMENTS') = (record_id is not null)
			and (record_id is null) = (record_kind is null)
	);
grant insert (record_id, record_kind) on mails to assay_app;

-- A person has at most one mail about a record that waits.
create unique index mails_comments on mails (organization_id, people_id, record_id)
	where kind = 'COMMENTS' and state = 'QUEUED';

alter table notification_stops
	drop constraint notification_stops_kind_check,
	add constraint notification_stops_kind_check check (
		kind in ('DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS')
	);
