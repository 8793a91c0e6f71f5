import { afterAll, beforeAll, expect, test } from "vitest";
import { makeSecret } from "../../src/tokens/secret.ts";
import { RawConnection } from "../support/raw-http.ts";
import { shareTools, type TestTools } from "../support/tools.ts";

let tools: TestTools;
beforeAll(async () => {
	tools = await shareTools();
});
afterAll(() => tools.close());

const RISK = {
	name: "Laptop theft",
	category: "Physical",
	treatment: "MITIGATED",
	inherent_likelihood: 4,
	inherent_impact: 5,
};

/** Calls a tool with GET, as the administrator by default. */
async function get(path: string, token = tools.admin.token) {
	const response = await fetch(`${tools.url}/api/mcp/tools/${path}`, {
		headers: { authorization: `Bearer ${token}` },
	});
	return {
		status: response.status,
		headers: response.headers,
		// biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects to be there.
		body: (await response.json()) as any,
	};
}

test("a tool called with POST returns its output as JSON", async () => {
	const { organizationId: organization_id } = tools;
	const { status, body, headers } = await tools.call("addRisk", {
		organization_id,
		...RISK,
	});
	expect(status).toBe(200);
	expect(headers.get("content-type")).toMatch("application/json");
	expect(headers.get("cache-control")).toBe("no-store");
	expect(headers.get("x-request-id")).toBeTruthy();
	expect(body.risk).toMatchObject({ ...RISK, inherent_risk_score: 20 });
	expect((await tools.use("getRisk", { id: body.risk.id })).risk).toEqual(
		body.risk,
	);
});

test("listOrganizations answers a GET without input, as a connectivity check", async () => {
	const { status, body } = await get("listOrganizations");
	expect(status).toBe(200);
	expect(JSON.stringify(body)).toContain(tools.organizationId);
});

test("a query string can contain numbers, parts of objects and the order", async () => {
	const organization = tools.organizationId;
	for (const name of ["Aardvark", "Badger", "Cormorant"]) {
		await tools.use("addRisk", {
			organization_id: organization,
			...RISK,
			name,
			category: "Query string",
		});
	}
	const { status, body } = await get(
		`listRisks?organization_id=${organization}&size=2&filter.category=Query%20string&filter.min_inherent_risk_score=20&order_by.field=name&order_by.direction=DESC`,
	);
	expect(body.message).toBeUndefined();
	expect(status).toBe(200);
	expect(body.risks.map(({ name }: { name: string }) => name)).toEqual([
		"Cormorant",
		"Badger",
	]);
	const next = await get(
		`listRisks?organization_id=${organization}&size=2&filter={"category":"Query string","min_inherent_risk_score":20}&order_by.field=name&order_by.direction=DESC&cursor=${body.next_cursor}`,
	);
	expect(next.body.risks.map(({ name }: { name: string }) => name)).toEqual([
		"Aardvark",
	]);
});

test("errors in a query string name the field in the same way as errors in JSON", async () => {
	const path = `listRisks?organization_id=${tools.organizationId}`;
	for (const [query, field] of [
		["size=many", "size"],
		["filter.treatment=HIDDEN", "filter.treatment"],
		["filter.colour=red", "filter"],
		["colour=red", ""],
		["__proto__=1", ""],
		["filter.__proto__.x=1", "filter"],
		["filter=[", "filter"],
		["filter.query=a%00b", "filter.query"],
		["size=1&size=2", "size"],
	]) {
		const { status, body } = await get(`${path}&${query}`);
		expect(status, query).toBe(400);
		expect(body.error).toBe("bad_request");
		expect(body.fields[0].field, query).toBe(field);
	}
});

test("a GET of a tool that writes is answered with 405 and Allow: POST", async () => {
	const { status, headers, body } = await get("addRisk");
	expect(status).toBe(405);
	expect(headers.get("allow")).toBe("POST");
	expect(body.message).toContain("POST");
});

test("other methods are answered with 405, and the response says which are permitted", async () => {
	for (const method of ["HEAD", "PUT", "DELETE", "PATCH", "OPTIONS"]) {
		const response = await fetch(`${tools.url}/api/mcp/tools/getRisk`, {
			method,
			headers: { authorization: `Bearer ${tools.admin.token}` },
		});
		expect(response.status, method).toBe(405);
		expect(response.headers.get("allow")).toBe("GET, POST");
	}
});

test("an unknown tool is answered with 404", async () => {
	for (const name of ["launchRocket", "", "getRisk/x", "__proto__"]) {
		const { status, body } = await tools.call(name);
		expect(status, name).toBe(404);
		expect(body.error).toBe("not_found");
	}
});

