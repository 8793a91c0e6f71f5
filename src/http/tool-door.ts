import { AppError } from "../errors.ts";
import type { Tool } from "../mcp/catalogue.ts";
import { type Caller, callTool, type ToolServices } from "../mcp/methods.ts";
import { NOT_JSON, requireLimitedShape } from "./json.ts";
import { readQueryInput } from "./query-input.ts";

/** Names in a query string that narrow the list of tools. They are not part of a tool's input. */
const NARROWING_NAMES = new Set(["toolsets", "readonly"]);

/** Returns the HTTP methods that a tool answers. A tool that only reads also answers GET. */
export function methodsOf({ operation }: Tool): string[] {
	return operation.isReadOnly ? ["GET", "POST"] : ["POST"];
}

/** Returns the tool with this name. Throws a not_found AppError if the caller has no such tool. */
export function findTool(
	{ catalogue }: ToolServices,
	{ narrowing }: Caller,
	name: string,
): Tool {
	const tool = catalogue.find(name, narrowing);
	if (tool) return tool;
	const shown = name.slice(0, 80);
	throw new AppError(
		"not_found",
		catalogue.tools.has(name)
			? `the tool "${shown}" is left out by toolsets or readonly in this request; change them to call the tool`
			: `there is no tool "${shown}"; /api/openapi.json describes the tools`,
	);
}

/**
 * Calls a tool with the input in a query string. Names that narrow the list of tools are left out.
 */
export function callWithQuery(
	tools: ToolServices,
	caller: Caller,
	tool: Tool,
	query: URLSearchParams,
): Promise<object> {
	const input = readQueryInput(
		tool.inputSchema,
		[...query].filter(([name]) => !NARROWING_NAMES.has(name)),
	);
	return callTool(tools, caller, tool, input);
}

/** Calls a tool with the input in a JSON text. An empty text counts as `{}`. */
export async function callWithBody(
	tools: ToolServices,
	caller: Caller,
	tool: Tool,
	text: string,
): Promise<object> {
	requireLimitedShape(text);
	let input: unknown;
	try {
		input = text.trim() === "" ? {} : JSON.parse(text);
	} catch {
		throw new AppError("bad_request", NOT_JSON);
	}
	if (typeof input !== "object" || input === null || Array.isArray(input)) {
		throw new AppError(
			"bad_request",
			"the body must be a JSON object with the tool's input",
		);
	}
	return callTool(tools, caller, tool, input);
}
