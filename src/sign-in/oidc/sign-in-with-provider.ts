import { networkOf } from "../../load/sign-in-queue.ts";
import { type EventParts, noteAccountEvent } from "../account-events.ts";
import type { AuthParts } from "../better-auth.ts";
import { cookieNames, setCookie, signCookie } from "../cookies.ts";
import type { From } from "../exchange.ts";
import { rolesOf } from "../providers/find-member.ts";
import {
	CALLBACK_PATH,
	type Source,
	type Sources,
} from "../providers/sources.ts";
import {
	answerCookie,
	readAnswer,
	refusedAnswer,
	type SamlAnswer,
} from "../saml/answer.ts";
import { RefusedAnswer } from "../saml/refusals.ts";
import { RefusedBefore } from "../saml/saml-source.ts";
import { SESSION_DAYS } from "../session-lifetime.ts";
import { countAttempt, QUARTER } from "../sign-in-throttle.ts";
import {
	type Attempt,
	attemptCookie,
	beginAttempt,
	readAttempt,
	type Wish,
} from "./attempt.ts";
import { roleOf } from "./find-account.ts";
import { idTokenCookie, readIdToken } from "./id-token-cookie.ts";
import { type Outcome, type Problem, pageOf } from "./outcome.ts";
import { GroupsScopeRefused, SignInCancelled } from "./provider.ts";
import { makeProviderLog } from "./provider-log.ts";
import {
	confirmProviderSession,
	startProviderSession,
} from "./provider-session.ts";
import type { Claims } from "./read-claims.ts";

/** Where the browser goes next, and the values of the Set-Cookie headers of that answer. */
export interface Redirect {
	location: string;
	cookies: string[];
}

export interface ProviderSignIn {
	/** Sends the browser to the provider. */
	begin(wish: Wish, from: From): Promise<Redirect>;
	/**
	 * Ends an attempt, when the browser has come back with `query` from the provider with this id, or
	 * from the installation's. Never rejects, because a browser that follows a link would show an error
	 * as JSON.
	 */
	finish(
		providerId: string | undefined,
		query: string,
		cookieHeader: string | null,
		from: From,
	): Promise<Redirect>;
	/**
	 * Takes the response of a SAML provider, which a form on the provider's page has sent, and sends
	 * the browser on to where the attempt ends. The form brings no cookies.
	 */
	receive(providerId: string, response: string, from: From): Promise<Redirect>;
	/** Sends the browser to the provider's page for signing out, or to the sign-in page. */
	signOut(
		providerId: string | undefined,
		cookieHeader: string | null,
	): Promise<Redirect>;
}

/**
 * Largest number of answers of the provider that one network may bring in 15 minutes. Each costs
 * two requests to the provider. A whole office signs in from one network.
 */
const MAX_ATTEMPTS = 1_000;
const DAY_SECONDS = 24 * 3600;

