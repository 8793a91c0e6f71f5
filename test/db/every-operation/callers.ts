import { setTimeout } from "node:timers/promises";
import { hashPassword } from "../../../src/sign-in/password-hash.ts";
import {
	callOperation,
	PASSWORD,
	sendTo,
} from "../../support/console-client.ts";
import { makeUser, type TestUser } from "../../support/people.ts";
import type { References } from "../../support/record-values.ts";
import type { TestService } from "../../support/service.ts";

/** Calls an operation in a session. Returns the body of the answer. */
// biome-ignore lint/suspicious/noExplicitAny: every operation has another answer.
export type Use = (name: string, input?: object) => Promise<any>;

export interface Caller {
	user: TestUser;
	cookie: string;
	/** Signs in once more. */
	enter: () => ReturnType<typeof sendTo>;
	use: Use;
}

export type SignIn = (
	role: "admin" | "member" | "viewer",
	organizationId: string,
) => Promise<Caller>;

/** The parts of the walk through all operations share this. */
export interface Walk {
	running: TestService;
	organization_id: string;
	/** The organization of `other`. */
	elsewhere: string;
	signIn: SignIn;
	admin: Caller;
	/** An administrator of another organization. */
	other: Caller;
	/** Records that the input of operations can name. */
	references: References;
}

/** Returns a function that makes users whose calls are noted in `answered`. */
export async function makeSignIn(
	{ service, database }: TestService,
	answered: Map<string, string>,
): Promise<SignIn> {
	const { url } = service;
	const passwordHash = await hashPassword(PASSWORD);
	return async (role, organizationId) => {
		const user = await makeUser(
			database,
			{ organizationId, role },
			{ passwordHash },
		);
		const enter = () =>
			sendTo(url, "/api/auth/sign-in/email", {
				email: user.email,
				password: PASSWORD,
			});
		const { cookie } = await enter();
		const use = async (name: string, input: object = {}) => {
			const call = () => callOperation(url, name, input, cookie);
			let { status, body } = await call();
			// On a busy machine, the service turns some of these many calls away.
			while (status === 503) {
				await setTimeout(200);
				({ status, body } = await call());
			}
			if (status === 200) answered.set(name, "200");
			else if (!answered.has(name)) {
				answered.set(name, `${status} ${JSON.stringify(body)}`);
			}
			return body;
		};
		return { user, cookie, enter, use };
	};
}
