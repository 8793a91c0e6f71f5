import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
	auth,
	Client,
	type OAuthClientProvider,
	StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import { afterAll, describe, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import { makeFolder } from "../support/folder.ts";
import { findFreePort } from "../support/free-port.ts";
import type { Json } from "../support/tools.ts";
import { OTHER_PORT, startOauth } from "./oauth-stand.ts";

/** The official conformance suite, which also tests authorization servers. */
const SUITE = join(
	import.meta.dirname,
	"../../node_modules/@modelcontextprotocol/conformance/dist/index.js",
);

const { base, callTool, clientId, close, person, served } = await startOauth();
afterAll(close);

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

test("every scenario for authorization servers passes", async () => {
	const port = await findFreePort();
	const registered = await fetch(`${base}/oauth/register`, {
		method: "POST",
		headers: { "content-type": "application/json" },
		body: JSON.stringify({
			redirect_uris: [`http://127.0.0.1:${port}/callback`],
		}),
	}).then((answer) => answer.json() as Promise<Json>);
	const folder = await makeFolder("assay-conformance-");
	try {
		const child = spawn(
			process.execPath,
			[
				SUITE,
				"authorization",
				`--url=${base}`,
				`--client-id=${registered.client_id}`,
				`--resource=${base}/api/mcp/v1`,
				`--port=${port}`,
				`--output-dir=${folder}`,
			],
			{ stdio: ["ignore", "pipe", "inherit"] },
		);
		const ended = once(child, "exit");
		let address: URL | undefined;
		for await (const line of createInterface(child.stdout)) {
			if (line.startsWith(`${base}/oauth/authorize`)) address = new URL(line);
			// The suite then waits for the browser. We allow the program, as the consent page does.
			if (!address || !line.startsWith("Callback server started")) continue;
			const { redirect_to } = await person.use(
				"allowApp",
				Object.fromEntries(address.searchParams),
			);
			await (await fetch(redirect_to)).text();
		}
		await ended;
		const checks = await Promise.all(
			(await readdir(folder)).map(async (name) =>
				JSON.parse(await readFile(join(folder, name, "checks.json"), "utf8")),
			),
		);
		const results = checks.flat().map(({ id, status }) => [id, status]);
		expect(Object.fromEntries(results)).toEqual({
			"authorization-server-metadata": "SUCCESS",
			"authorization-server-metadata-cimd": "SUCCESS",
			"authorization-code-grant": "SUCCESS",
		});
	} finally {
		await rm(folder, { recursive: true });
	}
});

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
			organizations: [{ id: served.organizationId }],
		});
		await client.close();
		const before = (await provider.tokens())?.access_token ?? "";
		expect(await auth(provider, { serverUrl })).toBe("AUTHORIZED");
		const after = (await provider.tokens())?.access_token ?? "";
		expect(await callTool(before)).toBe(401);
		expect(await callTool(after)).toBe(200);
	});
});