test("input that fails validation is answered with 400, and the error names each field", async () => {
	const { status, body } = await tools.call("addRisk", {
		organization_id: tools.organizationId,
		name: 7,
		treatment: "HIDDEN",
		colour: "red",
	});
	expect(status).toBe(400);
	expect(body.error).toBe("bad_request");
	const named = body.fields.map(({ field }: { field: string }) => field);
	expect(named).toEqual(
		expect.arrayContaining(["name", "treatment", "category", ""]),
	);
	expect(body.message).toContain("MITIGATED");
	expect(body.message).toContain('"colour"');
});

test("a body that is not a JSON object is answered with 400", async () => {
	for (const body of ["{", "[]", "7", '"x"', "null"]) {
		const answer = await tools.call("listOrganizations", body);
		expect(answer.status, body).toBe(400);
		expect(answer.body.error).toBe("bad_request");
	}
});

test("an empty body counts as an empty input", async () => {
	expect((await tools.call("listOrganizations", "")).status).toBe(200);
});

test("a body over the limit is answered with 400 and is not read to its end", async () => {
	const body = JSON.stringify({ name: "x".repeat(1024 * 1024) });
	const answer = await tools.call("addRisk", body);
	expect(answer.status).toBe(400);
	expect(answer.body.message).toContain("1048576");
});

test("U+0000 and half surrogate pairs are rejected, and the field is named", async () => {
	for (const text of ["a\\u0000b", "\\ud800", "\\udc00\\ud800"]) {
		const { status, body } = await tools.call(
			"listRisks",
			`{"organization_id":"${tools.organizationId}","filter":{"query":"${text}"}}`,
		);
		expect(status, text).toBe(400);
		expect(body.fields[0].field).toBe("filter.query");
	}
});

test("a viewer may not call a write tool: 403", async () => {
	const { status, body } = await tools.call(
		"addRisk",
		{ organization_id: tools.organizationId, ...RISK },
		tools.viewer.token,
	);
	expect(status).toBe(403);
	expect(body.error).toBe("forbidden");
	expect(body.message).toMatch(/^permission denied:/);
});

test("somebody else's organization and one that does not exist get the same 403", async () => {
	const ids = [tools.otherOrganizationId, "A".repeat(32), "nonsense"];
	const answers = await Promise.all(
		ids.map((organization_id) => tools.call("listRisks", { organization_id })),
	);
	for (const { status, body } of answers) {
		expect(status).toBe(403);
		expect(body).toEqual(answers[0]?.body);
	}
});

test("a record of another organization and a missing one get the same 404", async () => {
	const { risk } = await tools.use(
		"addRisk",
		{ organization_id: tools.otherOrganizationId, ...RISK },
		tools.stranger.token,
	);
	const foreign = await tools.call("getRisk", { id: risk.id });
	expect(foreign.status).toBe(404);
	const own = await tools.use("addRisk", {
		organization_id: tools.organizationId,
		...RISK,
	});
	await tools.use("deleteRisk", { id: own.risk.id });
	const gone = await tools.call("getRisk", { id: own.risk.id });
	expect(gone.status).toBe(404);
	expect(gone.body.message).toBe(
		foreign.body.message.replace(risk.id, own.risk.id),
	);
});

test("a missing, a malformed and an unknown token get 401, and the response says which it is", async () => {
	const url = `${tools.url}/api/mcp/tools/listOrganizations`;
	const { token } = tools.admin;
	const cases: [string | undefined, RegExp][] = [
		[undefined, /missing/],
		[`Bearer  ${token}`, /malformed/],
		[`bearer ${token}`, /malformed/],
		[`Basic ${token}`, /malformed/],
		[token, /malformed/],
		[`Bearer ${token.slice(0, -1)}`, /malformed/],
		[`Bearer ${makeSecret("pat")}`, /invalid/],
	];
	for (const [authorization, says] of cases) {
		const response = await fetch(url, {
			headers: authorization ? { authorization } : {},
		});
		expect(response.status, authorization).toBe(401);
		expect(response.headers.get("www-authenticate")).toBe("Bearer");
		const body = (await response.json()) as { error: string; message: string };
		expect(body.error).toBe("unauthorized");
		expect(body.message).toMatch(says);
	}
});

test("two Authorization headers count as malformed, even if one of them is right", async () => {
	const right = `authorization: Bearer ${tools.admin.token}\r\n`;
	const wrong = "authorization: Basic eHl6\r\n";
	for (const path of ["/api/mcp/tools/listOrganizations", "/api/mcp/health"]) {
		for (const headers of [right + wrong, wrong + right, right + right]) {
			const { status, body } = await new RawConnection(tools.url)
				.send(`GET ${path} HTTP/1.1\r\nhost: localhost\r\n${headers}\r\n`)
				.response("GET");
			expect(status).toBe(401);
			expect(body).toContain("malformed:");
		}
	}
});

