import type { Logger } from "pino";
import type { Role } from "../../src/principal.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import {
	type Answer,
	callOperation,
	PASSWORD,
	sendTo,
} from "./console-client.ts";
import { makeUser, type TestUser } from "./people.ts";
import { shareService, startService, type TestService } from "./service.ts";

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
	/** Creates a user with this role and signs them in. */
	signIn: (role: Role, organizationId?: string) => Promise<Session>;
}

/**
 * Starts the whole service. The tests' users are signed in at its console. `settings` are added to the
 * default settings.
 */
export async function startConsole(
	settings: Record<string, string> = {},
	log?: Logger,
): Promise<TestConsole> {
	return withSessions(await startService(undefined, settings, undefined, log));
}

/** Returns the same for the shared service, under the conditions of `shareService`. */
export async function shareConsole(): Promise<TestConsole> {
	return withSessions(await shareService());
}

async function withSessions(running: TestService): Promise<TestConsole> {
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
		const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
			email: user.email,
			password: PASSWORD,
		});
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
