/**
 * Events that are written to the audit log outside `invoke`: at sign-in, by the command line, by
 * links that work without a session, and by the database itself for what a device's agent does.
 */
export const AUDIT_EVENTS = [
	"setUp",
	"createUser",
	"setPassword",
	"beginSignIn",
	"signIn",
	"signOut",
	"verifyPassword",
	"changePassword",
	"requestPasswordReset",
	"resetPassword",
	"enableTwoFactor",
	"disableTwoFactor",
	"renewRecoveryCodes",
	"erasePerson",
	"eraseUser",
	"enrollDevice",
	"activateDevice",
	"reportDeviceConflict",
	"unenrollDevice",
	// These have the names of operations, which write the same events.
	"createOrganization",
	"acceptInvitation",
	"updateMember",
	"removeMember",
	"createPasswordResetLink",
	"resetTwoFactor",
	"createApiToken",
	"revokeApiToken",
] as const;

export type AuditEvent = (typeof AUDIT_EVENTS)[number];
