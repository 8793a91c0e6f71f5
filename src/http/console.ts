import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError } from "../errors.ts";
import { invoke, type Services } from "../invoke.ts";
import { FairShares } from "../load/fair-shares.ts";
import { findOperation } from "../operations.ts";
import {
	joinByInvitation,
	joinInput,
} from "../organizations/join-by-invitation.ts";
import { MAX_CLIENT_LENGTH } from "../principal.ts";
import { ADDRESS_HEADER } from "../sign-in/address-header.ts";
import type { From } from "../sign-in/exchange.ts";
import type { Identity } from "../sign-in/identity.ts";
import type { ResetParts } from "../sign-in/password-reset.ts";
import { parseInput } from "../validation.ts";
import { addAccount } from "./account.ts";
import type { AddressOf } from "./client-address.ts";
import { addConsoleCsv, type WhoAsks } from "./console-csv.ts";
import { requireSameOrigin } from "./same-origin.ts";

const AUTH = "/api/auth";
const MAX_AUTH_BODY = 16 * 1024;
const CALLS_OF_A_SESSION = { running: 6, waiting: 26 };

export interface ConsoleParts {
	services: Services;
	identity: Identity;
	account: ResetParts;
	addressOf: AddressOf;
}

/**
 * What the console calls, with the cookie of a session: every operation at
 * /api/console/<operation>, sign-in and sessions below /api/auth, and /api/join for who was
 * invited and has no account. Only pages of the service itself may.
 */
export function addConsole(
	app: FastifyInstance,
	{ services, identity, account, addressOf }: ConsoleParts,
): void {
	const { baseUrl } = services;
	const fromOf = (request: FastifyRequest): From => {
		const client = request.headers["user-agent"]?.slice(0, MAX_CLIENT_LENGTH);
		const address = addressOf(request.raw);
		return { ...(client && { client }), ...(address && { address }) };
	};
	const shares = new FairShares(CALLS_OF_A_SESSION);

	app.route({
		method: ["GET", "POST"],
		url: `${AUTH}/*`,
		bodyLimit: MAX_AUTH_BODY,
		handler: async (request, reply) => {
			refuseOthersPages(request, baseUrl);
			const path = request.url.split("?", 1)[0]?.slice(AUTH.length) ?? "";
			const response = await identity.handle(
				request.method,
				path,
				request.body,
				headersOf(request, baseUrl, addressOf(request.raw) ?? ""),
			);
			return sendResponse(reply, response);
		},
	});

	/** Who is signed in, at a page of ours. */
	const whoAsks: WhoAsks = async (request, reply) => {
		refuseOthersPages(request, baseUrl);
		const signedIn = await identity.authenticate(
			headersOf(request, baseUrl, addressOf(request.raw) ?? ""),
		);
		if (!signedIn) {
			throw new AppError("unauthorized", "you are not signed in; sign in");
		}
		for (const cookie of signedIn.cookies) reply.header("set-cookie", cookie);
		return { ...signedIn.principal, ...fromOf(request) };
	};
	addConsoleCsv(app, services, whoAsks);

	app.post<{ Params: { operation: string } }>(
		"/api/console/:operation",
		async (request, reply) => {
			const principal = await whoAsks(request, reply);
			const operation = findOperation(request.params.operation);
			if (!operation) {
				throw new AppError("not_found", "there is no such operation");
			}
			return shares.run(principal.sessionId ?? "", () =>
				invoke(services, principal, operation, request.body, request.id),
			);
		},
	);

	addAccount(app, account, {
		refuseOthersPages: (request) => refuseOthersPages(request, baseUrl),
		fromOf,
	});

	app.post("/api/join", { bodyLimit: MAX_AUTH_BODY }, async (request) => {
		refuseOthersPages(request, baseUrl);
		const input = parseInput(joinInput, request.body ?? {});
		return joinByInvitation(services.pool, input);
	});
}

/**
 * Throws forbidden unless the page that sent the request is ours. A browser names the page's
 * origin with everything that can change something; without a name it may be any page.
 */
function refuseOthersPages(request: FastifyRequest, baseUrl: string): void {
	requireSameOrigin(request.raw, baseUrl);
	const { origin } = request.headers;
	const isSafe = request.method === "GET";
	if (origin === baseUrl || (isSafe && origin === undefined)) return;
	// Over TLS the base URL alone: a page of the same name without TLS may be anybody's.
	if (origin === undefined || baseUrl.startsWith("https:")) {
		throw new AppError(
			"forbidden",
			`this address is for the web console at ${baseUrl}; programs use an API token and ${baseUrl}/api/mcp/tools/<tool>`,
		);
	}
}

/** What better-auth may know of a request: the cookie, and whence it came. */
function headersOf(
	request: FastifyRequest,
	baseUrl: string,
	address: string,
): Headers {
	const headers = new Headers({
		"content-type": "application/json",
		// The page was found to be ours above; better-auth knows us by one name alone.
		origin: baseUrl,
		[ADDRESS_HEADER]: address,
	});
	for (const name of ["cookie", "user-agent"] as const) {
		const value = request.headers[name];
		if (value !== undefined) headers.set(name, value);
	}
	return headers;
}

async function sendResponse(
	reply: FastifyReply,
	response: Response,
): Promise<string> {
	reply.status(response.status);
	for (const [name, value] of response.headers) {
		if (name !== "content-length") reply.header(name, value);
	}
	return response.text();
}