test("a body that is not UTF-8 is answered with 400 and is not stored with replaced characters", async () => {
	const send = (path: string, body: string) =>
		fetch(`${tools.url}${path}`, {
			method: "POST",
			headers: {
				authorization: `Bearer ${tools.admin.token}`,
				"content-type": "application/json",
			},
			body: Buffer.from(body, "latin1"),
		});
	const input = JSON.stringify({
		organization_id: tools.organizationId,
		...RISK,
		name: "caf\u00e9",
	});
	const plain = await send("/api/mcp/tools/addRisk", input);
	expect(plain.status).toBe(400);
	expect(await plain.json()).toMatchObject({
		error: "bad_request",
		message: expect.stringContaining("UTF-8"),
	});
	const rpc = await send(
		"/api/mcp/v1",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"addRisk","arguments":${input}}}`,
	);
	expect(rpc.status).toBe(400);
	expect(await rpc.json()).toMatchObject({
		id: null,
		error: { code: -32700, message: expect.stringContaining("UTF-8") },
	});
});

test("the credential is checked before the tool, the method and the body", async () => {
	for (const [method, path] of [
		["POST", "launchRocket"],
		["GET", "addRisk"],
		["PUT", "getRisk"],
		["POST", "addRisk"],
	] as const) {
		const response = await fetch(`${tools.url}/api/mcp/tools/${path}`, {
			method,
			...(method === "GET" ? {} : { body: "{" }),
		});
		expect(response.status, `${method} ${path}`).toBe(401);
	}
});

test("a revoked token and a lost membership take effect with the next request", async () => {
	const user = await tools.makeUser({ [tools.organizationId]: "viewer" });
	const list = () =>
		tools.call(
			"listRisks",
			{ organization_id: tools.organizationId },
			user.token,
		);
	expect((await list()).status).toBe(200);
	await tools.database.owner.query(
		"delete from memberships where user_id = $1",
		[user.id],
	);
	expect((await list()).status).toBe(403);
	await tools.database.owner.query(
		"update api_tokens set revoked_at = now() where id = $1",
		[user.tokenId],
	);
	expect((await list()).status).toBe(401);
});

test("a tool that the token or the address excludes is missing over plain HTTP too", async () => {
	const path = `listRisks?organization_id=${tools.organizationId}`;
	expect((await get(`${path}&toolsets=risks,vendors`)).status).toBe(200);
	expect((await get(`${path}&toolsets=vendors`)).status).toBe(404);
	const unknown = await get(`${path}&toolsets=rockets`);
	expect(unknown.status).toBe(400);
	expect(unknown.body.message).toContain("risks");
	const write = await tools.call("addRisk?readonly=true");
	expect(write.status).toBe(404);
	for (const misspelt of ["read_only=true", "readonly"]) {
		expect((await tools.call(`addRisk?${misspelt}`)).status).toBe(400);
	}
});

test("null for an argument of a reading tool is the same as no argument", async () => {
	const { status } = await tools.call("listRisks", {
		organization_id: tools.organizationId,
		filter: null,
		order_by: null,
		size: null,
		cursor: null,
	});
	expect(status).toBe(200);
	const none = await tools.call("searchRecords", { query: null });
	expect(none.status).toBe(400);
});

test("a page of another origin is rejected: 403", async () => {
	const send = (origin: string) =>
		fetch(`${tools.url}/api/mcp/tools/listOrganizations`, {
			headers: { authorization: `Bearer ${tools.admin.token}`, origin },
		});
	for (const origin of [
		"https://evil.example.com",
		"null",
		"http://localhost:1",
		`${tools.url}.evil.example.com`,
	]) {
		expect((await send(origin)).status, origin).toBe(403);
	}
	expect((await send(tools.url)).status).toBe(200);
});

test("another host name that points to this machine is rejected: 403", async () => {
	const send = (host: string, path: string) =>
		new RawConnection(tools.url)
			.send(
				`GET ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${tools.admin.token}\r\n\r\n`,
			)
			.response("GET");
	for (const path of [
		"/api/mcp/tools/listOrganizations",
		"/api/mcp/health",
		"/api/mcp/v1/health",
	]) {
		for (const host of ["evil.example.com", "localhost.evil.com", "[", "a b"]) {
			expect((await send(host, path)).status, host).toBe(403);
		}
		for (const host of [
			"localhost",
			"LOCALHOST:8080",
			"127.0.0.1:1",
			"[::1]",
		]) {
			expect((await send(host, path)).status, host).toBe(200);
		}
	}
});
