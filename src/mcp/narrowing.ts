import { AppError } from "../errors.ts";

/**
 * The tools that a client asked for, with `?toolsets=risks,vendors&readonly=true` or with headers
 * of the same meaning.
 */
export interface Narrowing {
	toolsets: Toolsets;
	isReadOnly: boolean;
}

/**
 * Names of toolsets, sorted, or "all" of them. Undefined is the default: all can be called, but
 * those of LISTED_ON_REQUEST are not listed.
 */
export type Toolsets = readonly string[] | "all" | undefined;

type Headers = Record<string, string | string[] | undefined>;

/** Parameters of the address of a tool over plain HTTP. */
export const TOOL_PARAMETERS = ["toolsets", "readonly"];

/** Parameters of the address of the MCP endpoint. */
export const MCP_PARAMETERS = [...TOOL_PARAMETERS, "errors"];

/**
 * Reads the narrowing from the request's address and headers. If both contain one, both apply.
 * `known` are the names of all toolsets. Throws a bad_request AppError for an unknown toolset, with
 * the names of the existing ones.
 */
export function readNarrowing(
	known: readonly string[],
	query: URLSearchParams,
	headers: Headers,
): Narrowing {
	return {
		toolsets: both(
			readToolsets(known, query.getAll("toolsets").join()),
			readToolsets(known, headers["x-mcp-toolsets"]?.toString()),
		),
		isReadOnly:
			readSwitch("readonly", query.get("readonly")) ||
			readSwitch("X-MCP-Readonly", headers["x-mcp-readonly"]?.toString()),
	};
}

/**
 * Returns true if the client wants denied calls as results of tools, with `?errors=result` or
 * the header `X-MCP-Errors: result`. The default is the HTTP status 403.
 */
export function wantsRefusalsAsResults(
	query: URLSearchParams,
	headers: Headers,
): boolean {
	const given = {
		errors: query.get("errors"),
		"X-MCP-Errors": headers["x-mcp-errors"]?.toString() ?? null,
	};
	for (const [name, text] of Object.entries(given)) {
		if (text !== null && text !== "result" && text !== "status") {
			throw new AppError(
				"bad_request",
				`${name} must be result (denied calls are results with isError) or status (they are HTTP 403, the default)`,
			);
		}
	}
	return Object.values(given).includes("result");
}

/**
 * Throws a bad_request AppError for a parameter that is not among `known`. If a client misspelled
 * one and the service ignored it, the list would contain tools that the client meant to exclude.
 */
export function rejectUnknownParameters(
	query: URLSearchParams,
	known: readonly string[],
): void {
	const unknown = query.keys().find((name) => !known.includes(name));
	if (unknown === undefined) return;
	throw new AppError(
		"bad_request",
		`this address has no parameter "${unknown.slice(0, 80)}"; the parameters are ${known.join(", ")}`,
	);
}

/** Returns the toolsets that both permit. Names are narrower than "all" or the default. */
export function both(one: Toolsets, other: Toolsets): Toolsets {
	if (!isNames(one)) return other ?? one;
	return isNames(other) ? one.filter((name) => other.includes(name)) : one;
}

/** Returns true if the toolsets are given by name, and false for "all" and the default. */
export function isNames(toolsets: Toolsets): toolsets is readonly string[] {
	return typeof toolsets === "object";
}

function readToolsets(known: readonly string[], text = ""): Toolsets {
	const names = text
		.split(",")
		.map((name) => name.trim())
		.filter((name) => name !== "");
	if (names.length === 0) return undefined;
	if (names.includes("all")) return "all";
	const unknown = names.find((name) => !known.includes(name));
	if (unknown !== undefined) {
		throw new AppError(
			"bad_request",
			`there is no toolset "${unknown.slice(0, 80)}"; the toolsets are ${known.join(", ")}`,
		);
	}
	return [...new Set(names)].sort();
}

/**
 * Reads a value that is true or false. An empty value is rejected, because somebody who writes
 * `?readonly` does not mean "false".
 */
function readSwitch(name: string, text: string | null | undefined): boolean {
	if (text === "true" || text === "1") return true;
	if (text === undefined || text === null) return false;
	if (text === "false" || text === "0") return false;
	throw new AppError("bad_request", `${name} must be true or false`);
}
