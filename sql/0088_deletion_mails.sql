-- The other administrators get a mail when one of them closes their organization for its deletion.
alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT',
		'NEW_SIGN_IN', 'ORGANIZATION_DELETION'
	)),
	add check (kind <> 'ORGANIZATION_DELETION' or (organization_id is not null and user_id is not null));
