import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import {
	auth,
	Client,
	type OAuthClientProvider,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { MAX_UNUSED_CLIENTS } from "../../src/oauth/clients.ts";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { sendTo } from "../support/console-client.ts";
import {
	type Session,
	startConsole,
	type TestConsole,
} from "../support/console-session.ts";
import { findFreePort } from "../support/free-port.ts";
import type { Json } from "../support/tools.ts";

const REDIRECT = "http://127.0.0.1:1455/callback";
const OTHER_PORT = "http://127.0.0.1:40123/callback";

let console_: TestConsole;
let base: string;
let person: Session;
/** The address of the client's document, which is its id. */
let clientId: string;
/** What the document says. A test may change it. */
let document: Record<string, unknown>;
let documents: ReturnType<typeof createServer>;
/** Requests for documents that wait until the test answers them. */
const slow: ServerResponse[] = [];
const trusted = getCACertificates();
beforeAll(async () => {
	setDefaultCACertificates([...trusted, CERTIFICATE]);
	documents = createServer(
		{ key: PRIVATE_KEY, cert: CERTIFICATE },
		(request, response) => {
			if (request.url === "/moved") {
				response.writeHead(302, { location: "/client.json" }).end();
				return;
			}
			if (request.url?.startsWith("/slow")) {
				slow.push(response);
				return;
			}
			response.end(
				request.url === "/large"
					? " ".repeat(20_000)
					: JSON.stringify({
							...document,
							client_id: `${origin()}${request.url}`,
						}),
			);
		},
	);
	documents.listen(0, "127.0.0.1");
	await once(documents, "listening");
	clientId = `${origin()}/client.json`;
	document = { client_name: "A client", redirect_uris: [REDIRECT] };
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	console_ = await startConsole({
		ASSAY_PORT: String(port),
		ASSAY_BASE_URL: base,
		ASSAY_OAUTH: "on",
		ASSAY_OAUTH_REGISTRATION: "on",
		ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
	});
	person = await console_.signIn("member");
});
afterAll(async () => {
	setDefaultCACertificates(trusted);
	documents.close();
	await console_.close();
});

const origin = () =>
	`https://localhost:${(documents.address() as AddressInfo).port}`;

const verifier = randomBytes(32).toString("base64url");
const challenge = createHash("sha256").update(verifier).digest("base64url");

const request = (fields: Record<string, unknown> = {}) => ({
	client_id: clientId,
	redirect_uri: REDIRECT,
	response_type: "code",
	code_challenge: challenge,
	code_challenge_method: "S256",
	state: "12345678901234567890",
	resource: `${base}/api/mcp/v1`,
	...fields,
});

/** Asks as the consent page does. */
const ask = (fields: Record<string, unknown> = {}) =>
	sendTo(base, "/api/oauth/request", request(fields), {
		cookie: person.cookie,
	});

/** Allows the app as the consent page does. Returns the code. */
async function allow(fields: Record<string, unknown> = {}) {
	expect((await ask(fields)).status).toBe(200);
	const { redirect_to } = await person.use("allowApp", request(fields));
	return new URL(redirect_to).searchParams.get("code") ?? "";
}

async function post(path: string, form: Record<string, string>) {
	const response = await fetch(`${base}${path}`, {
		method: "POST",
		body: new URLSearchParams(form),
	});
	return { status: response.status, body: (await response.json()) as Json };
}

const redeem = (code: string, fields: Record<string, string> = {}) =>
	post("/oauth/token", {
		grant_type: "authorization_code",
		code,
		code_verifier: verifier,
		client_id: clientId,
		redirect_uri: REDIRECT,
		...fields,
	});

const refresh = (refresh_token: string, fields: Record<string, string> = {}) =>
	post("/oauth/token", {
		grant_type: "refresh_token",
		refresh_token,
		client_id: clientId,
		...fields,
	});

const callTool = async (token: string, tool = "listOrganizations", body = {}) =>
	(
		await fetch(`${base}/api/mcp/tools/${tool}`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${token}`,
				"content-type": "application/json",
			},
			body: JSON.stringify(body),
		})
	).status;

const connect = async (fields: Record<string, unknown> = {}) =>
	(await redeem(await allow(fields))).body;

describe("the official client", () => {
	/** A client that keeps what it gets, and whose user allows everything. */
	function makeProvider(
		registration: Partial<OAuthClientProvider>,
	): OAuthClientProvider & { code: string } {
		let information: never;
		let tokens: never;
		let kept = "";
		const provider = {
			code: "",
			redirectUrl: OTHER_PORT,
			clientMetadata: {
				client_name: "The official client",
				redirect_uris: [OTHER_PORT],
			},
			clientInformation: () => information,
			saveClientInformation: (given: never) => {
				information = given;
			},
			tokens: () => tokens,
			saveTokens: (given: never) => {
				tokens = given;
			},
			saveCodeVerifier: (given: string) => {
				kept = given;
			},
			codeVerifier: () => kept,
			redirectToAuthorization: async (url: URL) => {
				const page = await fetch(url, { redirect: "manual" });
				const shown = new URL(page.headers.get("location") ?? "", base);
				expect(shown.pathname).toBe("/connect-app");
				const asked = Object.fromEntries(
					new URLSearchParams(shown.hash.slice(1)),
				);
				const found = await sendTo(base, "/api/oauth/request", asked, {
					cookie: person.cookie,
				});
				expect(found.status, JSON.stringify(found.body)).toBe(200);
				const { redirect_to } = await person.use("allowApp", asked);
				provider.code = new URL(redirect_to).searchParams.get("code") ?? "";
			},
			...registration,
		};
		return provider as never;
	}

	test.each([
		["a document about itself", () => ({ clientMetadataUrl: clientId })],
		["a registration", () => ({})],
	])("connects with %s, calls a tool, and refreshes", async (_, registration) => {
		const provider = makeProvider(registration());
		const serverUrl = `${base}/api/mcp/v1`;
		expect(await auth(provider, { serverUrl })).toBe("REDIRECT");
		const done = await auth(provider, {
			serverUrl,
			authorizationCode: provider.code,
			iss: base,
		});
		expect(done).toBe("AUTHORIZED");
		const client = new Client({ name: "test", version: "1" });
		await client.connect(
			new StreamableHTTPClientTransport(new URL(serverUrl), {
				authProvider: provider,
			}),
		);
		const found = await client.callTool({ name: "listOrganizations" });
		expect(found.structuredContent).toMatchObject({
			organizations: [{ id: console_.organizationId }],
		});
		await client.close();
		const before = (await provider.tokens())?.access_token ?? "";
		expect(await auth(provider, { serverUrl })).toBe("AUTHORIZED");
		const after = (await provider.tokens())?.access_token ?? "";
		expect(await callTool(before)).toBe(401);
		expect(await callTool(after)).toBe(200);
	});
});

describe("discovery", () => {
	test("a 401 of the tool server names the metadata, which name the authorization server", async () => {
		const refused = await fetch(`${base}/api/mcp/v1`, { method: "POST" });
		expect(refused.status).toBe(401);
		const url = `${base}/.well-known/oauth-protected-resource/api/mcp/v1`;
		expect(refused.headers.get("www-authenticate")).toBe(
			`Bearer resource_metadata="${url}"`,
		);
		const resource = await (await fetch(url)).json();
		expect(resource).toMatchObject({
			resource: `${base}/api/mcp/v1`,
			authorization_servers: [base],
		});
		const server = await (
			await fetch(`${base}/.well-known/oauth-authorization-server`)
		).json();
		expect(server).toMatchObject({
			issuer: base,
			code_challenge_methods_supported: ["S256"],
			client_id_metadata_document_supported: true,
			authorization_response_iss_parameter_supported: true,
		});
	});
});

describe("an authorization request", () => {
	test("is shown with the client's name, its host, and where the browser returns to", async () => {
		expect((await ask({ scope: "read" })).body).toMatchObject({
			app: {
				name: "A client",
				host: new URL(clientId).host,
				redirect_host: "a program on this computer",
				is_read_only: true,
			},
			deny_to: expect.stringMatching(
				/^http:\/\/127\.0\.0\.1:1455\/callback\?error=access_denied&/,
			),
		});
	});

	test.each([
		["another host", "https://evil.example/callback"],
		["another path", "http://127.0.0.1:1455/other"],
		["a query", `${REDIRECT}?to=x`],
		["a fragment", `${REDIRECT}#x`],
		["another scheme", "https://127.0.0.1:1455/callback"],
		["a name that begins alike", "http://127.0.0.1:1455@evil.example/callback"],
		["a script", "javascript:alert(1)//callback"],
	])("with a redirect_uri that has %s is refused and goes nowhere", async (_, redirect_uri) => {
		const { status, body } = await ask({ redirect_uri });
		expect(status).toBe(400);
		expect(body.message).toContain("redirect_uri");
		const allowed = await person.call("allowApp", request({ redirect_uri }));
		expect(allowed.status).toBe(400);
	});

	test("may name another port of this machine", async () => {
		expect((await ask({ redirect_uri: OTHER_PORT })).status).toBe(200);
	});

	test.each([
		["response_type", "token", "unsupported_response_type"],
		["code_challenge_method", "plain", "invalid_request"],
		["code_challenge", "short", "invalid_request"],
		["resource", "https://other.example/mcp", "invalid_target"],
		["scope", "admin", "invalid_scope"],
	])("with a wrong %s is explained, and leads back with the error only if the user wants it", async (field, value, error) => {
		const { body } = await ask({ [field]: value });
		expect(body).toMatchObject({
			message: expect.stringContaining(field),
			redirect_host: "a program on this computer",
		});
		const url = new URL(body.redirect_to);
		expect(Object.fromEntries(url.searchParams)).toMatchObject({
			error,
			state: "12345678901234567890",
			iss: base,
		});
		const { redirect_to } = await person.use(
			"allowApp",
			request({ [field]: value }),
		);
		expect(redirect_to).not.toContain("code=");
	});

	test.each([
		["leads elsewhere", "/moved", "status 302"],
		["is too large", "/large", "more than 16384 bytes"],
	])("whose document %s is refused", async (_, path, why) => {
		const { status, body } = await ask({ client_id: `${origin()}${path}` });
		expect(status).toBe(400);
		expect(body.message).toContain(why);
	});

	test("whose document would be the third that is fetched for its user must wait", async () => {
		const waiting = ["/slow1", "/slow2"].map((path) =>
			ask({ client_id: `${origin()}${path}` }),
		);
		await expect.poll(() => slow.length).toBe(2);
		const third = await ask({ client_id: `${origin()}/third.json` });
		expect(third.status).toBe(503);
		expect(third.body.message).toContain("try again");
		for (const response of slow) response.end("{}");
		for (const { status } of await Promise.all(waiting))
			expect(status).toBe(400);
		const { status } = await ask({ client_id: `${origin()}/third.json` });
		expect(status).toBe(200);
	});

	test("whose document names a script as redirect_uri is refused", async () => {
		const before = document;
		document = { ...before, redirect_uris: ["javascript:alert(1)"] };
		const { status, body } = await ask({ client_id: `${origin()}/bad.json` });
		document = before;
		expect(status).toBe(400);
		expect(body.message).toContain("redirect_uris");
	});

	test("whose document lies in a private network that is not allowed is refused", async () => {
		const { status, body } = await ask({
			client_id: "https://192.168.1.1/client.json",
		});
		expect(status).toBe(400);
		expect(body.message).toContain("not a public address");
	});
});

