import {
	CLIENT_INFO_META_KEY,
	ProtocolError,
	ProtocolErrorCode,
	SERVER_INFO_META_KEY,
} from "@modelcontextprotocol/server";
import { toAppError } from "../errors.ts";
import { VERSION } from "../version.ts";
import {
	type Caller,
	callTool,
	clientName,
	type ToolServices,
} from "./call.ts";

export const SERVER_INFO = { name: "assay", title: "Assay", version: VERSION };

/** The list depends on the caller's role; it may change with the role, hence the five minutes. */
export const LIST_CACHE = { ttlMs: 300_000, cacheScope: "private" } as const;

/** What revision 2026-07-28 adds to every result, as JSON. */
export const MODERN_MEMBERS = JSON.stringify({
	resultType: "complete",
	_meta: { [SERVER_INFO_META_KEY]: SERVER_INFO },
}).slice(1, -1);

export const MODERN_LIST_MEMBERS = JSON.stringify(LIST_CACHE).slice(1, -1);

/** The members of a tools/list result, as JSON. */
export function listTools(
	{ catalogue }: ToolServices,
	{ principal, narrowing }: Caller,
): string {
	return `"tools":${catalogue.listJson(principal, narrowing)}`;
}

/**
 * The members of a tools/call result, as JSON: what a tool says was wrong with its input is a
 * result too, from which a model learns. Rejects with a ProtocolError for an unknown tool, with
 * an AppError for what the role does not allow and for faults of ours.
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
		const output = await callTool(tools, caller, tool, input);
		const json = JSON.stringify(output);
		return `"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}`;
	} catch (thrown) {
		const error = toAppError(thrown);
		if (error.code !== "bad_request" && error.code !== "not_found") throw error;
		return `"content":[{"type":"text","text":${JSON.stringify(error.message)}}],"isError":true`;
	}
}

function unknownTool({ catalogue }: ToolServices, name: string): ProtocolError {
	const shown = JSON.stringify(name.slice(0, 80).toWellFormed());
	return new ProtocolError(
		ProtocolErrorCode.InvalidParams,
		catalogue.tools.has(name)
			? `the tool ${shown} is not among those that this client asked for (toolsets, readonly)`
			: `there is no tool ${shown}; tools/list names those there are`,
	);
}

/** The client's name and version in a request of revision 2026-07-28 or an initialize. */
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
