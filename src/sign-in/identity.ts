import type { Pool } from "pg";
import { AppError, toAppError } from "../errors.ts";
import { SignInTurns } from "../load/sign-in-queue.ts";
import type { Principal, Role } from "../principal.ts";
import { type EventParts, noteAccountEvent } from "./account-events.ts";
import { ADDRESS_HEADER } from "./address-header.ts";
import type { AuthParts, makeAuth } from "./better-auth.ts";
import { refuseNewPassword } from "./new-password.ts";
import { meantCode, recoveryCodesLeft } from "./recovery-codes.ts";
import { isWithinLifetime, withoutSessionSecret } from "./session-lifetime.ts";
import {
	asksForPassword,
	eventOf,
	type From,
	findHalfSignedIn,
	type Subject,
	throttledEvent,
} from "./sign-in-events.ts";
import { countAttempt, forgetAttempts } from "./sign-in-throttle.ts";
import { claimCode, usedCode } from "./totp-replay.ts";

const RECOVERY_CODES_LEFT = "/two-factor/recovery-codes-left";

/**
 * What of better-auth is open; a new release cannot open more. Its addresses for sessions are
 * not: they tell a page the secrets of all sessions, and our operations do the same without.
 */
const OPEN_PATHS = new Set([
	"GET /get-session",
	"POST /sign-in/email",
	"POST /sign-out",
	"POST /change-password",
	"POST /two-factor/enable",
	"POST /two-factor/disable",
	"POST /two-factor/get-totp-uri",
	"POST /two-factor/verify-totp",
	"POST /two-factor/verify-backup-code",
	"POST /two-factor/generate-backup-codes",
	// Ours: {left}, how many recovery codes were not used yet.
	`GET ${RECOVERY_CODES_LEFT}`,
]);

type Auth = ReturnType<typeof makeAuth>;

const MAX_CLIENT = 200;
const SESSION_COOKIE = "assay.session_token=";

export interface SignedIn {
	principal: Principal;
	/** Set-Cookie headers that prolong the session. */
	cookies: string[];
}

export interface Identity {
	/** Answers a request below /api/auth. Throws AppError: not_found, service_unavailable. */
	handle(
		method: string,
		path: string,
		body: unknown,
		headers: Headers,
	): Promise<Response>;
	/** Who has signed in, with what they may do at this moment; undefined: nobody. */
	authenticate(headers: Headers): Promise<SignedIn | undefined>;
	/** Loads what signing in needs, if that is still to be done, while somebody's page loads. */
	prepare(): void;
	/** Resolves when the audit log has what nobody waited for. */
	idle(): Promise<void>;
}

/**
 * Sign-in and sessions. better-auth is loaded with the first page of the console, or the first
 * request that needs it: a service that only agents and API tokens talk to never pays for it.
 */
