import type { AuditEvent } from "../../../src/audit/events.ts";
import type { OperationName, OutputOf } from "../api.ts";
import { nounOf } from "./names-in-words.ts";

export type Entry = OutputOf<"listAuditLog">["audit_entries"][number];

interface Action {
	/** The group of the action in the audit log's filter. */
	group: keyof typeof GROUPS;
	/**
	 * The words between the actor and the name of the record. By default, they are made from the name
	 * of the action.
	 */
	phrase?: string;
	/** True if the actor is also the record, so that naming the record would repeat the name. */
	isAboutActor?: true;
}

const GROUPS = {
	devices: "Devices",
	members: "Members and tokens",
	organization: "Organization and records",
	accounts: "Accounts",
	agents: "Agents",
};

/**
 * The words for every audit event, and for every operation whose name is not "add", "update" or
 * "delete" followed by a register.
 */
const ACTIONS: Record<AuditEvent, Action> &
	Partial<Record<OperationName, Action>> = {
	addDevice: { group: "devices", phrase: "added the device" },
	updateDevice: { group: "devices" },
	reissueEnrollmentToken: {
		group: "devices",
		phrase: "made a new enrollment token for",
	},
	revokeDevice: { group: "devices" },
	deleteDevice: { group: "devices" },
	addEnrollmentKey: { group: "devices", phrase: "made the enrollment key" },
	revokeEnrollmentKey: {
		group: "devices",
		phrase: "revoked the enrollment key",
	},
	approveDevices: { group: "devices", phrase: "approved the device" },
	rejectDevices: { group: "devices", phrase: "rejected the device" },
	confirmDeviceOwners: {
		group: "devices",
		phrase: "confirmed the owner of the device",
	},
	reissueEnrollmentTokens: {
		group: "devices",
		phrase: "made a new enrollment token for the device",
	},
	revokeDevices: { group: "devices", phrase: "revoked the device" },
	setDeviceOwners: {
		group: "devices",
		phrase: "set the owner of the device",
	},
	importDeviceOwners: {
		group: "devices",
		phrase: "imported the owner of the device",
	},
	replaceDevices: {
		group: "devices",
		phrase: "said which device was set up again:",
	},
	addDeviceGroup: { group: "devices", phrase: "added the group" },
	updateDeviceGroup: { group: "devices", phrase: "changed the group" },
	deleteDeviceGroup: { group: "devices", phrase: "deleted the group" },
	addDeviceException: {
		group: "devices",
		phrase: "requested an exception from",
	},
	updateDeviceException: {
		group: "devices",
		phrase: "changed the exception from",
	},
	approveDeviceException: {
		group: "devices",
		phrase: "decided about the exception from",
	},
	deleteDeviceException: {
		group: "devices",
		phrase: "deleted the exception from",
	},
	updateDevicePolicy: {
		group: "devices",
		phrase: "changed the device policy",
		isAboutActor: true,
	},

	inviteMembers: { group: "members", phrase: "invited" },
	inviteMember: { group: "members", phrase: "invited" },
	revokeInvitation: {
		group: "members",
		phrase: "revoked the invitation of",
	},
	retryMail: {
		group: "members",
		phrase: "retried a mail",
		isAboutActor: true,
	},
	sendTestMail: {
		group: "members",
		phrase: "sent a test mail",
		isAboutActor: true,
	},
	rotateWebhookSecret: {
		group: "organization",
		phrase: "rotated the secret of the webhook",
	},
	sendMyDevicesLinks: {
		group: "devices",
		phrase: "mailed a link to the devices of",
	},
	copyMyDevicesLink: {
		group: "devices",
		phrase: "copied a link to the devices of",
	},
	signDocumentByLink: { group: "organization", phrase: "signed" },
	openMyDevices: { group: "devices", phrase: "opened the devices of" },
	addNotificationChannel: {
		group: "organization",
		phrase: "added the notification channel",
	},
	updateNotificationChannel: {
		group: "organization",
		phrase: "changed the notification channel",
	},
	deleteNotificationChannel: {
		group: "organization",
		phrase: "deleted the notification channel",
	},
	testNotificationChannel: {
		group: "organization",
		phrase: "tested the notification channel",
	},
	provisionUser: { group: "members", phrase: "provisioned" },
	updateProvisionedUser: {
		group: "members",
		phrase: "changed what is known about",
	},
	deprovisionUser: { group: "members", phrase: "deactivated" },
	provisionGroup: { group: "members", phrase: "added the group" },
	updateProvisionedGroup: { group: "members", phrase: "changed the group" },
	deleteProvisionedGroup: { group: "members", phrase: "deleted the group" },
	createScimCredential: {
		group: "members",
		phrase: "made the SCIM credential",
	},
	revokeScimCredential: {
		group: "members",
		phrase: "revoked the SCIM credential",
	},
	updateProvisioning: {
		group: "members",
		phrase: "changed the role of provisioned people in",
	},
	updateScimGroup: {
		group: "members",
		phrase: "set the role that the group gives:",
	},
	addDomain: { group: "organization", phrase: "added the domain" },
	verifyDomain: {
		group: "organization",
		phrase: "asked to verify the domain",
	},
	confirmDomain: {
		group: "organization",
		phrase: "verified the domain",
	},
	missDomainRecord: {
		group: "organization",
		phrase: "did not find the TXT record of the domain",
	},
	loseDomain: {
		group: "organization",
		phrase: "no longer trusts the domain",
	},
	deleteDomain: { group: "organization", phrase: "removed the domain" },
	addWebhook: { group: "organization", phrase: "added the webhook" },
	updateWebhook: { group: "organization", phrase: "changed the webhook" },
	deleteWebhook: { group: "organization", phrase: "deleted the webhook" },
	testWebhook: { group: "organization", phrase: "tested the webhook" },
	resendWebhookDelivery: {
		group: "organization",
		phrase: "sent a delivery again to the webhook",
	},
	acceptInvitation: {
		group: "members",
		phrase: "joined the organization",
		isAboutActor: true,
	},
	updateMember: { group: "members", phrase: "changed the role of" },
	removeMember: { group: "members", phrase: "removed the member" },
	leaveOrganization: {
		group: "members",
		phrase: "left the organization",
		isAboutActor: true,
	},
	createPasswordResetLink: {
		group: "members",
		phrase: "made a password reset link for",
	},
	resetTwoFactor: {
		group: "members",
		phrase: "reset the second factor of",
	},
	createApiToken: { group: "members" },
	rotateApiToken: { group: "members" },
	revokeApiToken: { group: "members" },
	revokeApiTokens: { group: "members", phrase: "revoked the API token" },
	revokeOrganizationApiToken: { group: "members" },
	allowApp: { group: "members", phrase: "connected the app" },

	importRecords: { group: "organization" },
	rollBackImport: {
		group: "organization",
		phrase: "rolled back the import of",
	},
	addSavedView: { group: "organization", phrase: "shared the view" },
	updateSavedView: { group: "organization", phrase: "changed the view" },
	deleteSavedView: { group: "organization", phrase: "deleted the view" },
	addRecords: { group: "organization" },
	createDraftDocumentVersion: {
		group: "organization",
		phrase: "drafted a version of",
	},
	updateDocumentVersion: {
		group: "organization",
		phrase: "changed the draft of",
	},
	deleteDraftDocumentVersion: {
		group: "organization",
		phrase: "deleted the draft of",
	},
	requestDocumentVersionApproval: {
		group: "organization",
		phrase: "asked for approval of",
	},
	approveDocumentVersion: { group: "organization", phrase: "approved" },
	rejectDocumentVersion: { group: "organization", phrase: "rejected" },
	publishDocumentVersion: { group: "organization", phrase: "published" },
	requestDocumentVersionSignature: {
		group: "organization",
		phrase: "asked people to sign",
	},
	cancelSignatureRequest: {
		group: "organization",
		phrase: "cancelled a request to sign",
	},
	signDocumentVersion: { group: "organization", phrase: "signed" },
	archiveRecords: {
		group: "organization",
		phrase: "archived or took back",
	},
	takeSnapshot: { group: "organization", phrase: "took" },
	deleteSnapshot: { group: "organization", phrase: "deleted" },
	approveStatementOfApplicability: {
		group: "organization",
		phrase: "approved the statement of applicability of",
	},
	addVendorReview: { group: "organization", phrase: "reviewed" },
	addStarters: { group: "organization", phrase: "added from a starter set" },
	reassignRecords: { group: "organization", phrase: "handed over" },
	addComment: { group: "organization", phrase: "commented on" },
	deleteComment: {
		group: "organization",
		phrase: "deleted a comment on",
	},
	watchRecord: { group: "organization", phrase: "watches" },
	unwatchRecord: { group: "organization", phrase: "no longer watches" },
	linkRecords: { group: "organization", phrase: "linked a record to" },
	unlinkRecords: { group: "organization", phrase: "removed a link of" },
	assignTask: { group: "organization", phrase: "assigned" },
	unassignTask: { group: "organization", phrase: "unassigned" },
	linkControlMeasure: { group: "organization", phrase: "linked a record to" },
	unlinkControlMeasure: { group: "organization", phrase: "removed a link of" },
	linkControlDocument: { group: "organization", phrase: "linked a record to" },
	unlinkControlDocument: { group: "organization", phrase: "removed a link of" },
	linkControlAudit: { group: "organization", phrase: "linked a record to" },
	unlinkControlAudit: { group: "organization", phrase: "removed a link of" },
	linkControlSnapshot: { group: "organization", phrase: "linked a record to" },
	unlinkControlSnapshot: { group: "organization", phrase: "removed a link of" },
	setUp: { group: "organization" },
	createOrganization: {
		group: "organization",
		phrase: "created the organization",
	},
	suspendOrganization: { group: "organization", phrase: "suspended" },
	resumeOrganization: {
		group: "organization",
		phrase: "ended the suspension of",
	},
	deleteOrganization: {
		group: "organization",
		phrase: "closed for deletion",
	},
	exportOrganization: { group: "organization", phrase: "exported" },
	importOrganization: { group: "organization", phrase: "imported" },
	restoreOrganization: {
		group: "organization",
		phrase: "restored before its deletion",
	},
	updateOrganization: {
		group: "organization",
		phrase: "changed the organization",
	},
	updateOrganizationSettings: {
		group: "organization",
		phrase: "changed the settings of",
	},
	updateSessionLimits: {
		group: "organization",
		phrase: "changed the limits of sessions of",
	},

	createUser: { group: "accounts", phrase: "added the member" },
	beginSignIn: {
		group: "accounts",
		phrase: "gave the right password and was asked for a code",
		isAboutActor: true,
	},
	signIn: { group: "accounts", phrase: "signed in", isAboutActor: true },
	linkProvider: {
		group: "accounts",
		phrase: "signed in with the identity provider for the first time",
		isAboutActor: true,
	},
	unlinkProvider: {
		group: "accounts",
		phrase: "unlinked from the identity provider the account of",
	},
	joinWithProvider: {
		group: "members",
		phrase: "joined through the identity provider as",
	},
	addIdentityProvider: {
		group: "accounts",
		phrase: "added the identity provider",
	},
	updateIdentityProvider: {
		group: "accounts",
		phrase: "changed the identity provider",
	},
	deleteIdentityProvider: {
		group: "accounts",
		phrase: "deleted the identity provider",
	},
	signOut: { group: "accounts", phrase: "signed out", isAboutActor: true },
	revokeSession: {
		group: "accounts",
		phrase: "signed out one of their sessions",
		isAboutActor: true,
	},
	revokeOtherSessions: {
		group: "accounts",
		phrase: "signed out all their other sessions",
		isAboutActor: true,
	},
	updateProfile: { group: "accounts", phrase: "changed the profile of" },
	verifyPassword: {
		group: "accounts",
		phrase: "confirmed their password",
		isAboutActor: true,
	},
	changePassword: {
		group: "accounts",
		phrase: "changed their password",
		isAboutActor: true,
	},
	setPassword: { group: "accounts", phrase: "set the password of" },
	requestPasswordReset: {
		group: "accounts",
		phrase: "asked for a password reset",
		isAboutActor: true,
	},
	resetPassword: {
		group: "accounts",
		phrase: "set a new password with a reset link",
		isAboutActor: true,
	},
	addPasskey: {
		group: "accounts",
		phrase: "added a passkey",
		isAboutActor: true,
	},
	renamePasskey: {
		group: "accounts",
		phrase: "renamed one of their passkeys",
		isAboutActor: true,
	},
	removePasskey: {
		group: "accounts",
		phrase: "removed one of their passkeys",
		isAboutActor: true,
	},
	enableTwoFactor: {
		group: "accounts",
		phrase: "turned on two-factor authentication",
		isAboutActor: true,
	},
	disableTwoFactor: {
		group: "accounts",
		phrase: "turned off two-factor authentication",
		isAboutActor: true,
	},
	renewRecoveryCodes: {
		group: "accounts",
		phrase: "renewed the recovery codes",
		isAboutActor: true,
	},
	erasePerson: {
		group: "accounts",
		phrase: "erased the personal data of",
	},
	eraseUser: {
		group: "accounts",
		phrase: "erased the account and personal data of",
	},

	enrollDevice: { group: "agents", phrase: "enrolled as the device" },
	activateDevice: {
		group: "agents",
		phrase: "sent the first heartbeat of the device",
	},
	reportDeviceConflict: {
		group: "agents",
		phrase: "reported a hardware conflict of the device",
	},
	settleNonconformities: {
		group: "agents",
		phrase: "followed the devices of the nonconformity",
	},
	unenrollDevice: { group: "agents", phrase: "unenrolled the device" },
};