test("an app is connected only by somebody who has just proven who they are", async () => {
	const { owner } = console_.database;
	await owner.query(
		"update sessions set proved_at = now() - interval '1 hour' where user_id = $1",
		[person.user.id],
	);
	const { status, body } = await person.call("allowApp", request());
	await owner.query(
		"update sessions set proved_at = now() where user_id = $1",
		[person.user.id],
	);
	expect(status).toBe(403);
	expect(body.fields).toMatchObject([{ field: "proof" }]);
});

describe("a code", () => {
	test("works once; a second use ends the connection", async () => {
		const code = await allow();
		const first = await redeem(code);
		expect(first.status).toBe(200);
		expect(await callTool(first.body.access_token)).toBe(200);
		const second = await redeem(code);
		expect(second).toMatchObject({
			status: 400,
			body: { error: "invalid_grant" },
		});
		expect(await callTool(first.body.access_token)).toBe(401);
		expect((await refresh(first.body.refresh_token)).status).toBe(400);
	});

	test.each([
		["another verifier", { code_verifier: "x".repeat(43) }],
		["another client", { client_id: "https://localhost/other.json" }],
		["another redirect_uri", { redirect_uri: OTHER_PORT }],
		["an invented code", { code: "asy_oac_invented" }],
		["another resource", { resource: "https://other.example/" }],
	])("is refused with %s, and still works for its client", async (_, fields) => {
		const code = await allow();
		expect((await redeem(code, fields)).status).toBe(400);
		expect((await redeem(code)).status).toBe(200);
	});

	test("is refused after a minute", async () => {
		const code = await allow();
		await console_.database.owner.query(
			"update connected_apps set code_ends_at = now() where connected_at is null",
		);
		expect((await redeem(code)).body.error).toBe("invalid_grant");
	});

	test("of ten requests at once, at most one gets a token that works", async () => {
		const code = await allow();
		const answers = await Promise.all(
			Array.from({ length: 10 }, () => redeem(code)),
		);
		const given = answers.filter(({ status }) => status === 200);
		expect(given.length).toBe(1);
		// The others are attempts to use the code again, so the connection has ended.
		expect(await callTool(given[0]?.body.access_token)).toBe(401);
	});
});