export function makeIdentity(parts: AuthParts & EventParts): Identity {
	const { pool, baseUrl, log } = parts;
	let loading: Promise<ReturnType<typeof makeAuth>> | undefined;
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

	/** better-auth hides the cause of a 500; a database that is away is told apart here. */
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

	/** The session that a cookie stands for, with cookies that prolong it; undefined: none, or no longer. */
	async function findSession(
		headers: Headers,
		query: { disableRefresh?: boolean } = {},
	) {
		// Without a cookie of ours nobody has signed in: no query, and nothing to load.
		if (!headers.get("cookie")?.includes(SESSION_COOKIE)) return undefined;
		const auth = await load();
		const { response: found, headers: answered } = await auth.api
			.getSession({ headers, query, returnHeaders: true })
			.catch(async (error) => {
				throw await explain(error);
			});
		if (!found || !(await isWithinLifetime(pool, found.session))) {
			return undefined;
		}
		return { ...found, cookies: answered.getSetCookie() };
	}

	/** Whose account a request is about; undefined when nobody's. */
	async function findSubject(
		path: string,
		body: unknown,
		headers: Headers,
	): Promise<Subject | undefined> {
		const unknown = { isSignedIn: false, hasSecondFactor: false };
		if (path === "/sign-in/email") {
			return { ...unknown, whose: { email: emailIn(body) } };
		}
		const found = await findSession(headers, { disableRefresh: true });
		if (found) {
			return {
				whose: { id: found.user.id },
				isSignedIn: true,
				hasSecondFactor: found.user.twoFactorEnabled === true,
			};
		}
		const cookies = headers.get("cookie") ?? "";
		const id = await findHalfSignedIn(pool, cookies);
		return id === undefined ? undefined : { ...unknown, whose: { id } };
	}

	async function handle(
		method: string,
		path: string,
		body: unknown,
		headers: Headers,
	): Promise<Response> {
		if (!OPEN_PATHS.has(`${method} ${path}`)) {
			throw new AppError("not_found", "there is nothing at this address");
		}
		const subject = await findSubject(path, body, headers);
		const counted = subject && countedKey(path, subject);
		if (subject && counted !== undefined) {
			const { waitSeconds, isFirst } = await countAttempt(pool, counted);
			if (isFirst) {
				const event = throttledEvent(path);
				track(noteAccountEvent(parts, subject.whose, event, fromOf(headers)));
			}
			if (waitSeconds > 0) return tooManyAttempts(waitSeconds);
		}
		const userId =
			subject && "id" in subject.whose ? subject.whose.id : undefined;
		if (path === RECOVERY_CODES_LEFT) {
			return subject?.isSignedIn && userId !== undefined
				? countCodes(await load(), userId)
				: notSignedIn();
		}
		if (path === "/change-password" && userId !== undefined) {
			const refused = await refuseNewPassword(pool, userId, body);
			if (refused) return refused;
		}
		const former =
			path === "/sign-in/email"
				? await findSession(headers, { disableRefresh: true })
				: undefined;
		const claimed = await claimCode(pool, path, body, subject);
		// better-auth answers 200 even when it could not delete the session.
		if (path === "/sign-out") await pool.query("select");
		const auth = await load();
		const sent =
			path === "/two-factor/verify-backup-code" && userId !== undefined
				? await withMeantCode(auth, userId, body)
				: body;
		const request = new Request(`${baseUrl}/api/auth${path}`, {
			method,
			headers,
			...(method === "POST" ? { body: JSON.stringify(sent ?? {}) } : {}),
		});
		let response: Response | undefined;
		try {
			response =
				claimed?.isFree === false
					? usedCode()
					: await withoutSessionSecret(await auth.handler(request));
		} catch (error) {
			throw await explain(error);
		} finally {
			if (!response?.ok && claimed?.isFree) await claimed.giveBack();
		}
		if (response.status >= 500) {
			log.error({ path, body: await response.text() }, "sign-in failed");
			throw await explain(new Error(`better-auth: ${response.status}`));
		}
		if (path === "/change-password" && response.ok && subject) {
			await forgetResetLinks(pool, subject.whose);
		}
		if (counted !== undefined && response.ok) {
			await forgetAttempts(pool, counted);
		}
		if (former && response.ok) {
			// Its cookie has just been replaced: nobody should hold it any more.
			await pool.query("delete from sessions where id = $1", [
				former.session.id,
			]);
		}
		const event = subject && (await eventOf(path, body, subject, response));
		if (event) {
			const noted = noteAccountEvent(
				parts,
				subject.whose,
				event,
				fromOf(headers),
			);
			// Not waited for where it would tell by its time that there is such a user.
			if (response.ok || !("email" in subject.whose)) await noted;
			else track(noted);
		}
		return response;
	}

	return {
		prepare() {
			// If it fails, who signs in tries again, and is told.
			load().catch(() => {});
		},

		async idle() {
			await Promise.all(underWay);
		},

		async handle(method, path, body, headers) {
			const answer = () => handle(method, path, body, headers);
			if (path !== "/sign-in/email") return answer();
			return signInTurns.run(headers.get(ADDRESS_HEADER) ?? "", answer);
		},

		async authenticate(headers) {
			const found = await findSession(headers);
			if (!found) return undefined;
			const { user, session, cookies } = found;
			const { rows } = await pool.query<{
				organization_id: string;
				role: Role;
			}>({
				name: "memberships_of_user",
				text: "select organization_id, role from memberships where user_id = $1 order by organization_id",
				values: [user.id],
			});
			return {
				principal: {
					kind: "USER",
					userId: user.id,
					name: user.name,
					sessionId: session.id,
					memberships: rows.map((row) => ({
						organizationId: row.organization_id,
						role: row.role,
					})),
				},
				cookies,
			};
		},
	};
}

/**
 * What attempts are counted by where a password is asked for. Who has signed in is counted apart,
 * so that a stolen session can neither guess the password nor keep its owner from signing in.
 */
function countedKey(path: string, { whose }: Subject): string | undefined {
	if (path === "/sign-in/email" && "email" in whose) return whose.email;
	return asksForPassword(path) && "id" in whose ? whose.id : undefined;
}

/** Whoever has just chosen a password does not want an older link to change it. */
async function forgetResetLinks(
	pool: Pool,
	whose: Subject["whose"],
): Promise<void> {
	if (!("id" in whose)) return;
	await pool.query("delete from account_links where user_id = $1", [whose.id]);
}

function fromOf(headers: Headers): From {
	const client = headers.get("user-agent")?.slice(0, MAX_CLIENT);
	const address = headers.get(ADDRESS_HEADER);
	return { ...(client && { client }), ...(address && { address }) };
}

function emailIn(body: unknown): string {
	const { email } = (body ?? {}) as { email?: unknown };
	return typeof email === "string" ? email : "";
}

function tooManyAttempts(waitSeconds: number): Response {
	return Response.json(
		{
			code: "TOO_MANY_ATTEMPTS",
			message: `too many wrong passwords; try again in ${Math.ceil(waitSeconds / 60)} minutes`,
		},
		{ status: 429, headers: { "retry-after": String(waitSeconds) } },
	);
}

async function countCodes(auth: Auth, userId: string): Promise<Response> {
	return Response.json({
		left: (await recoveryCodesLeft(auth, userId)).length,
	});
}

async function withMeantCode(
	auth: Auth,
	userId: string,
	body: unknown,
): Promise<unknown> {
	const given = (body ?? {}) as Record<string, unknown>;
	return { ...given, code: await meantCode(auth, userId, given.code) };
}

function notSignedIn(): Response {
	return Response.json(
		{ code: "UNAUTHORIZED", message: "you are not signed in; sign in" },
		{ status: 401 },
	);
}
