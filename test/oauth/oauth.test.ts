import { afterAll, describe, expect, test } from "vitest";
import { MAX_UNUSED_CLIENTS } from "../../src/oauth/clients.ts";
import type { Json } from "../support/tools.ts";
import { OTHER_PORT, REDIRECT, startOauth } from "./oauth-stand.ts";

const {
	allow,
	ask,
	base,
	callTool,
	clientId,
	close,
	connect,
	document,
	origin,
	person,
	post,
	redeem,
	refresh,
	refusal,
	refusals,
	request,
	served,
	slow,
} = await startOauth();
afterAll(close);

describe("an authorization request", () => {
	const refusedDocument = (client: string, why: string) =>
		refusal("CLIENT_DOCUMENT", { client, why });

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
		refusals();
		const { status, body } = await ask({ redirect_uri });
		expect(status).toBe(400);
		expect(body.message).toContain("redirect_uri");
		const allowed = await person.call("allowApp", request({ redirect_uri }));
		expect(allowed.status).toBe(400);
		const line = refusal("REDIRECT_URI");
		expect(refusals()).toEqual([line, line]);
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
		const client = `${origin}${path}`;
		refusals();
		const { status, body } = await ask({ client_id: client });
		expect(status).toBe(400);
		expect(body.message).toContain(why);
		expect(refusals()).toEqual([refusedDocument(client, body.message)]);
	});

	test("whose document would be the third that is fetched for its user must wait", async () => {
		const waiting = ["/slow1", "/slow2"].map((path) =>
			ask({ client_id: `${origin}${path}` }),
		);
		await expect.poll(() => slow.length).toBe(2);
		const third = await ask({ client_id: `${origin}/third.json` });
		expect(third.status).toBe(503);
		expect(third.body.message).toContain("try again");
		for (const response of slow) response.end("{}");
		for (const { status } of await Promise.all(waiting))
			expect(status).toBe(400);
		const { status } = await ask({ client_id: `${origin}/third.json` });
		expect(status).toBe(200);
	});

	test("whose document names a script as redirect_uri is refused", async () => {
		document.redirect_uris = ["javascript:alert(1)"];
		const client = `${origin}/bad.json`;
		refusals();
		const { status, body } = await ask({ client_id: client });
		document.redirect_uris = [REDIRECT];
		expect(status).toBe(400);
		expect(body.message).toContain("redirect_uris");
		expect(refusals()).toEqual([refusedDocument(client, body.message)]);
	});

	test("whose document lies in a private network that is not allowed is refused", async () => {
		const client = "https://192.168.1.1/client.json";
		refusals();
		const { status, body } = await ask({ client_id: client });
		expect(status).toBe(400);
		expect(body.message).toContain("not a public address");
		expect(refusals()).toEqual([refusedDocument(client, body.message)]);
	});
});

test("an app is connected only by somebody who has just proven who they are", async () => {
	const { owner } = served.database;
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
		refusals();
		const second = await redeem(code);
		expect(second).toMatchObject({
			status: 400,
			body: { error: "invalid_grant" },
		});
		expect(refusals()).toEqual([refusal("CODE_REUSED")]);
		expect(await callTool(first.body.access_token)).toBe(401);
		expect((await refresh(first.body.refresh_token)).status).toBe(400);
	});

	test.each([
		["another verifier", { code_verifier: "x".repeat(43) }, ["CODE_VERIFIER"]],
		[
			"another client",
			{ client_id: "https://localhost/other.json" },
			["OTHER_CLIENT"],
		],
		["another redirect_uri", { redirect_uri: OTHER_PORT }, ["REDIRECT_URI"]],
		// Nobody's code was misused. Strangers could otherwise fill the log.
		["an invented code", { code: "asy_oac_invented" }, []],
		["another resource", { resource: "https://other.example/" }, []],
	])("is refused with %s, and still works for its client", async (_, fields, reasons) => {
		const code = await allow();
		refusals();
		expect((await redeem(code, fields)).status).toBe(400);
		expect(refusals()).toEqual(reasons.map((reason) => refusal(reason)));
		expect((await redeem(code)).status).toBe(200);
	});

	test("is refused after a minute", async () => {
		const code = await allow();
		await served.database.owner.query(
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
		await served.database.owner.query(
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
		refusals();
		expect((await refresh(first.refresh_token)).status).toBe(400);
		expect(refusals()).toEqual([refusal("REFRESH_TOKEN_REUSED")]);
		expect(await callTool(last.body.access_token)).toBe(401);
		expect((await refresh(last.body.refresh_token)).status).toBe(400);
	});

	test("of another client is refused", async () => {
		const { refresh_token } = await connect();
		const other = { client_id: "https://localhost/other.json" };
		refusals();
		expect((await refresh(refresh_token, other)).status).toBe(400);
		expect(refusals()).toEqual([refusal("OTHER_CLIENT")]);
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
		const organization_id = served.organizationId;
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
		const user = await served.signIn("member");
		const { access_token } = await connect({}, user);
		const organization_id = served.organizationId;
		const call = () => callTool(access_token, "listRisks", { organization_id });
		expect(await call()).toBe(200);
		await served.database.owner.query(
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
		await served.database.owner.query(
			"update api_tokens set secret_ends_at = now()",
		);
		expect(await callTool(access_token)).toBe(401);
	});

	test("that never came back is not listed and is removed", async () => {
		const before = (await person.use("listApiTokens")).api_tokens.length;
		await allow();
		await served.database.owner.query(
			"update connected_apps set code_ends_at = now() - interval '2 days' where connected_at is null",
		);
		const { api_tokens } = await person.use("listApiTokens");
		expect(api_tokens.length).toBe(before);
	});
});

test("clients that register with a wrong redirect_uri are refused, and a network fills the log with no more than 100 lines", async () => {
	const register = (redirect_uri: string) =>
		fetch(`${base}/oauth/register`, {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({ redirect_uris: [redirect_uri] }),
		});
	refusals();
	const response = await register("http://evil.example/");
	expect(response.status).toBe(400);
	const { error, error_description } = (await response.json()) as Json;
	expect(error).toBe("invalid_redirect_uri");
	const { client: _, ...line } = refusal("REDIRECT_URI", {
		why: error_description,
	});
	expect(refusals()).toEqual([line]);
	const more = Array.from({ length: 101 }, () => register("javascript:x"));
	for (const { status } of await Promise.all(more)) expect(status).toBe(400);
	expect(refusals()).toHaveLength(99);
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
		served.database.owner.query(
			`insert into oauth_clients (id, name, redirect_uris, is_registered)
			select 'filled ' || $1::text || n, 'A client', array[$2], $1::boolean
			from generate_series(1, $3) n`,
			[isRegistered, REDIRECT, MAX_UNUSED_CLIENTS],
		);
	await fill(false);
	expect(await register()).toBe(201);
	await fill(true);
	expect(await register()).toBe(503);
	await served.database.owner.query(
		"delete from oauth_clients where id like 'filled %'",
	);
	expect(await register()).toBe(201);
});