describe("a refresh token", () => {
	test("may be repeated when the answer was lost, and later ends the connection", async () => {
		const first = await connect();
		const second = await refresh(first.refresh_token);
		const repeated = await refresh(first.refresh_token);
		expect([second.status, repeated.status]).toEqual([200, 200]);
		expect(await callTool(repeated.body.access_token)).toBe(200);
		await console_.database.owner.query(
			"update connected_apps set refreshed_at = now() - interval '2 minutes'",
		);
		expect((await refresh(first.refresh_token)).status).toBe(400);
		expect(await callTool(repeated.body.access_token)).toBe(401);
		const { api_tokens } = await person.use("listApiTokens");
		expect(api_tokens[0].status).toBe("REVOKED");
	});

	test("that was used long ago ends the connection, however many came after it", async () => {
		const first = await connect();
		// Somebody who stole it refreshes before the app does, and more than once.
		const stolen = await refresh(first.refresh_token);
		const next = await refresh(stolen.body.refresh_token);
		const last = await refresh(next.body.refresh_token);
		expect(await callTool(last.body.access_token)).toBe(200);
		expect((await refresh(first.refresh_token)).status).toBe(400);
		expect(await callTool(last.body.access_token)).toBe(401);
		expect((await refresh(last.body.refresh_token)).status).toBe(400);
	});

	test("of another client is refused", async () => {
		const { refresh_token } = await connect();
		const other = { client_id: "https://localhost/other.json" };
		expect((await refresh(refresh_token, other)).status).toBe(400);
		expect((await refresh(refresh_token)).status).toBe(200);
	});
});