/** The words for the first set-up, which creates two records with an audit entry for each. */
const SET_UP: Record<string, string> = {
	organization: "set up Assay and the organization",
	member: "made the first administrator",
};

/** The past tense of the verb with which an operation's name begins. */
const VERBS: Record<string, string> = {
	add: "added",
	create: "created",
	update: "changed",
	delete: "deleted",
	import: "imported",
	revoke: "revoked",
	rotate: "rotated",
};

/** Returns the names of the actions, grouped under the headings of the filter. */
export function groupedActions(): { group: string; names: string[] }[] {
	return Object.entries(GROUPS).map(([key, group]) => ({
		group,
		names: Object.entries(ACTIONS)
			.filter(([, action]) => action.group === key)
			.map(([name]) => name),
	}));
}

/**
 * Returns the entries that are news. Sign-ins and sign-outs are left out, because they change no
 * record. A new link has two consecutive entries, one for each of its records, and only one of them
 * is kept. Links that came or went with a record are left out: the record itself is the news.
 */
export function changesIn(entries: readonly Entry[]): Entry[] {
	return entries.filter((entry, index) => {
		const { operation, outcome, at } = entry;
		const before = entries[index - 1];
		const isOtherEnd =
			/^(un)?linkRecords$/.test(operation) &&
			before?.operation === operation &&
			before.at === at;
		return (
			outcome === "DONE" &&
			!/^(beginSignIn|signIn|signOut)$/.test(operation) &&
			!(/^(add|delete)/.test(operation) && linkIn(entry)) &&
			!isOtherEnd
		);
	});
}

