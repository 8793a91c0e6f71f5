-- Administrators get a mail when the TXT record of a verified domain is gone, and users when a passkey
-- was added to their account.
alter table mails
	drop constraint mails_kind_check,
	add constraint mails_kind_check check (kind in (
		'INVITATION', 'PASSWORD_RESET', 'JOIN_ATTEMPT', 'TEST', 'WEBHOOK_GIVEN_UP', 'CHAT_GIVEN_UP',
		'MY_DEVICES', 'EVENTS', 'DEVICE_ALERT', 'DEVICE_DIGEST', 'OVERDUE_WORK', 'COMMENTS', 'DOCUMENT',
		'NEW_SIGN_IN', 'ORGANIZATION_DELETION', 'EMERGENCY_SIGN_IN', 'DOMAIN_RECORD', 'NEW_PASSKEY'
	)),
	add check (kind <> 'DOMAIN_RECORD' or (organization_id is not null and user_id is not null));

-- The service encrypts the client secret of a provider again when ASSAY_SECRET was replaced.
grant update (client_secret) on identity_providers to assay_identity;
