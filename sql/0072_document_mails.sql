-- A member whose approval or signature a version of a document waits for gets a mail, once for each
-- version. The mail is about the document, and says what it waits for when it is sent.
alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT'
	)),
	drop constraint mails_people_check,
	add constraint mails_people_check check (
		(kind in ('MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT'))
			= (people_id is not null)
	),
	drop constraint mails_user_check,
	add constraint mails_user_check check (
		(kind in (
			'INVITATION', 'MY_DEVICES', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT'
		)) = (user_id is null)
	),
	drop constraint mails_record_check,
	add constraint mails_record_check check (
		(kind in ('COMMENTS', 'DOCUMENT')) = (record_id is not null)
			and (record_id is null) = (record_kind is null)
	);

-- A person has at most one mail about a document that waits.
create unique index mails_document on mails (organization_id, people_id, record_id)
	where kind = 'DOCUMENT' and state = 'QUEUED';
