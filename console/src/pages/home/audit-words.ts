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
	updateMember: "changed the role of",
	removeMember: "removed the member",
	leaveOrganization: "left the organization",
	createPasswordResetLink: "made a password reset link for",
	requestPasswordReset: "asked for a password reset",
	resetPassword: "set a new password with a reset link",
	changePassword: "changed the password of",
	enableTwoFactor: "switched on the second factor",
	disableTwoFactor: "switched off the second factor",
	renewRecoveryCodes: "renewed the recovery codes",
	enrollDevice: "enrolled the device",
	unenrollDevice: "took out of service the device",
	resetTwoFactor: "reset the second factor of",
	updateProfile: "changed the profile of",
	reissueEnrollmentToken: "made a new enrollment token for",
	linkRecords: "linked a record to",
	unlinkRecords: "removed a link of",
};

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
	"enableTwoFactor",
	"disableTwoFactor",
	"renewRecoveryCodes",
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

/** "added the risk": what stands between who did it and the name of the record. */
export function phraseOf({ operation, record_kind }: Entry): string {
	const known = PHRASES[operation];
	if (known) return known;
	const [verb = ""] = /^[a-z]+/.exec(operation) ?? [];
	const word = VERBS[verb];
	if (word && record_kind) return `${word} the ${nounOf(record_kind)}`;
	return `did “${operation.replaceAll(/[A-Z]/g, (big) => ` ${big.toLowerCase()}`)}”`;
}

export function namesItsRecord({ operation }: Entry): boolean {
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
