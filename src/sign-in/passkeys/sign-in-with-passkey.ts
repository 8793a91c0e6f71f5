import { transaction } from "../../db/pool.ts";
import { AppError } from "../../errors.ts";
import { networkOf } from "../../load/sign-in-queue.ts";
import { ADDRESS_HEADER } from "../address-header.ts";
import {
	cookieNames,
	findCookie,
	readSignedCookie,
	setCookie,
} from "../cookies.ts";
import { type Exchange, fromOf, type Step, userIdOf } from "../exchange.ts";
import { findKnownBrowser, knownBrowserCookie } from "../known-browser.ts";
import { mayUsePassword } from "../password-sign-in.ts";
import { throttledEvent } from "../sign-in-events.ts";
import { countAttempt, forgetAttempts, QUARTER } from "../sign-in-throttle.ts";
import { startSession } from "../start-session.ts";
import type { Passkey } from "./passkey-store.ts";
import { verifyPasskey } from "./verify-passkey.ts";

/** Largest number of refused passkeys of one account from one network in 15 minutes. */
const MAX_REFUSED = 10;
/** Largest number of passkeys that nobody has, from one network in 15 minutes. */
const MAX_UNKNOWN = 1_000;

/**
 * Limits refused passkeys, for each account and network, so that nobody elsewhere can lock out the
 * owner of a passkey. Passkeys that belong to nobody are limited for each network, so that nobody
 * can fill the log with them.
 */
export const limitPasskeys: Step = async (exchange) => {
	const { parts, headers } = exchange;
	const { pool } = parts;
	const userId = userIdOf(exchange);
	const network = networkOf(headers.get(ADDRESS_HEADER) ?? "");
	const key = `passkeys of ${userId || "nobody"} from ${network}`;
	const { waitSeconds, isFirst } = await countAttempt(pool, key, {
		allowed: userId ? MAX_REFUSED : MAX_UNKNOWN,
		window: QUARTER,
	});
	if (isFirst) exchange.noteLater(throttledEvent(exchange, QUARTER));
	if (waitSeconds > 0) {
		return Response.json(
			{
				code: "TOO_MANY_ATTEMPTS",
				message: `too many passkeys were rejected; try again in ${Math.ceil(waitSeconds / 60)} minutes, or sign in with your password`,
			},
			{ status: 429, headers: { "retry-after": String(waitSeconds) } },
		);
	}
	exchange.onSuccess(() => forgetAttempts(pool, key));
};

/**
 * Signs in with a passkey alone. The authenticator must have verified its user, so that the passkey
 * stands for both factors: something that the user has, and something that the user knows or is.
 */
export async function signInWithPasskey(exchange: Exchange): Promise<Response> {
	const { parts, headers, replacedSessionId } = exchange;
	const passkey = await verifyPasskey(exchange, {
		purpose: "sign-in",
		subject: "",
		mustVerifyUser: true,
	});
	if (!passkey) return refusedPasskey();
	requirePasskeySignIn(exchange, passkey.email);
	const cookie = await startSession(parts.pool, parts, {
		userId: passkey.userId,
		passkeyId: passkey.id,
		replacedSessionId,
		from: fromOf(headers),
	});
	return signedIn(exchange, passkey, [cookie]);
}

/** Completes a sign-in that began with the right password. */
export async function giveSecondFactor(exchange: Exchange): Promise<Response> {
	const { parts, headers, subject } = exchange;
	if (subject.sessionId) {
		throw new AppError(
			"bad_request",
			"you are signed in already; confirm with /passkey/prove instead",
		);
	}
	const userId = userIdOf(exchange);
	const passkey = await verifyPasskey(exchange, {
		purpose: "second-factor",
		subject: userId,
		userId,
		mustVerifyUser: false,
	});
	if (!passkey) return refusedPasskey();
	const names = cookieNames(parts.baseUrl);
	const sent = findCookie(headers.get("cookie"), names.halfSignedIn);
	const identifier = readSignedCookie(sent, parts.secret) ?? "";
	const cookie = await transaction(parts.pool, {}, async (client) => {
		// The row is deleted, so that the right password completes only one sign-in.
		const { rowCount } = await client.query(
			`delete from verifications
			where identifier = $1 and value = $2 and expires_at > now()`,
			[identifier, userId],
		);
		if (rowCount !== 1) return undefined;
		await client.query("delete from verifications where identifier = $1", [
			`2fa-attempts-${identifier}`,
		]);
		return startSession(client, parts, {
			userId,
			passkeyId: passkey.id,
			from: fromOf(headers),
		});
	});
	if (cookie === undefined) return refusedPasskey();
	const forget = setCookie(parts.baseUrl, {
		name: names.halfSignedIn,
		value: "",
		maxAgeSeconds: 0,
		sameSite: "Strict",
	});
	return signedIn(exchange, passkey, [cookie, forget]);
}

/** Proves that the owner of the account uses the session. */
export async function proveWithPasskey(exchange: Exchange): Promise<Response> {
	const passkey = await verifyPasskey(exchange, {
		purpose: "proof",
		subject: exchange.subject.sessionId ?? "",
		userId: userIdOf(exchange),
		mustVerifyUser: true,
	});
	// Within a session, 401 would mean that the session has ended.
	return passkey ? Response.json({ status: true }) : refusedPasskey(400);
}

/** Returns the response to a passkey that was rejected. It does not say why, as for a password. */
export function refusedPasskey(status: 400 | 401 = 401): Response {
	return Response.json(
		{
			code: "INVALID_PASSKEY",
			message:
				"the passkey was rejected; it may have been removed from your account, or it took too long; try again or sign in another way",
		},
		{ status },
	);
}

/**
 * Throws forbidden if the operator allows only the identity provider for this address. A passkey
 * follows the rule for passwords, because otherwise somebody whom the provider no longer lets in
 * would still get in with it. The passkey was checked before, so only its owner sees this answer.
 */
function requirePasskeySignIn({ parts }: Exchange, email: string): void {
	if (mayUsePassword(parts, email)) return;
	throw new AppError(
		"forbidden",
		`this service accepts no passkey for ${email}; sign in with ${parts.providerName ?? "the identity provider"}`,
	);
}

function signedIn(
	{ parts, headers }: Exchange,
	{ email, userId }: Passkey,
	cookies: string[],
): Response {
	const response = Response.json({ user_id: userId });
	const all = findKnownBrowser(parts, headers, email)
		? cookies
		: [...cookies, knownBrowserCookie(parts, email)];
	for (const cookie of all) response.headers.append("set-cookie", cookie);
	return response;
}