/** Returns what happened to a link, if the entry is about a link of its record and nothing else. */
export function linkIn({
	changes,
}: Pick<Entry, "changes">): "Linked" | "Link removed" | undefined {
	const names = Object.keys(changes);
	const { linked_record: link } = changes as Record<string, object>;
	if (!link || names.length > 1) return undefined;
	return "after" in link ? "Linked" : "Link removed";
}

/**
 * Returns the words between the actor and the name of the record, such as "added the risk". This
 * version knows words for each of its operations and events, but an entry of an older version may
 * have none.
 */
export function phraseOf({
	operation,
	record_kind,
}: Pick<Entry, "operation" | "record_kind">): string {
	const known =
		operation === "setUp"
			? SET_UP[record_kind ?? ""]
			: actionOf(operation)?.phrase;
	if (known) return known;
	// The name of an import is that of its register, such as "risks".
	if (operation === "importRecords" && record_kind === "import") {
		return "imported";
	}
	const [verb = ""] = /^[a-z]+/.exec(operation) ?? [];
	const word = VERBS[verb];
	if (word && record_kind) return `${word} the ${nounOf(record_kind)}`;
	return `did “${operation.replaceAll(/[A-Z]/g, (big) => ` ${big.toLowerCase()}`)}”`;
}

/** Returns true if the record's name adds information to the actor's name. */
export function namesItsRecord({
	operation,
}: Pick<Entry, "operation">): boolean {
	return !actionOf(operation)?.isAboutActor;
}

function actionOf(operation: string): Action | undefined {
	return Object.hasOwn(ACTIONS, operation)
		? ACTIONS[operation as keyof typeof ACTIONS]
		: undefined;
}
