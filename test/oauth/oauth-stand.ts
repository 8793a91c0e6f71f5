import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { CERTIFICATE, PRIVATE_KEY } from "../agent/certificate.ts";
import { sendTo } from "../support/console-client.ts";
import { startConsole } from "../support/console-session.ts";
import { findFreePort } from "../support/free-port.ts";
import { type LogLine, ReadableLog } from "../support/readable-log.ts";
import type { Json } from "../support/tools.ts";

export const REDIRECT = "http://127.0.0.1:1455/callback";
export const OTHER_PORT = "http://127.0.0.1:40123/callback";

/** Starts the service, and a website with the document of a program that wants to connect. */
export async function startOauth() {
	const trusted = getCACertificates();
	setDefaultCACertificates([...trusted, CERTIFICATE]);
	/** What the document says. A test may change it. */
	const document: Record<string, unknown> = {
		client_name: "A client",
		redirect_uris: [REDIRECT],
	};
	/** Requests for documents that wait until the test answers them. */
	const slow: ServerResponse[] = [];
	const documents = createServer(
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
							client_id: `${origin}${request.url}`,
						}),
			);
		},
	);
	documents.listen(0, "127.0.0.1");
	await once(documents, "listening");
	const origin = `https://localhost:${(documents.address() as AddressInfo).port}`;
	/** The address of the client's document, which is its id. */
	const clientId = `${origin}/client.json`;
	const port = await findFreePort();
	const base = `http://localhost:${port}`;
	const log = new ReadableLog();
	const served = await startConsole(
		{
			ASSAY_PORT: String(port),
			ASSAY_BASE_URL: base,
			ASSAY_OAUTH: "on",
			ASSAY_OAUTH_REGISTRATION: "on",
			ASSAY_OUTGOING_NETWORKS: "127.0.0.1",
		},
		log.logger,
	);
	const person = await served.signIn("member");

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
	const ask = (fields: Record<string, unknown> = {}, who = person) =>
		sendTo(base, "/api/oauth/request", request(fields), { cookie: who.cookie });

	/** Allows the app as the consent page does. Returns the code. */
	async function allow(
		fields: Record<string, unknown> = {},
		who = person,
	): Promise<string> {
		const { status, body } = await ask(fields, who);
		if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`);
		const { redirect_to } = await who.use("allowApp", request(fields));
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

	const refresh = (
		refresh_token: string,
		fields: Record<string, string> = {},
	) =>
		post("/oauth/token", {
			grant_type: "refresh_token",
			refresh_token,
			client_id: clientId,
			...fields,
		});

	const callTool = async (
		token: string,
		tool = "listOrganizations",
		body = {},
	) =>
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

	const connect = async (fields: Record<string, unknown> = {}, who = person) =>
		(await redeem(await allow(fields, who))).body;

	/** Returns the lines about refused programs since the last call. */
	const refusals = () => log.take("oauth_refused");
	const refusal = (reason: string, more: LogLine = {}): LogLine => ({
		level: 40,
		event: "oauth_refused",
		reason,
		client: clientId,
		address: "127.0.0.1",
		...more,
	});

	return {
		served,
		base,
		person,
		origin,
		clientId,
		document,
		slow,
		request,
		ask,
		allow,
		post,
		redeem,
		refresh,
		callTool,
		connect,
		refusals,
		refusal,
		close: async () => {
			setDefaultCACertificates(trusted);
			documents.close();
			await served.close();
		},
	};
}
