import { pino } from "pino";
import { expect } from "vitest";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import {
	Authenticator,
	type Credential,
	type Deviation,
} from "../support/authenticator.ts";
import { type Answer, PASSWORD, sendTo } from "../support/console-client.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService, type TestService } from "../support/service.ts";

export const BASE = "http://localhost:8080";
export const authenticator = new Authenticator(BASE);

export interface PasskeyService {
	served: TestService;
	organizationId: string;
	/** The hash of PASSWORD. */
	passwordHash: string;
	/** The lines that the service has logged. */
	logLines: string[];
	/** Opens a browser that knows nobody. */
	openBrowser: (url?: string) => Browser;
	/** Makes an administrator of the organization, who is signed in. */
	makePerson: () => Promise<{ user: TestUser; browser: Browser }>;
}

export async function startPasskeyService(): Promise<PasskeyService> {
	const logLines: string[] = [];
	const served = await startService(
		undefined,
		{ ASSAY_BASE_URL: BASE },
		undefined,
		pino({ level: "warn" }, { write: (line) => logLines.push(line) }),
	);
	const passwordHash = await hashPassword(PASSWORD);
	const organizationId = await createOrganization(served.database.pool, "Acme");
	const open = (url = served.service.url) => openBrowser(url);
	return {
		served,
		organizationId,
		passwordHash,
		logLines,
		openBrowser: open,
		makePerson: async () => {
			const user = await makeUser(
				served.database,
				{ organizationId, role: "admin" },
				{ passwordHash },
			);
			const browser = open();
			await signIn(browser, user);
			return { user, browser };
		},
	};
}

/** A browser: it keeps its cookies, and sends requests from the pages of the service. */
export function openBrowser(url: string) {
	const jar = new Map<string, string>();
	const send = async (path: string, body?: object): Promise<Answer> => {
		const cookie = [...jar].map(([name, value]) => `${name}=${value}`);
		const answer = await sendTo(url, path, body, {
			cookie: cookie.join("; "),
		});
		for (const pair of answer.cookie.split("; ").filter(Boolean)) {
			const at = pair.indexOf("=");
			const [name, value] = [pair.slice(0, at), pair.slice(at + 1)];
			if (value) jar.set(name, value);
			else jar.delete(name);
		}
		return answer;
	};
	return {
		jar,
		send,
		auth: (path: string, body: object = {}) => send(`/api/auth/${path}`, body),
		call: (name: string, input: object = {}) =>
			send(`/api/console/${name}`, input),
	};
}
export type Browser = ReturnType<typeof openBrowser>;

export const signIn = (browser: Browser, { email }: TestUser) =>
	browser.auth("sign-in/email", { email, password: PASSWORD });

export async function addPasskey(
	browser: Browser,
	deviation: Deviation = {},
	name = "Phone",
): Promise<{ credential: Credential; answer: Answer }> {
	const options = await browser.auth("passkey/registration-options");
	expect(options.status).toBe(200);
	const { credential, response } = authenticator.make(options.body, deviation);
	const answer = await browser.auth("passkey/register", {
		name,
		passkey: response,
	});
	return { credential, answer };
}

/** Gets a challenge, signs it, and sends it. */
export async function use(
	browser: Browser,
	credential: Credential,
	deviation: Deviation = {},
	[options, path] = ["sign-in-options", "sign-in"],
): Promise<Answer> {
	const challenge = await browser.auth(`passkey/${options}`);
	expect(challenge.status).toBe(200);
	return browser.auth(
		`passkey/${path}`,
		authenticator.use(challenge.body, credential, deviation),
	);
}

export const status = async (browser: Browser) =>
	(await browser.call("getProfile")).status;
