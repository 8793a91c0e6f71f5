-- A chat that fails for three days is disabled, and administrators get a mail.
alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK'
	)),
	drop constraint mails_channel_check,
	add constraint mails_channel_check check (
		(kind in ('CHAT_GIVEN_UP', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK'))
			= (channel_id is not null)
	);
