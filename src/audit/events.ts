/**
 * What is written to the audit log by others than `invoke`: at the sign-in, by the command line,
 * by links that work without a session, and, by the database itself, what a device's agent does.
 */
export const AUDIT_EVENTS = [
	"setUp",
	"createUser",
	"setPassword",
	"signIn",
	"signOut",
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
	// As the operations of these names do.
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
