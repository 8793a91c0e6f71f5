import { composeComments } from "../comments/comment-mail.ts";
import { composeDocument } from "../documents/document-mail.ts";
import { composeMyDevices } from "../my-devices/link-mail.ts";
import { composeDeviceAlert } from "../notifications/device-alert-mail.ts";
import { composeDeviceDigest } from "../notifications/device-digest-mail.ts";
import { composeEvents } from "../notifications/events-mail.ts";
import { composeGivenUpChat } from "../notifications/given-up-chat.ts";
import { composeOverdueWork } from "../notifications/overdue-mail.ts";
import { composeDeletion } from "../organizations/deletion-mail.ts";
import { composeMissingRecord } from "../organizations/domains/missing-record-mail.ts";
import { composeInvitation } from "../organizations/invitation-mail.ts";
import { composeJoinAttempt } from "../organizations/join-by-invitation.ts";
import { composeEmergencySignIn } from "../sign-in/only-provider/emergency-sign-in.ts";
import { composeNewPasskey } from "../sign-in/passkeys/new-passkey-mail.ts";
import { composePasswordReset } from "../sign-in/password-reset.ts";
import { composeNewSignIn } from "../sign-in/sign-in-places.ts";
import { findUser } from "../sign-in/users.ts";
import { composeGivenUp } from "../webhooks/given-up-mail.ts";
import type { Compose } from "./mailer.ts";
import type { Message } from "./message.ts";
import type { MailKind } from "./queue.ts";

/** Returns a mail that shows that the service can send mail. */
export function testMail(to: string, baseUrl: string): Message {
	return {
		to,
		subject: "Test mail of Assay",
		text: `This is a test. ${baseUrl} can send mail to you.
`,
	};
}

const composeTest: Compose = async ({ pool, baseUrl }, { user_id }) => {
	const user = user_id && (await findUser(pool, { id: user_id }));
	return user ? testMail(user.email, baseUrl) : null;
};

/** Makes the text of each kind of mail. */
export const composers: Record<MailKind, Compose> = {
	INVITATION: composeInvitation,
	PASSWORD_RESET: composePasswordReset,
	JOIN_ATTEMPT: composeJoinAttempt,
	NEW_SIGN_IN: composeNewSignIn,
	TEST: composeTest,
	WEBHOOK_GIVEN_UP: composeGivenUp,
	CHAT_GIVEN_UP: composeGivenUpChat,
	MY_DEVICES: composeMyDevices,
	EVENTS: composeEvents,
	DEVICE_ALERT: composeDeviceAlert,
	DEVICE_DIGEST: composeDeviceDigest,
	OVERDUE_WORK: composeOverdueWork,
	COMMENTS: composeComments,
	DOCUMENT: composeDocument,
	ORGANIZATION_DELETION: composeDeletion,
	EMERGENCY_SIGN_IN: composeEmergencySignIn,
	DOMAIN_RECORD: composeMissingRecord,
	NEW_PASSKEY: composeNewPasskey,
};
