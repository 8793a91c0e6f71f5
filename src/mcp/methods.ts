import {
	CLIENT_INFO_META_KEY,
	ProtocolError,
	ProtocolErrorCode,
	SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { visibleJson } from "../devices/visible-text.ts";
import { type AppError, toAppError } from "../errors.ts";
import { changesOfCall, invoke, type Services } from "../invoke.ts";
import type { OutageLog } from "../load/outage-log.ts";
import type { AnyOperation, Change } from "../operation.ts";
import { organizationOfCall } from "../organizations/organization-of-call.ts";
import { MAX_CLIENT_LENGTH, type Principal } from "../principal.ts";
import type { Usage, Use } from "../tokens/usage.ts";
import { VERSION } from "../version.ts";
import type { Catalogue, Tool } from "./catalogue.ts";
import type { Narrowing } from "./narrowing.ts";

export const SERVER_INFO = { name: "assay", title: "Assay", version: VERSION };

/**
 * Time for which clients may keep the list of tools. The list depends on the caller's role, which
 * may change, so the time is only five minutes.
 */
export const LIST_CACHE = { ttlMs: 300_000, cacheScope: "private" } as const;

/** Members that revision 2026-07-28 adds to every result, as JSON text. */
export const MODERN_MEMBERS = JSON.stringify({
	resultType: "complete",
	_meta: { [SERVER_INFO_META_KEY]: SERVER_INFO },
}).slice(1, -1);

export const MODERN_LIST_MEMBERS = JSON.stringify(LIST_CACHE).slice(1, -1);

/** The caller of a request, and the tools that the request is narrowed to. */
export interface Caller {
	principal: Principal;
	narrowing: Narrowing;
	/** True if a call that is not permitted gives a result with isError instead of HTTP 403. */
	refusalsAreResults?: boolean;
	requestId: string;
}

export interface ToolServices {
	services: Services;
	catalogue: Catalogue;
	outageLog: OutageLog;
	usage: Pick<Usage, "record">;
}

/** Returns the members of a tools/list result, as JSON text. */
export function listTools(
	{ catalogue }: ToolServices,
	{ principal, narrowing }: Caller,
): string {
	return `"tools":${catalogue.listJson(principal, narrowing)}`;
}

/**
 * Returns the members of a tools/call result, as JSON text. A wrong input also gives a result, with
 * isError, so that the model can correct it. Rejects with a ProtocolError for an unknown tool, and
 * with an AppError when the service fails. A call that is not permitted also rejects, unless the
 * client wants denied calls as results.
 */
export async function callMembers(
	tools: ToolServices,
	caller: Caller,
	name: string,
	input: unknown,
): Promise<string> {
	const tool = tools.catalogue.find(name, caller.narrowing);
	if (!tool) throw unknownTool(tools, name);
	try {
		const output = await callTool(tools, caller, tool, withBrief(tool, input));
		const json = visibleJson(JSON.stringify(output));
		return `"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`;
	} catch (thrown) {
		return errorMembers(caller, thrown);
	}
}

/**
 * Returns the members of the result of a call that failed, as JSON text. Throws an error that is no
 * result.
 */
export function errorMembers(caller: Caller, thrown: unknown): string {
	const error = toAppError(thrown);
	const isForTheModel =
		error.code === "bad_request" ||
		error.code === "not_found" ||
		error.code === "conflict" ||
		(error.code === "forbidden" && caller.refusalsAreResults === true);
	if (!isForTheModel) throw error;
	return `"content":[{"type":"text","text":${visibleJson(JSON.stringify(error.message))}}],"isError":true`;
}

/**
 * Returns the input of a list with brief rows, unless the client asks for others. Scripts over
 * plain HTTP get full rows.
 */
function withBrief({ operation }: Tool, input: unknown): unknown {
	if (!("detail" in operation.input.shape)) return input;
	if (typeof input !== "object" || input === null) return input;
	// Some clients send null for what they leave out.
	return "detail" in input && input.detail != null
		? input
		: { ...input, detail: "brief" };
}

/** Calls a tool, for MCP or plain HTTP. Rejects with the AppError of `invoke`. */
export function callTool(
	tools: ToolServices,
	caller: Caller,
	{ operation }: Tool,
	input: unknown,
): Promise<object> {
	const { principal, requestId } = caller;
	return counted(tools, caller, operation, input, () =>
		invoke(tools.services, principal, operation, input, requestId),
	);
}

/** Returns the changes that a call would make. Rejects with the AppError of the call. */
export function changesOfTool(
	tools: ToolServices,
	caller: Caller,
	{ operation }: Tool,
	input: unknown,
): Promise<readonly Change[]> {
	const { principal, requestId } = caller;
	return counted(tools, caller, operation, input, () =>
		changesOfCall(tools.services, principal, operation, input, requestId),
	);
}

/**
 * Runs a call, counts it and logs its errors. An unexpected error becomes "internal error", and its
 * cause is logged.
 */
async function counted<Result>(
	{ outageLog, usage }: ToolServices,
	{ principal, requestId }: Caller,
	operation: AnyOperation,
	input: unknown,
	call: () => Promise<Result>,
): Promise<Result> {
	let error: AppError | undefined;
	try {
		return await call();
	} catch (thrown) {
		error = toAppError(thrown);
		outageLog.note(
			thrown,
			{ requestId, tool: operation.name },
			"a tool call failed",
		);
		throw error;
	} finally {
		const organizationId = organizationOfCall(principal, operation, input);
		const isError = error !== undefined;
		countUse(usage, principal, {
			tool: operation.name,
			organizationId,
			isError,
		});
	}
}

const NO_CALL = { tool: null, organizationId: null, isError: false };

/** Counts a use of the principal's API token. Without `use`, the request called no tool. */
export function countUse(
	usage: Pick<Usage, "record">,
	{ token, client, address }: Principal,
	use: Pick<Use, "tool" | "organizationId" | "isError"> = NO_CALL,
): void {
	if (token) usage.record({ tokenId: token.id, ...use, client, address });
}

function unknownTool({ catalogue }: ToolServices, name: string): ProtocolError {
	const shown = JSON.stringify(name.slice(0, 80).toWellFormed());
	return new ProtocolError(
		ProtocolErrorCode.InvalidParams,
		catalogue.tools.has(name)
			? `the tool ${shown} is left out by toolsets or readonly in this request; change them to call the tool`
			: `there is no tool ${shown}; tools/list returns the tools`,
	);
}

/**
 * Returns the client's name and version. They come from a request of revision 2026-07-28 or from an
 * `initialize` request.
 */
export function clientInRequest(body: unknown): string | undefined {
	const { params } = (body ?? {}) as { params?: Record<string, unknown> };
	const meta = params?._meta as Record<string, unknown> | undefined;
	const info = (meta?.[CLIENT_INFO_META_KEY] ?? params?.clientInfo) as
		| { name?: unknown; version?: unknown }
		| undefined;
	if (typeof info?.name !== "string") return undefined;
	return clientName(
		typeof info.version === "string"
			? `${info.name}/${info.version}`
			: info.name,
	);
}

/**
 * Returns the name that a client gives itself, shortened and cleaned for the log and the database.
 */
export function clientName(text: string | undefined): string | undefined {
	const clean = text
		?.slice(0, MAX_CLIENT_LENGTH)
		.replace(/[\p{Cc}\p{Surrogate}]/gu, "\ufffd")
		.toWellFormed()
		.trim();
	return clean || undefined;
}
