import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Pool } from "pg";
import { appendRejection } from "../audit/log.ts";
import { applicationName } from "../db/application-name.ts";
import { retriedTransaction } from "../db/pool.ts";
import {
	AppError,
	InMaintenance,
	overloaded,
	RETRY_AFTER_SECONDS,
	toAppError,
} from "../errors.ts";
import type { Services } from "../invoke.ts";
import { USERS_BODIES } from "../load/body-budget.ts";
import { FairShares } from "../load/fair-shares.ts";
import type { Maintenance } from "../load/maintenance.ts";
import type { OutageLog } from "../load/outage-log.ts";
import { isEventLoopBehind } from "../load/overload.ts";
import { clientName } from "../mcp/methods.ts";
import type { ClosedOrganizations } from "../organizations/closed-organizations.ts";
import { closedOrganization } from "../organizations/closures.ts";
import type { ScimCaller } from "../scim/client.ts";
import { findCredential, readCredential } from "../scim/credentials.ts";
import { KeptMember } from "../scim/memberships.ts";
import { logRequest } from "../scim/request-log.ts";
import {
	findRoute,
	MethodNotAllowed,
	type Route,
	type ScimAnswer,
} from "../scim/requests.ts";
import { errorBody, ScimError } from "../scim/scim-error.ts";
import { endEarly, hasBody, readBody, unreadBodyError } from "./body.ts";
import type { AddressOf } from "./client-address.ts";
import { NOT_JSON, NOT_UTF8, requireLimitedShape } from "./json.ts";
import { requestIdOf } from "./request-id.ts";
import { requireSameOrigin } from "./same-origin.ts";
import { securityHeaders } from "./security-headers.ts";

const PREFIX = "/scim/v2";
const MAX_BODY = 1024 * 1024;
/** Room for a group with all its members. */
const SHAPE = { depth: 16, values: 80_000 };
/** Longest address of a request, because a filter is a part of it. */
const MAX_ADDRESS = 8192;
/** Limit of calls that wait for a database connection. */
const MAX_WAITING = 64;
/**
 * Requests that the clients of one organization may run and queue at a time. All requests together
 * share 8 database connections.
 */
const REQUESTS_OF_ONE = { running: 3, waiting: 60, name: "SCIM requests" };

export interface ScimDoor {
	/** Answers the request if its path is below /scim/v2. Returns false for every other path. */
	handle(request: IncomingMessage, response: ServerResponse): boolean;
	/** Makes each later response close its connection. */
	drain(): void;
}

export interface ScimDoorParts {
	services: Pick<Services, "pool" | "log" | "baseUrl">;
	outageLog: OutageLog;
	addressOf: AddressOf;
	maintenance: Pick<Maintenance, "refuse">;
	closed: Pick<ClosedOrganizations, "messageOf">;
}

/**
 * Makes the SCIM service at /scim/v2. It uses `node:http` without a framework, so that a body is
 * read only after the credential is known.
 */
