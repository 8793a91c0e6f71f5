/**
 * Events that code outside `invoke` writes to the audit log. They come from signing in, from the
 * command line, from links that work without a session, and from the database itself for actions of
 * a device's agent.
 */
export const AUDIT_EVENTS = [
	"setUp",
	"createUser",
	"setPassword",
	"beginSignIn",
	"signIn",
	"signOut",
	"linkProvider",
	"unlinkProvider",
	"joinWithProvider",
	"verifyPassword",
	"changePassword",
	"requestPasswordReset",
	"resetPassword",
	"addPasskey",
	"enableTwoFactor",
	"disableTwoFactor",
	"renewRecoveryCodes",
	"erasePerson",
	"eraseUser",
	"enrollDevice",
	"activateDevice",
	"reportDeviceConflict",
	"unenrollDevice",
	"settleNonconformities",
	"openMyDevices",
	"signDocumentByLink",
	"confirmDomain",
	"missDomainRecord",
	"loseDomain",
	"suspendOrganization",
	"resumeOrganization",
	"restoreOrganization",
	"importOrganization",
	// Operations with these names write the same events.
	"deleteOrganization",
	"exportOrganization",
	"createOrganization",
	"deleteDomain",
	"acceptInvitation",
	"updateMember",
	"removeMember",
	"createPasswordResetLink",
	"resetTwoFactor",
	"createApiToken",
	"revokeApiToken",
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];