describe("a connected app", () => {
	test("stands among the API tokens, and revoking it ends it between two calls", async () => {
		const { access_token, refresh_token, expires_in } = await connect({
			read_only: true,
			toolsets: ["risks"],
			expires_in_days: 30,
		});
		expect(expires_in).toBe(3600);
		const organization_id = console_.organizationId;
		const call = (tool: string) =>
			callTool(access_token, tool, { organization_id });
		expect(await call("listRisks")).toBe(200);
		expect(await call("addRisk")).toBe(403);
		expect(await call("listVendors")).toBe(403);
		const { api_tokens } = await person.use("listApiTokens");
		const [shown] = api_tokens;
		expect(shown).toMatchObject({
			name: "A client",
			status: "ACTIVE",
			app: { client_id: clientId },
			scopes: { read_only: true, toolsets: ["risks"] },
		});
		await person.use("revokeApiToken", { id: shown.id });
		expect(await call("listRisks")).toBe(401);
		expect((await refresh(refresh_token)).status).toBe(400);
	});

	test("loses what its user loses, between two calls", async () => {
		const user = await console_.signIn("member");
		const own = person;
		person = user;
		const { access_token } = await connect().finally(() => {
			person = own;
		});
		const organization_id = console_.organizationId;
		const call = () => callTool(access_token, "listRisks", { organization_id });
		expect(await call()).toBe(200);
		await console_.database.owner.query(
			"delete from memberships where user_id = $1",
			[user.user.id],
		);
		expect(await call()).toBe(403);
	});

	test("can end its connection itself", async () => {
		const { access_token, refresh_token } = await connect();
		expect((await post("/oauth/revoke", { token: refresh_token })).status).toBe(
			200,
		);
		expect(await callTool(access_token)).toBe(401);
	});

	test("ends its connection with an older refresh token too (RFC 7009)", async () => {
		const first = await connect();
		const second = await refresh(first.refresh_token);
		const third = await refresh(second.body.refresh_token);
		const { access_token } = third.body;
		expect(await callTool(access_token)).toBe(200);
		const other = { client_id: "https://localhost/other.json" };
		const token = first.refresh_token;
		const refused = await post("/oauth/revoke", { token, ...other });
		expect([refused.status, refused.body.error]).toEqual([
			400,
			"invalid_grant",
		]);
		expect(await callTool(access_token)).toBe(200);

		const answer = await post("/oauth/revoke", { token, client_id: clientId });
		expect(answer.status).toBe(200);
		expect(await callTool(access_token)).toBe(401);
		expect((await refresh(third.body.refresh_token)).status).toBe(400);
		// A token that is unknown or no longer works is no error. None at all is one.
		expect((await post("/oauth/revoke", { token })).status).toBe(200);
		const unknown = { token: "unknown", token_type_hint: "access_token" };
		expect((await post("/oauth/revoke", unknown)).status).toBe(200);
		const none = await post("/oauth/revoke", {});
		expect([none.status, none.body.error]).toEqual([400, "invalid_request"]);
	});

	test("needs a fresh access token after an hour", async () => {
		const { access_token } = await connect();
		await console_.database.owner.query(
			"update api_tokens set secret_ends_at = now()",
		);
		expect(await callTool(access_token)).toBe(401);
	});

	test("that never came back is not listed and is removed", async () => {
		const before = (await person.use("listApiTokens")).api_tokens.length;
		await allow();
		await console_.database.owner.query(
			"update connected_apps set code_ends_at = now() - interval '2 days' where connected_at is null",
		);
		const { api_tokens } = await person.use("listApiTokens");
		expect(api_tokens.length).toBe(before);
	});
});

test("a client that registers with a wrong redirect_uri is refused", async () => {
	const response = await fetch(`${base}/oauth/register`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({ redirect_uris: ["http://evil.example/"] }),
	});
	expect(response.status).toBe(400);
	expect(await response.json()).toMatchObject({
		error: "invalid_redirect_uri",
	});
});

test("clients that registered and were never connected are limited, apart from those with a document", async () => {
	const register = async () => {
		const { status } = await fetch(`${base}/oauth/register`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ redirect_uris: [REDIRECT] }),
		});
		return status;
	};
	const fill = (isRegistered: boolean) =>
		console_.database.owner.query(
			`insert into oauth_clients (id, name, redirect_uris, is_registered)
			select 'filled ' || $1::text || n, 'A client', array[$2], $1::boolean
			from generate_series(1, $3) n`,
			[isRegistered, REDIRECT, MAX_UNUSED_CLIENTS],
		);
	await fill(false);
	expect(await register()).toBe(201);
	await fill(true);
	expect(await register()).toBe(503);
	await console_.database.owner.query(
		"delete from oauth_clients where id like 'filled %'",
	);
	expect(await register()).toBe(201);
});
