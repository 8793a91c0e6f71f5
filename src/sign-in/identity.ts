import { AppError, toAppError } from "../errors.ts";
import { SignInTurns } from "../load/sign-in-queue.ts";
import type { Principal } from "../principal.ts";
import { normalAddress } from "../records/mail-address.ts";
import { type EventParts, noteAccountEvent } from "./account-events.ts";
import { ADDRESS_HEADER } from "./address-header.ts";
import type { AuthParts } from "./better-auth.ts";
import { confinedAccount, mayUseConfined } from "./confined-session.ts";
import {
	cookieNames,
	findCookie,
	readSignedCookie,
	withOwnCookies,
} from "./cookies.ts";
import {
	type Auth,
	type Exchange,
	fromOf,
	type Route,
	type Subject,
	type Who,
} from "./exchange.ts";
import { logFailedSignIn } from "./failed-sign-in-log.ts";
import { findKnownBrowser } from "./known-browser.ts";
import { NOT_SIGNED_IN } from "./not-signed-in.ts";
import { noteEmergencySignIn } from "./only-provider/emergency-sign-in.ts";
import { withSignInWays } from "./only-provider/sign-in-ways.ts";
import { findOwner } from "./passkeys/find-owner.ts";
import { mayGoOn } from "./password-sign-in.ts";
import { ROUTES } from "./routes.ts";
import { isWithinLifetime, withoutSessionSecret } from "./session-lifetime.ts";
import { reachOfSession } from "./session-limits.ts";
import { confineReach, findSessionProvider } from "./session-provider.ts";
import { UNATTENDED_HEADER } from "./unattended-header.ts";

export interface SignedIn {
	principal: Principal;
	/** Values of Set-Cookie headers that prolong the session. */
	cookies: string[];
}

export interface Identity {
	/** Answers a request below /api/auth. Throws an AppError: not_found or service_unavailable. */
	handle(
		method: string,
		path: string,
		body: unknown,
		headers: Headers,
	): Promise<Response>;
	/**
	 * Returns the signed-in user with the user's current roles. Returns undefined if nobody is signed
	 * in.
	 */
	authenticate(headers: Headers): Promise<SignedIn | undefined>;
	/**
	 * Starts to load the code for signing in, unless it is already loaded. The console calls this
	 * while the sign-in page loads.
	 */
	prepare(): void;
	/**
	 * Resolves when all audit entries have been written, including those that no request waited for.
	 */
	idle(): Promise<void>;
}

/** The route that a request names below /api/auth. */
interface AuthRequest {
	method: string;
	path: string;
}

/**
 * Returns the identity of the service, which handles sign-in and sessions. The service loads
 * better-auth with the first page of the console, or with the first request that needs it. If only
 * agents and API tokens talk to a service, it never loads better-auth.
 */
