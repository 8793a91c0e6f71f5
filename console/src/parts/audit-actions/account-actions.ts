import type { Actions } from "./action.ts";

/** The words for what happens to accounts, and for what agents do. */
export const accountActions = {
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
	useEmergencyAccount: {
		group: "accounts",
		phrase: "got in with an emergency account",
		isAboutActor: true,
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
		phrase: "updated the list of devices of the nonconformity",
		title: "Update from device checks",
	},
	unenrollDevice: { group: "agents", phrase: "unenrolled the device" },
} as const satisfies Actions;
