import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { AppError, overloaded } from "../errors.ts";
import { invoke, type Services } from "../invoke.ts";
import { callsOfUsers } from "../load/calls-of-users.ts";
import { FairShares } from "../load/fair-shares.ts";
import { findOperation } from "../operations.ts";
import type { ClosedOrganizations } from "../organizations/closed-organizations.ts";
import {
	joinByInvitation,
	joinInput,
} from "../organizations/join-by-invitation.ts";
import { MAX_CLIENT_LENGTH } from "../principal.ts";
import { ADDRESS_HEADER } from "../sign-in/address-header.ts";
import type { From } from "../sign-in/exchange.ts";
import type { Identity } from "../sign-in/identity.ts";
import { notSignedIn } from "../sign-in/not-signed-in.ts";
import type { ResetParts } from "../sign-in/password-reset.ts";
import { UNATTENDED_HEADER } from "../sign-in/unattended-header.ts";
import { parseInput } from "../validation.ts";
import { addAccount } from "./account.ts";
import {
	type AdmissionParts,
	callerOf,
	MAX_STRANGERS_BODY,
} from "./admission.ts";
import type { AddressOf } from "./client-address.ts";
import { encodeBody } from "./compression.ts";
import { addConsoleCsv } from "./console-csv.ts";
import { addConsoleFileRoutes } from "./file-door.ts";
import { addMyDevices } from "./my-devices.ts";
import {
	addOrganizationFile,
	type ExportConnections,
} from "./organization-file.ts";
import { addProviderSignIn, type ProviderParts } from "./provider-sign-in.ts";
import { takeSource } from "./read-source.ts";
import { addSaml } from "./saml.ts";
import { addSignDocument } from "./sign-document.ts";
import { addStopMails } from "./stop-mails.ts";

const AUTH = "/api/auth";
const CALLS_OF_A_SESSION = { running: 6, waiting: 26 };

export interface ConsoleParts {
	services: Services;
	identity: Identity;
	account: ResetParts;
	providerSignIn: ProviderParts["providerSignIn"];
	closed: ClosedOrganizations;
	addressOf: AddressOf;
	exportConnections: ExportConnections;
}

/**
 * Adds the routes that the console calls. Every operation is at /api/console/<operation> and
 * requires the cookie of a session. Sign-in and sessions are below /api/auth. People who were
 * invited and have no account yet use /api/join. Only the service's own pages may call these
 * routes.
 */
export function addConsole(
	app: FastifyInstance,
	{
		services,
		identity,
		account,
		providerSignIn,
		addressOf,
		closed,
		exportConnections,
	}: ConsoleParts,
): void {
	const { baseUrl } = services;
	const shares = new FairShares(CALLS_OF_A_SESSION);

	app.route({
		method: ["GET", "POST"],
		url: `${AUTH}/*`,
		bodyLimit: MAX_STRANGERS_BODY,
		config: { admits: "page" },
		handler: async (request, reply) => {
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

	addConsoleCsv(app, services);
	addConsoleFileRoutes(app, services);
	addOrganizationFile(app, services, exportConnections);

	app.post<{ Params: { operation: string } }>(
		"/api/console/:operation",
		{
			config: { admits: "session" },
			onRequest: async (request) => {
				const { sessionId, userId } = callerOf(request);
				const why =
					shares.whyFull(sessionId ?? "") ?? callsOfUsers.whyFull(userId ?? "");
				if (why !== undefined) throw overloaded(why);
			},
		},
		async (request, reply) => {
			const caller = callerOf(request);
			const operation = findOperation(request.params.operation);
			if (!operation) {
				throw new AppError(
					"not_found",
					`there is no operation "${request.params.operation.slice(0, 80)}"; use the name of a tool, such as listRisks`,
				);
			}
			const query = new URLSearchParams(request.url.split("?")[1]);
			const source = takeSource(services, query);
			const output = await shares.run(caller.sessionId ?? "", () =>
				callsOfUsers.run(caller.userId ?? "", () =>
					invoke(source.services, caller, operation, request.body, request.id),
				),
			);
			reply.headers(source.headers());
			// No tool that only reads returns a secret. Other operations may.
			if (operation.surface !== "tool" || !operation.isReadOnly) return output;
			const { headers, body } = await encodeBody(
				JSON.stringify(output),
				request.headers,
			);
			return reply
				.headers(headers)
				.type("application/json; charset=utf-8")
				.send(body);
		},
	);

	addSaml(app, {
		baseUrl,
		providerSignIn,
		fromOf: (request) => sourceOf(request, addressOf),
	});
	addProviderSignIn(app, {
		baseUrl,
		pool: account.pool,
		passwordSignIn: account.passwordSignIn,
		providerName: account.providerName,
		providerSignIn,
		findCaller: async (request) => {
			const headers = headersOf(request, baseUrl, addressOf(request.raw) ?? "");
			const signedIn = await identity.authenticate(headers);
			return signedIn && closed.limit(signedIn.principal);
		},
		fromOf: (request) => sourceOf(request, addressOf),
	});
	addAccount(app, account, (request) => sourceOf(request, addressOf));
	addStopMails(app, account);
	addMyDevices(app, account, (request) => sourceOf(request, addressOf));
	addSignDocument(app, account, (request) => sourceOf(request, addressOf));

	app.post(
		"/api/join",
		{ bodyLimit: MAX_STRANGERS_BODY, config: { admits: "page" } },
		async (request) => {
			const input = parseInput(joinInput, request.body ?? {});
			return joinByInvitation(account, input);
		},
	);
}

/** Makes the function with which admission.ts finds the user of a request's session. */
export function makeAuthenticate({
	services: { baseUrl },
	identity,
	addressOf,
	closed,
}: Pick<
	ConsoleParts,
	"services" | "identity" | "addressOf" | "closed"
>): AdmissionParts["authenticate"] {
	return async (request, reply) => {
		const headers = headersOf(request, baseUrl, addressOf(request.raw) ?? "");
		if (!reply) headers.set(UNATTENDED_HEADER, "1");
		const signedIn = await identity.authenticate(headers);
		if (!signedIn) {
			throw notSignedIn();
		}
		for (const cookie of signedIn.cookies) reply?.header("set-cookie", cookie);
		return {
			...closed.limit(signedIn.principal),
			...sourceOf(request, addressOf),
		};
	};
}

/**
 * Returns the client program and the address that a request comes from, for the audit log and the
 * lists of sessions.
 */
function sourceOf(request: FastifyRequest, addressOf: AddressOf): From {
	const client = request.headers["user-agent"]?.slice(0, MAX_CLIENT_LENGTH);
	const address = addressOf(request.raw);
	return { ...(client && { client }), ...(address && { address }) };
}

/**
 * Returns the headers that better-auth may see: the cookie, the client program, the address, and
 * whether somebody is at the page.
 */
function headersOf(
	request: FastifyRequest,
	baseUrl: string,
	address: string,
): Headers {
	const headers = new Headers({
		"content-type": "application/json",
		// Admission has already checked that the request comes from our page. better-auth accepts only
		// one name of the service, so this header always has that name.
		origin: baseUrl,
		[ADDRESS_HEADER]: address,
	});
	for (const name of ["cookie", "user-agent", UNATTENDED_HEADER]) {
		const value = request.headers[name];
		if (typeof value === "string") headers.set(name, value);
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