export function makeScimDoor(parts: ScimDoorParts): ScimDoor {
	const { services, outageLog, addressOf, maintenance, closed } = parts;
	const { pool, log } = services;
	const baseUrl = services.baseUrl + PREFIX;
	const shares = new FairShares(REQUESTS_OF_ONE);
	let isDraining = false;

	async function answer(
		request: IncomingMessage,
		response: ServerResponse,
		path: string,
	): Promise<void> {
		const requestId = requestIdOf(request);
		let caller: ScimCaller | undefined;
		let route: Route | undefined;
		let reply: ScimAnswer;
		const headers: Record<string, string> = {
			...securityHeaders(services.baseUrl),
			"cache-control": "no-store",
			"x-request-id": requestId,
		};
		try {
			requireSameOrigin(request, services.baseUrl);
			maintenance.refuse();
			if (isEventLoopBehind() || pool.waitingCount > MAX_WAITING) {
				throw overloaded();
			}
			caller = await authenticate(request);
			const { organizationId } = caller;
			const found = await shares.run(organizationId, async () => {
				if (path.length > MAX_ADDRESS) {
					throw new ScimError(
						414,
						`the address has over ${MAX_ADDRESS} characters`,
					);
				}
				const url = new URL(path, "http://localhost");
				route = findRoute({
					method: request.method ?? "",
					path: decode(url.pathname.slice(PREFIX.length + 1)),
					query: url.searchParams,
				});
				return perform(request, caller as ScimCaller, route, requestId);
			});
			if (found === "aborted") return;
			reply = found;
		} catch (thrown) {
			reply = await refuse(thrown, caller, route, requestId, headers);
		}
		if (caller && (reply.status >= 400 || route?.changes)) {
			await keep(pool, caller, request, route, reply).catch((err) =>
				outageLog.note(err, { requestId }, "a SCIM request was not listed"),
			);
		}
		send(request, response, reply, headers);
	}

	async function authenticate(request: IncomingMessage): Promise<ScimCaller> {
		const header = request.headersDistinct.authorization?.join(", ");
		const address = addressOf(request);
		const found = await findCredential(pool, readCredential(header), address);
		const message = closed.messageOf(found.organizationId);
		if (message !== undefined) throw closedOrganization(message);
		const client = clientName(request.headers["user-agent"]);
		return {
			organizationId: found.organizationId,
			credentialId: found.credentialId,
			baseUrl,
			principal: {
				kind: "SYSTEM",
				userId: null,
				name: `SCIM: ${found.name}`,
				token: { id: found.credentialId, name: found.name },
				...(client && { client }),
				...(address && { address }),
				memberships: [],
			},
		};
	}

	async function perform(
		request: IncomingMessage,
		caller: ScimCaller,
		{ hasBody, discover, run }: Route,
		requestId: string,
	): Promise<ScimAnswer | "aborted"> {
		if (discover) return discover(caller);
		if (!run) throw new Error("a SCIM route does nothing");
		const body = hasBody
			? await readJson(request, caller.organizationId)
			: undefined;
		if (body === "aborted") return body;
		const { organizationId } = caller;
		return retriedTransaction(
			pool,
			{ organizationId, name: applicationName(requestId, "scim") },
			(client) => run({ ...caller, client }, body?.value),
		);
	}

	/** Makes the answer to an error. What is our own trouble is logged and not shown. */
	async function refuse(
		thrown: unknown,
		caller: ScimCaller | undefined,
		route: Route | undefined,
		requestId: string,
		headers: Record<string, string>,
	): Promise<ScimAnswer> {
		if (thrown instanceof ScimError) {
			if (thrown instanceof MethodNotAllowed) {
				headers.allow = thrown.methods.join(", ");
			}
			if (thrown instanceof KeptMember && caller) {
				log.warn(
					{
						event: "scim_refused",
						reason: thrown.reason,
						organization: caller.organizationId,
						credential: caller.credentialId,
						path: route?.name,
						address: caller.principal.address,
						requestId,
					},
					"a SCIM client wanted to remove or change a member who must stay",
				);
				await appendRejection(pool, {
					principal: caller.principal,
					operation: thrown.event,
					organizationId: caller.organizationId,
					recordId: thrown.userId,
				});
			}
			const { status, message, scimType } = thrown;
			return { status, body: errorBody(status, message, scimType) as never };
		}
		const error = toAppError(thrown);
		if (error.status >= 500) {
			outageLog.note(thrown, { requestId }, "a SCIM request failed");
		}
		if (error.code === "unauthorized") headers["www-authenticate"] = "Bearer";
		if (
			error.code === "service_unavailable" ||
			thrown instanceof InMaintenance
		) {
			headers["retry-after"] = String(RETRY_AFTER_SECONDS);
		}
		const { status, message } = error;
		return { status, body: errorBody(status, message) as never };
	}

	function send(
		request: IncomingMessage,
		response: ServerResponse,
		{ status, body, location }: ScimAnswer,
		headers: Record<string, string>,
	): void {
		const text = body ? JSON.stringify(body) : "";
		if (body) headers["content-type"] = "application/scim+json; charset=utf-8";
		if (location) headers.location = location;
		if (!request.readableEnded && hasBody(request)) {
			endEarly(request, response, status, headers, text);
			return;
		}
		if (isDraining) headers.connection = "close";
		if (body) headers["content-length"] = String(Buffer.byteLength(text));
		response.writeHead(status, headers);
		response.end(text);
	}

	return {
		handle(request, response) {
			const target = request.url ?? "";
			const path = target.startsWith("/")
				? target
				: (URL.parse(target)?.href.slice(URL.parse(target)?.origin.length) ??
					"");
			if (!/^\/scim\/v2(?:[/?]|$)/.test(path)) return false;
			void answer(request, response, path);
			return true;
		},
		drain() {
			isDraining = true;
		},
	};
}

/** Decodes a path. A path that is wrong stays as it is, and nothing is found there. */
function decode(path: string): string {
	try {
		return decodeURIComponent(path);
	} catch {
		return path;
	}
}

/** Reads the body of an authenticated request as JSON. */
async function readJson(
	request: IncomingMessage,
	organizationId: string,
): Promise<{ value: unknown } | "aborted"> {
	const [type = ""] = (request.headers["content-type"] ?? "").split(";", 1);
	if (!/^application\/(?:scim\+)?json$/i.test(type.trim())) {
		throw new ScimError(
			415,
			"the body must be JSON, with the header Content-Type: application/scim+json",
		);
	}
	const room = USERS_BODIES.of(`scim ${organizationId}`);
	const bytes = await readBody(request, MAX_BODY, room);
	if (bytes === "aborted") return bytes;
	if (bytes === "too_large") {
		throw new ScimError(413, `the body must have at most ${MAX_BODY} bytes`);
	}
	if (typeof bytes === "string") throw unreadBodyError(bytes, MAX_BODY);
	const syntax = (message: string) =>
		new ScimError(400, message, "invalidSyntax");
	if (!isUtf8(bytes)) throw syntax(NOT_UTF8);
	const text = bytes.toString("utf8");
	try {
		requireLimitedShape(text, SHAPE);
		return { value: JSON.parse(text) };
	} catch (error) {
		throw syntax(error instanceof AppError ? error.message : NOT_JSON);
	}
}

function keep(
	pool: Pool,
	{ organizationId, credentialId }: ScimCaller,
	{ method = "" }: IncomingMessage,
	route: Route | undefined,
	{ status, body }: ScimAnswer,
): Promise<void> {
	return logRequest(pool, organizationId, {
		credentialId,
		method,
		path: route?.name ?? "",
		status,
		detail: status >= 400 ? String(body?.detail ?? "") : undefined,
	});
}
