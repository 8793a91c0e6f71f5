import { createHash, randomBytes, randomUUID } from "node:crypto";
import { makeId } from "../../src/id.ts";
import { createOrganization } from "../../src/organizations/organization-store.ts";
import { hashPassword } from "../../src/sign-in/password-hash.ts";
import { PASSWORD, sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import {
	CLIENT_ID,
	CLIENT_SECRET,
	type PersonAtProvider,
	startIdentityProvider,
} from "../support/identity-provider.ts";
import { makeUser, type TestUser } from "../support/people.ts";
import { startService } from "../support/service.ts";
import { openSmtpSink } from "../support/smtp-sink.ts";
import { Visitor } from "../support/visitor.ts";

export const START = "/api/sign-in-with-provider";
/** The domain of the addresses that the installation's provider may vouch for. */
export const DOMAIN = "verified.example";

export const personAt = (domain = "example.com"): PersonAtProvider => {
	const sub = randomUUID();
	return { sub, email: `${sub}@${domain}`, email_verified: true, name: "Ada" };
};

/** Starts a service for organizations that accept only their identity provider, and the provider. */
export async function startOnlyProvider() {
	const provider = await startIdentityProvider();
	const sink = await openSmtpSink();
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	provider.allow(base);
	const served = await startService(undefined, {
		...provider.settings(DOMAIN),
		ASSAY_PORT: String(port),
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		ASSAY_OAUTH: "on",
		ASSAY_OAUTH_REGISTRATION: "on",
		ASSAY_SMTP_URL: sink.url,
		ASSAY_MAIL_FROM: "Assay <assay@example.com>",
	});
	const passwordHash = await hashPassword(PASSWORD);

	const call = (operation: string, input: object, cookie: string) =>
		sendTo(base, `/api/console/${operation}`, input, { cookie });

	const query = (sql: string, values: unknown[] = []) =>
		served.database.owner.query(sql, values).then(({ rows }) => rows);

	const isPage = (url: URL) =>
		!url.pathname.startsWith("/api/") && url.port === new URL(base).port;

	async function signInWithPassword(email: string): Promise<string> {
		const { cookie } = await sendTo(base, "/api/auth/sign-in/email", {
			email,
			password: PASSWORD,
		});
		return cookie;
	}

	const setSecondFactor = (userId: string, isOn: boolean) =>
		query("update users set two_factor_enabled = $2 where id = $1", [
			userId,
			isOn,
		]);

	/**
	 * Signs in with the passkey that has the user's id. Two-factor authentication is on afterwards.
	 */
	async function signInWithPasskey({ id, email }: TestUser): Promise<string> {
		await setSecondFactor(id, false);
		const cookie = await signInWithPassword(email);
		await setSecondFactor(id, true);
		// The service stores this when a real passkey signs in.
		await query(
			`update sessions set passkey_id = $1 where id = (
				select id from sessions where user_id = $1 order by created_at desc limit 1
			)`,
			[id],
		);
		return cookie;
	}

	/** Makes a member with a password, and signs them in with it. */
	async function member(
		organizationId: string,
		role: "admin" | "member" | "viewer" = "member",
		email?: string,
	) {
		const user = await makeUser(
			served.database,
			{ organizationId, role },
			{ passwordHash, ...(email !== undefined && { email }) },
		);
		return { ...user, cookie: await signInWithPassword(user.email) };
	}

	async function signInAt(
		path: string,
		person: PersonAtProvider,
	): Promise<string> {
		provider.signInAs(person);
		const visitor = new Visitor();
		const { url } = await visitor.open(`${base}${path}`, isPage);
		if (url.searchParams.has("problem")) throw new Error(url.href);
		return visitor.cookieFor(base);
	}

	/**
	 * Makes an organization with a provider, an administrator who came in through it, and another one
	 * with a password, a passkey and two-factor authentication, who can have an emergency account.
	 */
	async function makeCompany() {
		const id = await createOrganization(served.database.pool, "Acme");
		const keeper = await member(id, "admin");
		await query(
			`insert into passkeys (id, user_id, rp_id, credential_id, public_key, name, can_sign_in, is_synced)
			values ($1::text, $1, 'localhost', convert_to($1::text, 'UTF8'), '\\x00', 'Key', true, false)`,
			[keeper.id],
		);
		keeper.cookie = await signInWithPasskey(keeper);
		const { body } = await call(
			"addIdentityProvider",
			{
				organization_id: id,
				kind: "OIDC",
				name: "Example Inc.",
				issuer: provider.issuer,
				client_id: CLIENT_ID,
				client_secret: CLIENT_SECRET,
				role: "viewer",
				group_roles: [{ group: "Security", role: "admin" }],
			},
			keeper.cookie,
		);
		const providerId = body.identity_provider.id as string;
		provider.allowRedirect(body.identity_provider.callback_url);
		await query(
			"update identity_providers set tested_at = now(), is_enabled = true where id = $1",
			[providerId],
		);
		const path = `${START}?provider=${providerId}`;
		const boss = await signInAt(path, { ...personAt(), groups: ["Security"] });
		const update = (fields: object, cookie = boss) =>
			call("updateSignInRule", { organization_id: id, ...fields }, cookie);
		return {
			id,
			providerId,
			path,
			boss,
			keeper,
			update,
			switchOn: async () => {
				const answer = await update({
					only_provider: true,
					emergency_user_ids: [keeper.id],
				});
				if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
				return answer.body.rule;
			},
		};
	}

	const read = (organization_id: string, cookie: string) =>
		call("listRisks", { organization_id }, cookie);

	const makeToken = async (cookie: string, fields: object = {}) =>
		(await call("createApiToken", { name: "Script", ...fields }, cookie)).body
			.token as string;

	/** Calls a tool over plain HTTP and over MCP. Returns both statuses, and the text of the first. */
	async function callTool(token: string, organization_id: string) {
		const post = (path: string, body: object) =>
			fetch(`${base}${path}`, {
				method: "POST",
				headers: {
					authorization: `Bearer ${token}`,
					"content-type": "application/json",
					accept: "application/json, text/event-stream",
				},
				body: JSON.stringify(body),
			});
		const plain = await post("/api/mcp/tools/listRisks", { organization_id });
		const mcp = await post("/api/mcp/v1", {
			jsonrpc: "2.0",
			id: 1,
			method: "tools/call",
			params: { name: "listRisks", arguments: { organization_id } },
		});
		await mcp.text();
		return { statuses: [plain.status, mcp.status], text: await plain.text() };
	}

	/** Connects a program with OAuth in the session. Returns its access token. */
	async function connectApp(cookie: string, fields: object = {}) {
		const redirect_uri = "http://127.0.0.1:1455/callback";
		const { body: registered } = await sendTo(base, "/oauth/register", {
			client_name: "A program",
			redirect_uris: [redirect_uri],
		});
		const verifier = randomBytes(32).toString("base64url");
		const { status, body } = await call(
			"allowApp",
			{
				client_id: registered.client_id,
				redirect_uri,
				response_type: "code",
				code_challenge: createHash("sha256")
					.update(verifier)
					.digest("base64url"),
				code_challenge_method: "S256",
				state: "12345678901234567890",
				...fields,
			},
			cookie,
		);
		if (status !== 200) return { status, token: "" };
		const response = await fetch(`${base}/oauth/token`, {
			method: "POST",
			body: new URLSearchParams({
				grant_type: "authorization_code",
				code: new URL(body.redirect_to).searchParams.get("code") ?? "",
				code_verifier: verifier,
				client_id: registered.client_id,
				redirect_uri,
			}),
		});
		const { access_token } = (await response.json()) as {
			access_token: string;
		};
		return { status, token: access_token };
	}

	const verify = (organizationId: string, domain: string) =>
		query(
			`insert into organization_domains (organization_id, id, domain, challenge, verified_by, verified_at)
			values ($1, $2, $3, repeat('x', 30), 'OPERATOR', now())`,
			[organizationId, makeId(organizationId, "domain"), domain],
		);

	/** Returns the next mail to this address. Mails about new sign-ins to others may come before it. */
	async function nextMailTo(address: string) {
		for (;;) {
			const mail = await sink.next();
			if (mail.to.includes(address)) return mail;
		}
	}

	return {
		served,
		base,
		call,
		query,
		setSecondFactor,
		signInWithPasskey,
		member,
		signInAt,
		makeCompany,
		read,
		makeToken,
		callTool,
		connectApp,
		verify,
		nextMailTo,
		close: async () => {
			await served.close();
			await provider.close();
			sink.close();
		},
	};
}