/** Makes the sign-in with identity providers. */
export function makeProviderSignIn(
	parts: AuthParts & EventParts,
	sources: Sources,
): ProviderSignIn {
	const { pool, baseUrl, secret, log } = parts;
	const { logFailure, logRefusal, logRefusedScope } = makeProviderLog(log);

	/** Returns the provider of a wish, unless it is switched off and the wish is no test of it. */
	async function findSource({
		providerId,
		tests,
	}: {
		providerId?: string | undefined;
		tests?: true;
	}): Promise<Source | undefined> {
		const source = await sources.find(providerId);
		return source?.row?.is_enabled === false && !tests ? undefined : source;
	}

	async function askProvider(
		source: Source,
		query: string,
		attempt: Attempt,
		cookieHeader: string | null,
	): Promise<Claims | (Outcome & { problem: Problem })> {
		try {
			const claims = await source.claimsOf(query, attempt, cookieHeader);
			if (claims.groupsProblem) logFailure(source, claims.groupsProblem);
			return claims;
		} catch (error) {
			if (error instanceof SignInCancelled) return { problem: "CANCELLED" };
			if (error instanceof GroupsScopeRefused) {
				logRefusedScope(source);
				const instead: Wish = { ...attempt, withoutGroupsScope: true };
				return { problem: "PROVIDER_FAILED", instead };
			}
			if (!(error instanceof RefusedBefore)) logFailure(source, error);
			return {
				problem: "PROVIDER_FAILED",
				...(error instanceof RefusedAnswer && { why: error.code }),
			};
		}
	}

	async function signIn(
		source: Source,
		attempt: Attempt,
		claims: Claims,
		from: From,
	): Promise<Outcome> {
		const found = await source.findAccount(claims);
		if (typeof found === "string") return { problem: found };
		const token = await startProviderSession(
			pool,
			source,
			found,
			attempt,
			claims,
			from,
		);
		if (token === undefined) return { problem: "NO_PROVIDER" };
		const note = (operation: "linkProvider" | "signIn") =>
			noteAccountEvent(
				parts,
				{ id: found.userId },
				{
					operation,
					outcome: "DONE",
					fields: { provider: { after: source.issuer } },
				},
				from,
			);
		if (found.isNewlyLinked) await note("linkProvider");
		await note("signIn");
		const kept = idTokenCookie(baseUrl, source.row?.id, claims.idToken);
		return { cookies: [sessionCookie(token), kept] };
	}

	function sessionCookie(token: string): string {
		return setCookie(baseUrl, {
			name: cookieNames(baseUrl).session,
			value: signCookie(token, secret),
			maxAgeSeconds: SESSION_DAYS * DAY_SECONDS,
			sameSite: "Strict",
		});
	}

	/** Records that the provider's settings work, unless they have changed since the attempt began. */
	async function test(
		{ row }: Source,
		{ settingsOf }: Attempt,
		{ email, isEmailVerified, groups }: Claims,
	): Promise<Outcome> {
		if (!row) return { problem: "NO_PROVIDER" };
		if (!email) return { problem: "NO_ADDRESS" };
		if (!(isEmailVerified ?? row.trusts_addresses)) {
			return { problem: "UNVERIFIED_ADDRESS" };
		}
		if (!groups) return { problem: "GROUPS_UNKNOWN" };
		await pool.query(
			`update identity_providers set tested_at = now()
			where id = $1 and date_trunc('milliseconds', updated_at) = $2`,
			[row.id, new Date(settingsOf ?? 0)],
		);
		const role = roleOf(rolesOf(row), groups) ?? "";
		return { tested: { email, role } };
	}

	/** Counts an attempt. Logs the first one that exceeds the limit, and none of the later ones. */
	async function isTooMany(
		from: From,
		what: "provider" | "saml form" | "answer to nothing" = "provider",
	): Promise<boolean> {
		const { waitSeconds, isFirst } = await countAttempt(
			pool,
			`${what} from ${networkOf(from.address ?? "")}`,
			{ allowed: MAX_ATTEMPTS, window: QUARTER },
		);
		if (isFirst) logRefusal("TOO_MANY_ATTEMPTS", undefined, from);
		return waitSeconds > 0;
	}

	/**
	 * Logs an answer from a browser that began no attempt. Anybody can send such answers, so their
	 * number in the log is limited.
	 */
	async function logStranger(
		providerId: string | undefined,
		from: From,
	): Promise<void> {
		const isLogged = await isTooMany(from, "answer to nothing").then(
			(isMore) => !isMore,
			() => true,
		);
		if (isLogged) logRefusal("NO_ATTEMPT", providerId, from);
	}

	async function complete(
		query: string,
		attempt: Attempt,
		cookieHeader: string | null,
		from: From,
	): Promise<Outcome> {
		if (await isTooMany(from)) return { problem: "TOO_MANY_ATTEMPTS" };
		const source = await findSource(attempt);
		if (!source) return { problem: "NO_PROVIDER" };
		const claims = await askProvider(source, query, attempt, cookieHeader);
		if ("problem" in claims) return claims;
		if (attempt.tests) return test(source, attempt, claims);
		return attempt.confirms
			? confirmProviderSession(pool, source, attempt, claims)
			: signIn(source, attempt, claims, from);
	}

	/** Returns the provider's page for signing out, or the page that says why there is none. */
	async function pageToSignOut(
		providerId: string | undefined,
		idToken: string | undefined,
	): Promise<string> {
		const source = await findSource({ providerId });
		try {
			const url = await source?.signOutUrl(idToken);
			return url ?? "/sign-in?problem=STILL_SIGNED_IN_THERE";
		} catch (error) {
			if (source) logFailure(source, error);
			return "/sign-in?problem=MAYBE_SIGNED_IN_THERE";
		}
	}

	async function start(wish: Wish, from: From): Promise<Redirect | Problem> {
		const source = await findSource(wish);
		if (!source) return "NO_PROVIDER";
		if (source.row && (await isTooMany(from))) return "TOO_MANY_ATTEMPTS";
		const attempt = beginAttempt({
			...wish,
			...(source.row && { settingsOf: source.row.updated_at.getTime() }),
		});
		try {
			const location = await source.startUrl(attempt, wish.confirms);
			return { location, cookies: [attemptCookie(parts, attempt)] };
		} catch (error) {
			logFailure(source, error);
			return "PROVIDER_FAILED";
		}
	}

	return {
		async begin(wish, from) {
			const started = await start(wish, from).catch((err) => {
				log.error({ err }, "a sign-in with the identity provider failed");
				return "SERVICE_FAILED" as const;
			});
			return typeof started === "string"
				? { location: pageOf(wish, { problem: started }), cookies: [] }
				: started;
		},

		async finish(providerId, query, cookieHeader, from) {
			const forget = [attemptCookie(parts, undefined)];
			const attempt = readAttempt(parts, cookieHeader);
			const answer = readAnswer(parts, cookieHeader);
			if (answer) forget.push(answerCookie(parts, undefined));
			// People open Assay from a page of the provider. The answer signs nobody in, because somebody
			// else could have sent it. It only leads back to the provider, with a request of this browser.
			if (!attempt && answer?.said && !answer.said.inResponseTo) {
				const wish = {
					to: "/",
					confirms: false,
					providerId: answer.providerId,
				};
				const begun = await this.begin(wish, from);
				return { ...begun, cookies: [...forget, ...begun.cookies] };
			}
			// Each provider has an address of its own, so no answer is taken for one of another provider.
			if (!attempt || attempt.providerId !== providerId) {
				await logStranger(providerId, from);
				const location = pageOf(
					{ confirms: false, to: "/" },
					{ problem: "NO_ATTEMPT" },
				);
				return { location, cookies: forget };
			}
			const outcome = await complete(query, attempt, cookieHeader, from).catch(
				(err) => {
					log.error({ err }, "a sign-in with the identity provider failed");
					return { problem: "SERVICE_FAILED" } as Outcome;
				},
			);
			const { problem, cookies = [], instead } = outcome;
			if (instead) {
				const begun = await this.begin(instead, from);
				return { ...begun, cookies: [...forget, ...begun.cookies] };
			}
			if (
				problem &&
				problem !== "CANCELLED" &&
				problem !== "TOO_MANY_ATTEMPTS"
			) {
				logRefusal(problem, providerId, from, outcome.why);
			}
			return {
				location: pageOf(attempt, outcome),
				cookies: [...forget, ...cookies],
			};
		},

		async receive(providerId, response, from) {
			if (await isTooMany(from, "saml form")) {
				return {
					location: "/sign-in?problem=TOO_MANY_ATTEMPTS",
					cookies: [],
				};
			}
			const source = await sources.find(providerId);
			if (!source?.receive) {
				logRefusal("NO_PROVIDER", undefined, from);
				return { location: "/sign-in?problem=NO_PROVIDER", cookies: [] };
			}
			const keep = (answer: SamlAnswer): Redirect => ({
				location: `${CALLBACK_PATH}/${providerId}`,
				cookies: [answerCookie(parts, answer)],
			});
			try {
				return keep(source.receive(response));
			} catch (error) {
				if (!(error instanceof RefusedAnswer)) throw error;
				logFailure(source, error);
				return keep(refusedAnswer(providerId, error.code));
			}
		},

		async signOut(providerId, cookieHeader) {
			const idToken = readIdToken(baseUrl, providerId, cookieHeader);
			const location = await pageToSignOut(providerId, idToken).catch((err) => {
				log.error({ err }, "signing out at the identity provider failed");
				return "/sign-in?problem=MAYBE_SIGNED_IN_THERE";
			});
			return {
				location,
				cookies: [idTokenCookie(baseUrl, providerId, undefined)],
			};
		},
	};
}
