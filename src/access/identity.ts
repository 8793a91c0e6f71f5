import { AppError, toAppError } from "../errors.ts";
import type { AuthParts, makeAuth } from "./better-auth.ts";
import type { Principal, Role } from "./principal.ts";
import { countAttempt, forgetAttempts } from "./sign-in-throttle.ts";

/** What of better-auth is open; a new release cannot open more. */
const OPEN_PATHS = new Set([
	"GET /get-session",
	"GET /list-sessions",
	"POST /sign-in/email",
	"POST /sign-out",
	"POST /change-password",
	"POST /revoke-session",
	"POST /revoke-sessions",
	"POST /revoke-other-sessions",
	"POST /two-factor/enable",
	"POST /two-factor/disable",
	"POST /two-factor/get-totp-uri",
	"POST /two-factor/verify-totp",
	"POST /two-factor/verify-backup-code",
	"POST /two-factor/generate-backup-codes",
]);

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
}

/**
 * Sign-in and sessions. better-auth is loaded with the first request that needs it: a
 * service that only agents and API tokens talk to never pays for it.
 */
export function makeIdentity(parts: AuthParts): Identity {
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

	return {
		async handle(method, path, body, headers) {
			if (!OPEN_PATHS.has(`${method} ${path}`)) {
				throw new AppError("not_found", "there is nothing at this address");
			}
			const email = path === "/sign-in/email" ? emailIn(body) : undefined;
			if (email !== undefined) {
				const waitSeconds = await countAttempt(pool, email);
				if (waitSeconds > 0) return tooManyAttempts(waitSeconds);
			}
			// better-auth answers 200 even when it could not delete the session.
			if (path === "/sign-out") await pool.query("select");
			const request = new Request(`${baseUrl}/api/auth${path}`, {
				method,
				headers,
				...(method === "POST" ? { body: JSON.stringify(body ?? {}) } : {}),
			});
			const auth = await load();
			let response: Response;
			try {
				response = await auth.handler(request);
			} catch (error) {
				throw await explain(error);
			}
			if (response.status >= 500) {
				log.error({ path, body: await response.text() }, "sign-in failed");
				throw await explain(new Error(`better-auth: ${response.status}`));
			}
			if (email !== undefined && response.ok) await forgetAttempts(pool, email);
			return response;
		},

		async authenticate(headers) {
			// Without a cookie of ours nobody has signed in: no query, and nothing to load.
			if (!headers.get("cookie")?.includes("assay.session_token=")) {
				return undefined;
			}
			const auth = await load();
			const found = await auth.api
				.getSession({ headers, returnHeaders: true })
				.catch(async (error) => {
					throw await explain(error);
				});
			const user = found.response?.user;
			if (!user) return undefined;
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
					memberships: rows.map((row) => ({
						organizationId: row.organization_id,
						role: row.role,
					})),
				},
				cookies: found.headers.getSetCookie(),
			};
		},
	};
}

function emailIn(body: unknown): string {
	const { email } = (body ?? {}) as { email?: unknown };
	return typeof email === "string" ? email : "";
}

function tooManyAttempts(waitSeconds: number): Response {
	return Response.json(
		{
			code: "TOO_MANY_ATTEMPTS",
			message: `too many attempts to sign in with this e-mail address; try again in ${Math.ceil(waitSeconds / 60)} minutes`,
		},
		{ status: 429, headers: { "retry-after": String(waitSeconds) } },
	);
}
