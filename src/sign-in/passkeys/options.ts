import { AppError } from "../../errors.ts";
import { type Exchange, userIdOf } from "../exchange.ts";
import { makeChallenge, type Purpose } from "./challenge.ts";
import { listCredentials } from "./passkey-store.ts";
import { relyingPartyId } from "./relying-party.ts";
import { loadWebauthn } from "./verify-passkey.ts";

/** Time that the browser gives the user, in milliseconds. It is shorter than the challenge lives. */
const TIMEOUT_MS = 4 * 60_000;

/**
 * Returns options for a sign-in with any passkey. They are the same for everybody and name no
 * account, so they reveal nothing.
 */
export async function signInOptions(exchange: Exchange): Promise<Response> {
	return options(exchange, {
		purpose: "sign-in",
		subject: "",
		userVerification: "required",
	});
}

/** Returns options for the second factor of somebody who has given the right password. */
export async function secondFactorOptions(
	exchange: Exchange,
): Promise<Response> {
	const userId = userIdOf(exchange);
	return options(exchange, {
		purpose: "second-factor",
		subject: userId,
		userVerification: "preferred",
		userId,
	});
}

/** Returns options for a proof that the owner of the account uses the session. */
export async function proofOptions(exchange: Exchange): Promise<Response> {
	return options(exchange, {
		purpose: "proof",
		subject: exchange.subject.sessionId ?? "",
		userVerification: "required",
		userId: userIdOf(exchange),
	});
}

async function options(
	{ parts, headers }: Exchange,
	{
		purpose,
		subject,
		userVerification,
		userId,
	}: {
		purpose: Purpose;
		subject: string;
		userVerification: "required" | "preferred";
		/** The user whose passkeys may answer. Undefined: the browser offers all that it knows. */
		userId?: string;
	},
): Promise<Response> {
	const rpId = requireRelyingParty(parts.baseUrl);
	const credentials =
		userId === undefined ? [] : await listCredentials(parts.pool, userId, rpId);
	if (userId !== undefined && credentials.length === 0) {
		throw new AppError("bad_request", "your account has no passkey");
	}
	const { generateAuthenticationOptions } = await loadWebauthn();
	const { challenge, cookie } = makeChallenge(parts, headers, purpose, subject);
	return withCookie(
		await generateAuthenticationOptions({
			rpID: rpId,
			challenge,
			userVerification,
			timeout: TIMEOUT_MS,
			allowCredentials: credentials,
		}),
		cookie,
	);
}

/** Returns a JSON response that sets a cookie. */
export function withCookie(body: object, cookie: string): Response {
	return Response.json(body, { headers: { "set-cookie": cookie } });
}

/** Throws bad_request if browsers cannot make passkeys for the service's address. */
export function requireRelyingParty(baseUrl: string): string {
	const rpId = relyingPartyId(baseUrl);
	if (rpId !== undefined) return rpId;
	throw new AppError(
		"bad_request",
		"passkeys need a name, and this service is reached at an IP address; the operator can set ASSAY_BASE_URL to a name",
	);
}
