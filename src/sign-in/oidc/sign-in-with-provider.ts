import { randomBytes } from "node:crypto";
import type { OidcConfig } from "../../config/read-oidc.ts";
import { networkOf } from "../../load/sign-in-queue.ts";
import { type EventParts, noteAccountEvent } from "../account-events.ts";
import type { AuthParts } from "../better-auth.ts";
import { cookieNames, setCookie, signCookie } from "../cookies.ts";
import type { From } from "../exchange.ts";
import { SESSION_DAYS } from "../session-lifetime.ts";
import { countAttempt, QUARTER } from "../sign-in-throttle.ts";
import { makeIdentityId } from "../users.ts";
import {
	type Attempt,
	attemptCookie,
	beginAttempt,
	readAttempt,
} from "./attempt.ts";
import {
	type Found,
	findAccount,
	findLinked,
	type Refusal,
} from "./find-account.ts";
import {
	type AttemptSecrets,
	type Claims,
	OidcProvider,
	SignInCancelled,
} from "./provider.ts";

/** The path to which the provider sends the browser back. It is registered at the provider. */
export const CALLBACK_PATH = "/api/sign-in-with-provider/callback";

/** Why nobody is signed in. The pages of the console explain each. */
export type Problem =
	| Refusal
	/** The person pressed "Cancel", or the provider refused the person. */
	| "CANCELLED"
	/** This browser began no attempt, or began it more than ten minutes ago. */
	| "NO_ATTEMPT"
	/** Too many attempts came from this network. */
	| "TOO_MANY_ATTEMPTS"
	/** The provider does not answer, or its answer is wrong. The log says more. */
	| "PROVIDER_FAILED"
	/** This service could not finish the sign-in, for example without its database. */
	| "SERVICE_FAILED"
	/** Somebody confirmed to be another user than the one of the session. */
	| "OTHER_ACCOUNT"
	/** The provider let the person in without asking for the password again. */
	| "NOT_ASKED_AGAIN";

/** Where the browser goes next, and the values of the Set-Cookie headers of that answer. */
export interface Redirect {
	location: string;
	cookies: string[];
}

/** The problem, or the cookies of the session. */
interface Outcome {
	problem?: Problem;
	cookies?: string[];
}

export interface ProviderSignIn {
	/** Sends the browser to the provider. */
	begin(
		wish: Pick<Attempt, "to" | "sessionId" | "confirms">,
	): Promise<Redirect>;
	/**
	 * Ends an attempt, when the browser has come back with `query`. Never rejects, because a browser that
	 * follows a link would show an error as JSON.
	 */
	finish(
		query: string,
		cookieHeader: string | null,
		from: From,
	): Promise<Redirect>;
}

/**
 * Largest number of answers of the provider that one network may bring in 15 minutes. Each costs
 * two requests to the provider. A whole office signs in from one network.
 */
const MAX_ATTEMPTS = 1_000;
/** Longest part, in characters, of what the provider says about an error that is logged. */
const MAX_LOGGED = 200;
const DAY_SECONDS = 24 * 3600;
/** Difference of the two clocks that does not matter. */
const CLOCK_TOLERANCE_MS = 60_000;

