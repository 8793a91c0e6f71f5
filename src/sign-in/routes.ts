import type { Route } from "./exchange.ts";
import { noteProof, verifyPassword } from "./fresh-proof.ts";
import { rememberBrowser } from "./known-browser.ts";
import { rejectBadNewPassword } from "./new-password.ts";
import {
	addPasskey,
	registrationOptions,
	requirePasswordAccount,
	requireProofOfSession,
} from "./passkeys/add-passkey.ts";
import {
	proofOptions,
	secondFactorOptions,
	signInOptions,
} from "./passkeys/options.ts";
import {
	enableWithPasskey,
	listFactors,
} from "./passkeys/second-factor-with-passkey.ts";
import {
	giveSecondFactor,
	limitPasskeys,
	proveWithPasskey,
	signInWithPasskey,
} from "./passkeys/sign-in-with-passkey.ts";
import { rejectPassword } from "./password-sign-in.ts";
import { countRecoveryCodes, findMeantCode } from "./recovery-codes.ts";
import { limitCodes, rejectTrustDevice } from "./second-factor.ts";
import { renewEncryption } from "./second-factor-encryption.ts";
import { endReplacedSession, requireDatabase } from "./session-lifetime.ts";
import {
	addPasskeyEvent,
	changePasswordEvent,
	codeEvent,
	passkeyEvent,
	passwordSignInEvent,
	rejectedOnly,
	simpleEvent,
} from "./sign-in-events.ts";
import { limitPasswords, limitSignIns } from "./sign-in-throttle.ts";
import { claimCode } from "./totp-replay.ts";
import { deleteResetLinks } from "./users.ts";

/**
 * All routes that are open below /api/auth, with the steps that run before and after better-auth
 * answers.
 *
 * better-auth has more routes. They are closed, and a new release of better-auth cannot open any.
 * Its own routes for sessions are closed because they would tell a page the secrets of all
 * sessions. Our operations do the same without revealing secrets.
 */
export const ROUTES: Readonly<Record<string, Route>> = {
	"GET /get-session": { who: "anybody" },
	"POST /sign-in/email": {
		who: "address",
		takesTurns: true,
		before: [rejectPassword, limitSignIns, rememberBrowser, endReplacedSession],
		event: passwordSignInEvent,
	},
	"POST /sign-out": {
		who: "anybody",
		before: [requireDatabase],
		event: simpleEvent("signOut"),
	},
	"POST /change-password": {
		who: "session",
		operation: "changePassword",
		before: [limitPasswords, rejectBadNewPassword],
		after: [deleteResetLinks],
		event: changePasswordEvent,
	},
	"POST /two-factor/enable": {
		who: "session",
		before: [limitPasswords],
		after: [noteProof],
	},
	"POST /two-factor/disable": {
		who: "session",
		operation: "disableTwoFactor",
		before: [limitPasswords],
		event: simpleEvent("disableTwoFactor"),
	},
	"POST /two-factor/get-totp-uri": {
		who: "session",
		before: [limitPasswords],
	},
	"POST /two-factor/verify-totp": {
		who: "session or half signed in",
		before: [rejectTrustDevice, limitCodes, renewEncryption, claimCode],
		after: [noteProof],
		event: codeEvent("TOTP"),
	},
	"POST /two-factor/verify-backup-code": {
		who: "session or half signed in",
		before: [rejectTrustDevice, limitCodes, renewEncryption, findMeantCode],
		after: [noteProof],
		event: codeEvent("RECOVERY_CODE"),
	},
	"POST /two-factor/generate-backup-codes": {
		who: "session",
		operation: "renewRecoveryCodes",
		before: [limitPasswords],
		event: simpleEvent("renewRecoveryCodes"),
	},
	// A route of ours and not of better-auth. It proves that the person who uses the session also
	// knows the password (see fresh-proof.ts).
	"POST /verify-password": {
		who: "session",
		operation: "verifyPassword",
		before: [limitPasswords],
		answer: verifyPassword,
		after: [noteProof],
		event: rejectedOnly(simpleEvent("verifyPassword")),
	},
	// The routes of passkeys are ours (decision 0043).
	"POST /passkey/sign-in-options": { who: "stranger", answer: signInOptions },
	"POST /passkey/sign-in": {
		who: "passkey",
		before: [limitPasskeys],
		answer: signInWithPasskey,
		event: passkeyEvent("ALONE"),
	},
	"GET /two-factor/factors": {
		who: "session or half signed in",
		answer: listFactors,
	},
	"POST /passkey/second-factor-options": {
		who: "session or half signed in",
		answer: secondFactorOptions,
	},
	"POST /passkey/second-factor": {
		who: "session or half signed in",
		before: [limitCodes],
		answer: giveSecondFactor,
		event: passkeyEvent("PASSWORD"),
	},
	"POST /passkey/proof-options": { who: "session", answer: proofOptions },
	"POST /passkey/prove": {
		who: "session",
		operation: "verifyPassword",
		before: [limitCodes],
		answer: proveWithPasskey,
		after: [noteProof],
		event: rejectedOnly(simpleEvent("verifyPassword")),
	},
	"POST /passkey/enable-two-factor": {
		who: "session",
		operation: "enableTwoFactor",
		before: [limitCodes, requireProofOfSession],
		answer: enableWithPasskey,
		event: simpleEvent("enableTwoFactor"),
	},
	"POST /passkey/registration-options": {
		who: "session",
		before: [requireProofOfSession, requirePasswordAccount],
		answer: registrationOptions,
	},
	"POST /passkey/register": {
		who: "session",
		operation: "addPasskey",
		before: [requireProofOfSession, requirePasswordAccount],
		answer: addPasskey,
		event: addPasskeyEvent,
	},
	// A route of ours and not of better-auth. It returns {left}, the number of unused recovery codes.
	"GET /two-factor/recovery-codes-left": {
		who: "session",
		answer: countRecoveryCodes,
	},
};