export function makeIdentity(parts: AuthParts & EventParts): Identity {
	const { pool, baseUrl, log } = parts;
	const names = cookieNames(baseUrl);
	let loading: Promise<Auth> | undefined;
	const load = () => {
		loading ??= import("./better-auth.ts").then((module) =>
			module.makeAuth(parts),
		);
		loading.catch(() => {
			loading = undefined;
		});
		return loading;
	};

	const signInTurns = new SignInTurns();
	const underWay = new Set<Promise<void>>();
	function track(work: Promise<void>): void {
		underWay.add(work);
		work.finally(() => underWay.delete(work));
	}

	/**
	 * Returns the error to report. better-auth hides the cause of a 500, so this function asks the
	 * database whether it can be reached.
	 */
	async function explain(error: unknown): Promise<AppError> {
		const known = toAppError(error);
		if (known.code !== "internal_server_error") return known;
		try {
			await pool.query("select");
		} catch (reason) {
			return toAppError(reason);
		}
		return known;
	}

	/**
	 * Returns the session that the request's cookie belongs to, with cookies that prolong it. Returns
	 * undefined if there is no live session.
	 */
	async function findSession(
		headers: Headers,
		query: { disableRefresh?: boolean } = {},
	) {
		// A request without our cookie is not signed in, so there is nothing to query or load.
		if (!findCookie(headers.get("cookie"), names.session)) return undefined;
		const isAttended = !headers.has(UNATTENDED_HEADER);
		const auth = await load();
		const { response: found, headers: answered } = await auth.api
			.getSession({
				headers,
				query: isAttended ? query : { disableRefresh: true },
				returnHeaders: true,
			})
			.catch(async (error) => {
				throw await explain(error);
			});
		if (!found) return undefined;
		const { session, user } = found;
		const end = async () => {
			await pool.query("delete from sessions where id = $1", [session.id]);
			return undefined;
		};
		if (!isWithinLifetime(session) || !mayGoOn(parts, session, user.email)) {
			return end();
		}
		const { identityProviderId } = session;
		const provider = identityProviderId
			? await findSessionProvider(pool, user.email, identityProviderId)
			: undefined;
		if (identityProviderId && !provider) return end();
		const reach = confineReach(
			await reachOfSession(pool, {
				sessionId: session.id,
				userId: user.id,
				email: user.email,
				from: fromOf(headers),
				isAttended,
			}),
			provider,
		);
		const { memberships, unnoted } = reach;
		const closed = await withSignInWays(parts, reach.closed, user.email);
		// A session that has exceeded the limits of all its user's organizations is over.
		const isOver =
			closed.length > 0 && closed.every(({ why }) => why === "SESSION");
		if (isOver && memberships.length === 0) return end();
		for (const organizationId of unnoted) {
			await noteEmergencySignIn(parts, organizationId, {
				user,
				sessionId: session.id,
				from: fromOf(headers),
			});
		}
		return {
			...found,
			memberships,
			closed,
			provider,
			signInOrganizationId: reach.signInOrganizationId,
			cookies: answered.getSetCookie(),
		};
	}

	/** Returns the id of the user who has given the right password but not yet a code. */
	async function findHalfSignedIn(
		headers: Headers,
	): Promise<string | undefined> {
		const sent = findCookie(headers.get("cookie"), names.halfSignedIn);
		const identifier = readSignedCookie(sent, parts.secret);
		if (identifier === undefined) return undefined;
		const { rows } = await pool.query<{ value: string }>(
			"select value from verifications where identifier = $1 and expires_at > now()",
			[identifier],
		);
		return rows[0]?.value;
	}

	/**
	 * Returns the account that a request is about. Returns undefined if the request is about no
	 * account.
	 */
	async function findSubject(
		who: Who,
		body: Record<string, unknown>,
		headers: Headers,
	): Promise<Subject | undefined> {
		if (who === "address") {
			const email = typeof body.email === "string" ? body.email : "";
			return { whose: { email: normalAddress(email) }, hasSecondFactor: false };
		}
		if (who === "stranger")
			return { whose: { id: "" }, hasSecondFactor: false };
		if (who === "passkey") {
			const id = await findOwner(pool, baseUrl, body);
			return { whose: { id: id ?? "" }, hasSecondFactor: false };
		}
		const found = await findSession(headers, { disableRefresh: true });
		if (found) {
			return {
				whose: { id: found.user.id },
				sessionId: found.session.id,
				hasSecondFactor: found.user.twoFactorEnabled === true,
				isConfined: found.provider?.isConfined === true,
			};
		}
		if (who !== "session or half signed in") return undefined;
		const id = await findHalfSignedIn(headers);
		return id === undefined
			? undefined
			: { whose: { id }, hasSecondFactor: true };
	}

	async function askBetterAuth(
		auth: Auth,
		{ method, path }: AuthRequest,
		{ body, headers }: Pick<Exchange, "body" | "headers">,
	): Promise<Response> {
		const request = new Request(`${baseUrl}/api/auth${path}`, {
			method,
			headers,
			...(method === "POST" ? { body: JSON.stringify(body) } : {}),
		});
		const response = await auth.handler(request);
		if (response.status < 500) return withoutSessionSecret(response);
		log.error({ path, body: await response.text() }, "sign-in failed");
		throw new Error(`better-auth: ${response.status}`);
	}

	/** Runs the steps of a route and returns its answer. After an error, runs `undoing`. */
	async function answer(
		route: Route,
		request: AuthRequest,
		exchange: Exchange,
		undoing: readonly (() => Promise<unknown>)[],
	): Promise<Response> {
		let response: Response | undefined;
		try {
			for (const step of route.before ?? []) {
				response ??= (await step(exchange)) ?? undefined;
			}
			response ??= route.answer
				? await route.answer(exchange)
				: await askBetterAuth(exchange.auth, request, exchange);
			return response;
		} catch (error) {
			throw await explain(error);
		} finally {
			if (!response?.ok) for (const undo of undoing) await undo();
		}
	}

	async function handle(
		route: Route,
		request: AuthRequest,
		rawBody: unknown,
		rawHeaders: Headers,
	): Promise<Response> {
		const headers = withOwnCookies(rawHeaders, names);
		const body = { ...(rawBody as Record<string, unknown> | null) };
		const subject = await findSubject(route.who, body, headers);
		const auth = await load();
		if (!subject) {
			if (route.who !== "anybody") return notSignedIn();
			return askBetterAuth(auth, request, { body, headers }).catch(
				async (error) => {
					throw await explain(error);
				},
			);
		}
		if (subject.isConfined && !mayUseConfined(request.path)) {
			throw confinedAccount();
		}
		const replaced =
			route.who === "address" || route.who === "passkey"
				? await findSession(headers, { disableRefresh: true })
				: undefined;
		const note = (event: Parameters<typeof noteAccountEvent>[2]) =>
			noteAccountEvent(parts, subject.whose, event, fromOf(headers));
		const successes: ((response: Response) => Promise<unknown>)[] = [];
		const failures: (() => Promise<unknown>)[] = [];
		const exchange: Exchange = {
			parts,
			auth,
			headers,
			subject,
			replacedSessionId: replaced?.session.id,
			operation: route.operation ?? "signIn",
			body,
			noteLater: (event) => track(note(event)),
			onSuccess: (work) => successes.push(work),
			onFailure: (work) => failures.push(work),
		};
		const response = await answer(route, request, exchange, failures);
		logFailedSignIn(log, request.path, headers, response);
		if (response.ok) {
			for (const step of route.after ?? []) await step(exchange);
			for (const work of successes) await work(response);
		}
		const event = await route.event?.(exchange, response);
		if (event) {
			const noted = note(event);
			// Writing the entry takes time only if the user exists. If a failed sign-in waited for the
			// entry, its duration would reveal that.
			if (response.ok || !("email" in subject.whose)) await noted;
			else track(noted);
		}
		return response;
	}

	/** Runs `work` when it is its turn among the sign-ins of its network, or of its known browser. */
	function inTurn(
		rawBody: unknown,
		headers: Headers,
		work: () => Promise<Response>,
	): Promise<Response> {
		const { email } = { ...(rawBody as Record<string, unknown> | null) };
		const browser =
			typeof email === "string"
				? findKnownBrowser(parts, headers, email)
				: undefined;
		const address = headers.get(ADDRESS_HEADER) ?? "";
		return signInTurns.run(address, browser, work);
	}

	return {
		prepare() {
			// An error needs no handling here. The next sign-in tries again and reports it.
			load().catch(() => {});
		},

		async idle() {
			await Promise.all(underWay);
		},

		async handle(method, path, body, headers) {
			const route = ROUTES[`${method} ${path}`];
			if (!route) {
				throw new AppError(
					"not_found",
					"there is nothing at this address; check its path",
				);
			}
			const work = () => handle(route, { method, path }, body, headers);
			return route.takesTurns ? inTurn(body, headers, work) : work();
		},

		async authenticate(rawHeaders) {
			const found = await findSession(withOwnCookies(rawHeaders, names));
			if (!found) return undefined;
			const { user, session, memberships, closed, provider, cookies } = found;
			const { signInOrganizationId } = found;
			return {
				principal: {
					kind: "USER",
					userId: user.id,
					name: user.name,
					sessionId: session.id,
					memberships,
					...(closed.length > 0 && { closed }),
					...(provider && { provider }),
					...(signInOrganizationId && { signInOrganizationId }),
				},
				cookies,
			};
		},
	};
}

function notSignedIn(): Response {
	return Response.json(
		{
			code: "UNAUTHORIZED",
			message: NOT_SIGNED_IN,
		},
		{ status: 401 },
	);
}