/** Makes the sign-in with the identity provider. */
export function makeProviderSignIn(
	parts: AuthParts & EventParts,
	config: OidcConfig,
): ProviderSignIn {
	const { pool, baseUrl, secret, log } = parts;
	const provider = new OidcProvider(config, `${baseUrl}${CALLBACK_PATH}`);

	async function askProvider(
		query: string,
		secrets: AttemptSecrets,
	): Promise<Claims | Problem> {
		try {
			return await provider.claimsOf(query, secrets);
		} catch (error) {
			if (error instanceof SignInCancelled) return "CANCELLED";
			logFailure(error);
			return "PROVIDER_FAILED";
		}
	}

	/**
	 * Logs why the provider's answer was refused. The cause of such an error may contain the answer
	 * with names and tokens, so of the answer only the two fields that describe an error are logged.
	 */
	function logFailure(thrown: unknown): void {
		const { message, code, cause, ...rest } = thrown as Error & {
			code?: string;
			error?: unknown;
			error_description?: unknown;
		};
		const said = [rest.error, rest.error_description]
			.filter((text) => typeof text === "string")
			.map((text) => text.slice(0, MAX_LOGGED));
		log.error(
			{
				issuer: config.issuer,
				code,
				reason: message,
				...(cause instanceof Error && { cause: cause.message }),
				...(said.length > 0 && { said: said.join(": ") }),
			},
			"the identity provider did not answer, or its answer was refused",
		);
	}

	function logRefusal(reason: Problem, { address }: From): void {
		log.warn(
			{ event: "sign_in_failed", way: "PROVIDER", reason, address },
			"a sign-in failed",
		);
	}

	async function signIn(
		attempt: Attempt,
		claims: Claims,
		from: From,
	): Promise<Outcome> {
		const found = await findAccount(parts, config, claims);
		if (typeof found === "string") return { problem: found };
		const token = await startSession(found, attempt, claims, from);
		const note = (operation: "linkProvider" | "signIn") =>
			noteAccountEvent(
				parts,
				{ id: found.userId },
				{
					operation,
					outcome: "DONE",
					fields: { provider: { after: config.issuer } },
				},
				from,
			);
		if (found.isNewlyLinked) await note("linkProvider");
		await note("signIn");
		return { cookies: [sessionCookie(token)] };
	}

	function sessionCookie(token: string): string {
		return setCookie(baseUrl, {
			name: cookieNames(baseUrl).session,
			value: signCookie(token, secret),
			maxAgeSeconds: SESSION_DAYS * DAY_SECONDS,
			sameSite: "Strict",
		});
	}

	/** Stores a session and returns its secret. It replaces the one that the browser had. */
	async function startSession(
		{ userId }: Found,
		{ sessionId }: Attempt,
		{ authenticatedAt }: Claims,
		{ address, client }: From,
	): Promise<string> {
		const token = randomBytes(32).toString("base64url");
		await pool.query(
			`with replaced as (delete from sessions where id = $8)
			insert into sessions (
				id, user_id, token, expires_at, ip_address, user_agent, provider, proved_at
			)
			values (
				$1, $2, $3, now() + $4 * interval '1 day', $5, $6, $7, least(now(), $9::timestamptz)
			)`,
			[
				makeIdentityId("session"),
				userId,
				token,
				SESSION_DAYS,
				address ?? null,
				client ?? null,
				config.issuer,
				sessionId ?? null,
				authenticatedAt ?? null,
			],
		);
		return token;
	}

	/** Records that the session's user has just given the password to the provider again. */
	async function confirm(
		{ sessionId, startedAt }: Attempt,
		{ subject, authenticatedAt }: Claims,
	): Promise<Outcome> {
		if (
			authenticatedAt &&
			authenticatedAt.getTime() < startedAt - CLOCK_TOLERANCE_MS
		) {
			return { problem: "NOT_ASKED_AGAIN" };
		}
		const userId = await findLinked(pool, config.issuer, subject);
		const { rowCount } = await pool.query(
			"update sessions set proved_at = now() where id = $1 and user_id = $2 and expires_at > now()",
			[sessionId, userId],
		);
		return rowCount === 0 ? { problem: "OTHER_ACCOUNT" } : { cookies: [] };
	}

	async function isTooMany({ address }: From): Promise<boolean> {
		const { waitSeconds } = await countAttempt(
			pool,
			`provider from ${networkOf(address ?? "")}`,
			{ allowed: MAX_ATTEMPTS, window: QUARTER },
		);
		return waitSeconds > 0;
	}

	async function complete(
		query: string,
		attempt: Attempt,
		from: From,
	): Promise<Outcome> {
		if (await isTooMany(from)) return { problem: "TOO_MANY_ATTEMPTS" };
		const claims = await askProvider(query, attempt);
		if (typeof claims === "string") return { problem: claims };
		return attempt.confirms
			? confirm(attempt, claims)
			: signIn(attempt, claims, from);
	}

	return {
		async begin(wish) {
			const attempt = beginAttempt(wish);
			try {
				const url = await provider.authorizationUrl(attempt, wish.confirms);
				return {
					location: url.href,
					cookies: [attemptCookie(parts, attempt)],
				};
			} catch (error) {
				logFailure(error);
				return { location: pageOf(wish, "PROVIDER_FAILED"), cookies: [] };
			}
		},

		async finish(query, cookieHeader, from) {
			const forget = attemptCookie(parts, undefined);
			const attempt = readAttempt(parts, cookieHeader);
			if (!attempt) {
				const location = pageOf({ confirms: false, to: "/" }, "NO_ATTEMPT");
				return { location, cookies: [forget] };
			}
			const outcome = await complete(query, attempt, from).catch((err) => {
				log.error({ err }, "a sign-in with the identity provider failed");
				return { problem: "SERVICE_FAILED" } as Outcome;
			});
			const { problem, cookies = [] } = outcome;
			if (problem && problem !== "CANCELLED") logRefusal(problem, from);
			return {
				location: pageOf(attempt, problem),
				cookies: [forget, ...cookies],
			};
		},
	};
}

/** Returns the page that opens after an attempt. */
function pageOf(
	{ confirms, to }: Pick<Attempt, "confirms" | "to">,
	problem: Problem | undefined,
): string {
	if (!problem && !confirms) return to;
	const query = new URLSearchParams({
		...(!confirms && to !== "/" && { to }),
		...(problem && { problem }),
	});
	const page = confirms ? "/confirmed" : "/sign-in";
	return query.size > 0 ? `${page}?${query}` : page;
}
