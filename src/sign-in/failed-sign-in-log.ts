import type { Logger } from "pino";
import { fromOf } from "./exchange.ts";

/** The part of a sign-in that was wrong, by the route that checks it. */
const WAYS: Readonly<Record<string, string>> = {
	"/sign-in/email": "PASSWORD",
	"/passkey/sign-in": "PASSKEY",
	"/passkey/second-factor": "PASSKEY",
	"/two-factor/verify-totp": "TOTP",
	"/two-factor/verify-backup-code": "RECOVERY_CODE",
};

/**
 * Logs a sign-in that failed because a password, a code or a passkey was wrong, for alerts. The
 * line has the network address and never names the account, because the log has no names of people.
 * Throttled attempts are not logged, so nobody can fill the log with them.
 */
export function logFailedSignIn(
	log: Logger,
	path: string,
	headers: Headers,
	response: Response,
): void {
	const way = WAYS[path];
	if (!way || response.status !== 401) return;
	const { address } = fromOf(headers);
	log.warn({ event: "sign_in_failed", way, address }, "a sign-in failed");
}
