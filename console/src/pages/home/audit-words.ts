import type { OutputOf } from "../../api.ts";

type Entry = OutputOf<"listAuditLog">["audit_entries"][number];

/** What was done, before the name of what it was done to. */
const PHRASES: Record<string, string> = {
	createOrganization: "created the organization",
	updateOrganization: "changed the organization",
	updateOrganizationSettings: "changed the settings of",
	inviteMember: "invited",
	revokeInvitation: "withdrew the invitation of",
	acceptInvitation: "joined the organization",
	createUser: "added the member",
	updateMember: "changed the role of",
	removeMember: "removed the member",
	leaveOrganization: "left the organization",
	createPasswordResetLink: "made a password reset link for",
	requestPasswordReset: "asked for a password reset",
	resetPassword: "set a new password with a reset link",
	setPassword: "set the password of",
	changePassword: "changed their password",
	enableTwoFactor: "switched on the second factor",
	disableTwoFactor: "switched off the second factor",
	renewRecoveryCodes: "renewed the recovery codes",
	resetTwoFactor: "reset the second factor of",
	updateProfile: "changed the profile of",
	erasePerson: "erased the personal data of",
	eraseUser: "erased the account and personal data of",
	signIn: "signed in",
	signOut: "signed out",
	revokeSession: "signed out one of their sessions",
	revokeOtherSessions: "signed out all their other sessions",
	addDevice: "added the device",
	enrollDevice: "enrolled as the device",
	activateDevice: "sent the first heartbeat of the device",
	unenrollDevice: "took out of service the device",
	reportDeviceConflict: "reported what does not fit the device",
	reissueEnrollmentToken: "made a new enrollment token for",
	linkRecords: "linked a record to",
	unlinkRecords: "removed a link of",
};

/** The two records that setting up makes, each with an entry. */
const SET_UP: Record<string, string> = {
	organization: "set up Assay and the organization",
	member: "made the first administrator",
};

/** Before the kind of record: what is done to records of every kind. */
const VERBS: Record<string, string> = {
	add: "added",
	create: "created",
	update: "changed",
	delete: "deleted",
	import: "imported",
	revoke: "revoked",
	rotate: "rotated",
};

/** Of these the record is who did it: to name it twice says nothing. */
const ABOUT_ONESELF = new Set([
	"acceptInvitation",
	"leaveOrganization",
	"requestPasswordReset",
	"resetPassword",
	"changePassword",
	"enableTwoFactor",
	"disableTwoFactor",
	"renewRecoveryCodes",
	"signIn",
	"signOut",
	"revokeSession",
	"revokeOtherSessions",
]);

/**
 * The entries that are news: comings and goings change nothing, and a link is in the log at
 * both of its ends, one after the other.
 */
export function changesIn(entries: readonly Entry[]): Entry[] {
	return entries.filter(({ operation, outcome, at }, index) => {
		const before = entries[index - 1];
		const isOtherEnd =
			/^(un)?linkRecords$/.test(operation) &&
			before?.operation === operation &&
			before.at === at;
		return (
			outcome === "DONE" && !/^sign(In|Out)$/.test(operation) && !isOtherEnd
		);
	});
}

/**
 * "added the risk": what stands between who did it and the name of the record. Every operation
 * and event of this version has words; the log may hold others of an earlier one.
 */
export function phraseOf({
	operation,
	record_kind,
}: Pick<Entry, "operation" | "record_kind">): string {
	const known =
		operation === "setUp" ? SET_UP[record_kind ?? ""] : PHRASES[operation];
	if (known) return known;
	const [verb = ""] = /^[a-z]+/.exec(operation) ?? [];
	const word = VERBS[verb];
	if (word && record_kind) return `${word} the ${nounOf(record_kind)}`;
	return `did “${operation.replaceAll(/[A-Z]/g, (big) => ` ${big.toLowerCase()}`)}”`;
}

export function namesItsRecord({
	operation,
}: Pick<Entry, "operation">): boolean {
	return !ABOUT_ONESELF.has(operation);
}

/** `continual_improvement` → "continual improvement". */
export function nounOf(kind: string): string {
	const nouns: Record<string, string> = {
		people: "person",
		api_token: "API token",
	};
	return nouns[kind] ?? kind.replaceAll("_", " ");
}
