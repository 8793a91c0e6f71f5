import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import {
	exportJWK,
	generateKeyPair,
	type JWTPayload,
	SignJWT,
	UnsecuredJWT,
} from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { sendTo } from "../support/console-client.ts";
import { findFreePort } from "../support/free-port.ts";
import { makeUser } from "../support/people.ts";
import { ReadableLog, refusedSignIn } from "../support/readable-log.ts";
import { startService, type TestService } from "../support/service.ts";
import { Visitor } from "../support/visitor.ts";

/*
 * A provider whose ID tokens are wrong in every way that OpenID Connect Core 1.0, section 3.1.3.7,
 * tells clients to refuse. The service must never sign anybody in with one of them.
 */

let server: Server;
let issuer: string;
let served: TestService;
let base: string;
/** Makes the ID token of the next sign-in from right claims. */
let makeToken: (claims: JWTPayload) => Promise<string>;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let foreignKeys: typeof keys;
let nonce: string;
const log = new ReadableLog();

beforeAll(async () => {
	keys = await generateKeyPair("RS256");
	foreignKeys = await generateKeyPair("RS256");
	const jwk = { ...(await exportJWK(keys.publicKey)), kid: "1", alg: "RS256" };
	server = createServer(async (request, response) => {
		const url = new URL(request.url ?? "", issuer);
		if (url.pathname === "/authorize") {
			nonce = url.searchParams.get("nonce") ?? "";
			const back = new URL(url.searchParams.get("redirect_uri") ?? "");
			back.searchParams.set("code", "code");
			back.searchParams.set("state", url.searchParams.get("state") ?? "");
			response.writeHead(302, { location: back.href }).end();
			return;
		}
		const seconds = Math.floor(Date.now() / 1000);
		const answer =
			url.pathname === "/token"
				? {
						access_token: "access",
						token_type: "Bearer",
						id_token: await makeToken({
							iss: issuer,
							aud: "assay",
							sub: "ada",
							nonce,
							iat: seconds,
							exp: seconds + 300,
							email: "ada@example.com",
							email_verified: true,
						}),
					}
				: url.pathname === "/jwks"
					? { keys: [jwk] }
					: {
							issuer,
							authorization_endpoint: `${issuer}/authorize`,
							token_endpoint: `${issuer}/token`,
							jwks_uri: `${issuer}/jwks`,
							response_types_supported: ["code"],
							subject_types_supported: ["public"],
							id_token_signing_alg_values_supported: ["RS256", "none", "HS256"],
						};
		response.setHeader("content-type", "application/json");
		response.end(JSON.stringify(answer));
	}).listen(0, "127.0.0.1");
	await once(server, "listening");
	issuer = `http://localhost:${(server.address() as AddressInfo).port}`;
	const port = await findFreePort();
	base = `http://localhost:${port}`;
	served = await startService(
		undefined,
		{
			ASSAY_PORT: String(port),
			ASSAY_OIDC_ISSUER: issuer,
			ASSAY_OIDC_CLIENT_ID: "assay",
			ASSAY_OIDC_CLIENT_SECRET: "secret",
			ASSAY_OIDC_DOMAINS: "example.com",
		},
		undefined,
		log.logger,
	);
	await makeUser(
		served.database,
		{ organizationId: served.organizationId, role: "admin" },
		{ email: "ada@example.com" },
	);
});
afterAll(async () => {
	await served.close();
	server.closeAllConnections();
	server.close();
});

const sign = (claims: JWTPayload, { privateKey } = keys, kid = "1") =>
	new SignJWT(claims)
		.setProtectedHeader({ alg: "RS256", kid })
		.sign(privateKey);

/** Signs in with a token. Returns the problem, or undefined if somebody is signed in. */
async function problemWith(make: typeof makeToken): Promise<string | null> {
	makeToken = make;
	const visitor = new Visitor();
	const { url } = await visitor.open(
		`${base}/api/sign-in-with-provider`,
		(one) => one.origin === base && !one.pathname.startsWith("/api/"),
	);
	const cookie = visitor.cookieFor(base);
	const { status } = await sendTo(
		base,
		"/api/console/getProfile",
		{},
		{ cookie },
	);
	const problem = url.searchParams.get("problem");
	expect(status).toBe(problem ? 401 : 200);
	return problem;
}

const minutes = (count: number) => Math.floor(Date.now() / 1000) + count * 60;

test("a right token signs in, also if the clocks differ by half a minute", async () => {
	expect(await problemWith((claims) => sign(claims))).toBeNull();
	expect(
		await problemWith((claims) => sign({ ...claims, exp: minutes(-0.5) })),
	).toBeNull();
});

test.each<[string, (claims: JWTPayload) => Promise<string>]>([
	["signed with another key", (claims) => sign(claims, foreignKeys)],
	[
		"signed with a key that the provider does not publish",
		(claims) => sign(claims, foreignKeys, "2"),
	],
	["without a signature", async (claims) => new UnsecuredJWT(claims).encode()],
	[
		"signed with the client's secret instead of the provider's key",
		(claims) =>
			new SignJWT(claims)
				.setProtectedHeader({ alg: "HS256" })
				.sign(new TextEncoder().encode("secret".padEnd(32, "."))),
	],
	[
		"whose claims were changed after signing",
		async (claims) => {
			const [header, , signature] = (await sign(claims)).split(".");
			const changed = Buffer.from(JSON.stringify({ ...claims, sub: "eve" }));
			return `${header}.${changed.toString("base64url")}.${signature}`;
		},
	],
	[
		"of another issuer",
		(claims) => sign({ ...claims, iss: "https://other.example.com" }),
	],
	["for another service", (claims) => sign({ ...claims, aud: "other" })],
	[
		"for several services, and not made for this one",
		(claims) => sign({ ...claims, aud: ["assay", "other"], azp: "other" }),
	],
	[
		"for another sign-in",
		(claims) => sign({ ...claims, nonce: "x".repeat(43) }),
	],
	["for no sign-in", ({ nonce: _, ...claims }) => sign(claims)],
	["that has expired", (claims) => sign({ ...claims, exp: minutes(-2) })],
	["that is not valid yet", (claims) => sign({ ...claims, nbf: minutes(2) })],
	["without a time at which it ends", ({ exp: _, ...claims }) => sign(claims)],
	["without a subject", ({ sub: _, ...claims }) => sign(claims)],
	["that is no token", async () => "a.b.c"],
])("a token %s is refused and logged, without the token", async (_, make) => {
	log.take();
	let token = "";
	const problem = await problemWith(async (claims) => {
		token = await make(claims);
		return token;
	});
	expect(problem).toBe("PROVIDER_FAILED");
	const lines = JSON.stringify(log.lines);
	for (const part of token.split(".")) {
		if (part.length > 10) expect(lines).not.toContain(part);
	}
	expect(log.take("provider_failed", "sign_in_failed")).toEqual([
		expect.objectContaining({ event: "provider_failed", issuer }),
		refusedSignIn("PROVIDER_FAILED"),
	]);
});
