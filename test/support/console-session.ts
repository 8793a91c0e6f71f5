import type { Logger } from "pino";
import type { Role } from "../../src/principal.ts";
import { cookieNames, signCookie } from "../../src/sign-in/cookies.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { makeIdentityId } from "../../src/sign-in/users.ts";
import { type Answer, callOperation, PASSWORD } from "./console-client.ts";
import type { TestDatabase } from "./database.ts";
import { makeUser, type TestUser } from "./people.ts";
import {
	SERVICE_SECRET,
	shareService,
	startService,
	type TestService,
} from "./service.ts";

export interface Session {
	user: TestUser;
	cookie: string;
	/** Sends `input` to an operation with POST, as the console does. */
	call: (operation: string, input?: object) => Promise<Answer>;
	/** Returns the output of a call that must succeed. */
	use: (operation: string, input?: object) => Promise<Answer["body"]>;
	/** Sends a GET request with the session's cookie. */
	get: (path: string) => Promise<Response>;
}

export interface TestConsole extends TestService {
	/**
	 * Creates a user with this role and stores a session, as a sign-in with the password does. The
	 * audit log has no entry of it. A real sign-in takes 15 ms of the processor.
	 */
	signIn: (role: Role, organizationId?: string) => Promise<Session>;
}

/**
 * Stores a session of the user, as a sign-in with the password does, and returns its cookie.
 * `settings` are those of the service.
 */
export async function storeSession(
	database: TestDatabase,
	user: TestUser,
	settings: Record<string, string> = {},
): Promise<{ name: string; value: string }> {
	const { ASSAY_SECRET = SERVICE_SECRET, ASSAY_BASE_URL = "" } = settings;
	const id = makeIdentityId("session");
	await database.owner.query(
		`insert into sessions (id, user_id, token, expires_at)
		values ($1::text, $2, $1::text, now() + interval '7 days')`,
		[id, user.id],
	);
	return {
		name: cookieNames(ASSAY_BASE_URL).session,
		value: signCookie(id, ASSAY_SECRET),
	};
}

/**
 * Starts the whole service. The tests' users are signed in at its console. `settings` are added to the
 * default settings.
 */
export async function startConsole(
	settings: Record<string, string> = {},
	log?: Logger,
): Promise<TestConsole> {
	return withSessions(
		await startService(undefined, settings, undefined, log),
		settings,
	);
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareConsole(): Promise<TestConsole> {
	return withSessions(await shareService());
}

async function withSessions(
	running: TestService,
	settings: Record<string, string> = {},
): Promise<TestConsole> {
	const base = running.service.url;
	const passwordHash = await hashPassword(PASSWORD);

	const signIn: TestConsole["signIn"] = async (
		role,
		organizationId = running.organizationId,
	) => {
		const user = await makeUser(
			running.database,
			{ organizationId, role },
			{ passwordHash },
		);
		const { name, value } = await storeSession(
			running.database,
			user,
			settings,
		);
		const cookie = `${name}=${value}`;
		const call: Session["call"] = (operation, input = {}) =>
			callOperation(base, operation, input, cookie);
		return {
			user,
			cookie,
			call,
			use: async (operation, input) => {
				const { status, body } = await call(operation, input);
				if (status !== 200) {
					throw new Error(`${operation}: ${status} ${JSON.stringify(body)}`);
				}
				return body;
			},
			get: (path) => fetch(base + path, { headers: { cookie } }),
		};
	};
	return { ...running, signIn };
}
