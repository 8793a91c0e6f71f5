import type { Pool } from "pg";
import type { AuditEvent } from "../audit/events.ts";
import type { AccountEvent } from "../audit/log.ts";
import type { Principal } from "../principal.ts";
import { WINDOW } from "./sign-in-throttle.ts";

/** Where a request comes from, as far as it is known. */
export type From = Pick<Principal, "client" | "address">;

/** Whose account a request to better-auth is about, as known before it is answered. */
export interface Subject {
	whose: { email: string } | { id: string };
	isSignedIn: boolean;
	hasSecondFactor: boolean;
}

type Event = Omit<AccountEvent, "user">;

const SECOND_FACTORS: Record<string, string> = {
	"/two-factor/verify-totp": "TOTP",
	"/two-factor/verify-backup-code": "RECOVERY_CODE",
};

/** Addresses that ask for the present password, with what they do. */
const WITH_PASSWORD: Record<string, AuditEvent | undefined> = {
	"/change-password": "changePassword",
	"/two-factor/enable": undefined,
	"/two-factor/disable": "disableTwoFactor",
	"/two-factor/get-totp-uri": undefined,
	"/two-factor/generate-backup-codes": "renewRecoveryCodes",
};

export function asksForPassword(path: string): boolean {
	return path in WITH_PASSWORD;
}

/** What the audit log is to say of an answer of better-auth; undefined: nothing. */
export async function eventOf(
	path: string,
	body: unknown,
	{ isSignedIn, hasSecondFactor }: Subject,
	response: Response,
): Promise<Event | undefined> {
	// What was malformed, or throttled, is no attempt of interest: nobody fills the log by it.
	if (!response.ok && !(await isRefusal(response))) return undefined;
	const outcome = response.ok ? "DONE" : "REFUSED";
	if (path === "/sign-in/email") {
		if (response.ok && (await waitsForSecondFactor(response))) return undefined;
		return { operation: "signIn", outcome, fields: {} };
	}
	const factor = SECOND_FACTORS[path];
	if (factor) {
		if (!isSignedIn) {
			const fields = { second_factor: { after: factor } };
			return { operation: "signIn", outcome, fields };
		}
		// The first right code is what switches it on.
		return response.ok && !hasSecondFactor
			? { operation: "enableTwoFactor", outcome, fields: {} }
			: undefined;
	}
	if (path === "/sign-out")
		return { operation: "signOut", outcome, fields: {} };
	const operation = WITH_PASSWORD[path];
	if (!operation) return undefined;
	const { revokeOtherSessions } = (body ?? {}) as Record<string, unknown>;
	const endsOthers =
		operation === "changePassword" && revokeOtherSessions === true;
	return {
		operation,
		outcome,
		fields: endsOthers ? { other_sessions: { after: "ENDED" } } : {},
	};
}

/** That further attempts are not looked at for a while; once a window, so that it fills no log. */
export function throttledEvent(path: string): Event {
	return {
		operation: WITH_PASSWORD[path] ?? "signIn",
		outcome: "REFUSED",
		fields: { throttled: { after: WINDOW } },
	};
}

/** A wrong password or code. */
async function isRefusal(response: Response): Promise<boolean> {
	if (response.status === 401) return true;
	const body = (await response.clone().json()) as Record<string, unknown>;
	return body.code === "INVALID_PASSWORD";
}

async function waitsForSecondFactor(response: Response): Promise<boolean> {
	const body = (await response.clone().json()) as Record<string, unknown>;
	return body.twoFactorRedirect === true;
}

/**
 * The user who has given the right password and now owes a code. The cookie's signature is
 * better-auth's to check; what it names is not to be guessed. `pool` is that of assay_identity.
 */
export async function findHalfSignedIn(
	pool: Pool,
	cookies: string,
): Promise<string | undefined> {
	const [, value] = /assay\.two_factor=([^;]+)/.exec(cookies) ?? [];
	const [identifier] = (value ?? "").split(".");
	if (!identifier) return undefined;
	const { rows } = await pool.query<{ value: string }>(
		"select value from verifications where identifier = $1 and expires_at > now()",
		[identifier],
	);
	return rows[0]?.value;
}
