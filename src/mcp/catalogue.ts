import { AppError } from "../errors.ts";
import { mayAnywhere } from "../invoke.ts";
import type { AnyOperation } from "../operation.ts";
import { type Principal, ROLES, type Role, roleReaches } from "../principal.ts";
import { ALWAYS_OFFERED, toolsetsOf } from "../tokens/scopes.ts";
import { TEXTS_ARE_DATA } from "./instructions.ts";
import { type JsonSchema, terse, toJsonSchema } from "./json-schema.ts";
import { rejectUnstorableText } from "./unstorable-text.ts";

/** A tool of the tool server. It is an operation with a description for clients. */
export interface Tool {
	/** The operation. Its input schema also rejects text that the database cannot store. */
	operation: AnyOperation;
	/** Schema of the input, in full, for plain HTTP. */
	inputSchema: JsonSchema;
	/** The tool's entry in tools/list, with a terse schema. */
	definition: ToolDefinition;
	/** `definition` as JSON text, which is made only once. */
	json: string;
}

export interface ToolDefinition {
	name: string;
	title: string;
	description: string;
	inputSchema: JsonSchema & { type: "object" };
	annotations: {
		readOnlyHint: boolean;
		destructiveHint: boolean;
		idempotentHint: boolean;
		openWorldHint: boolean;
	};
}

/**
 * The tools that a client asked for, with `?toolsets=risks,vendors&readonly=true` or with headers
 * of the same meaning.
 */
export interface Narrowing {
	/** Names of toolsets, sorted. Undefined means all toolsets. */
	toolsets: readonly string[] | undefined;
	isReadOnly: boolean;
}

/**
 * Largest number of lists that are kept in memory. Any other list is made again for each request.
 */
const MAX_CACHED_LISTS = 1_000;

/**
 * All tools, with their schemas and lists. Converting schemas is slow, so everything is made only
 * once.
 */
export class Catalogue {
	readonly tools: ReadonlyMap<string, Tool>;
	readonly toolsets: readonly string[];
	readonly #byRole: Map<Role | undefined, Tool[]>;
	/** Lists of tools as JSON text, by the role and the narrowing that they were made for. */
	readonly #lists = new Map<string, string>();

	constructor(operations: readonly AnyOperation[]) {
		const tools = operations
			.filter(({ surface }) => surface === "tool")
			.map(makeTool);
		this.tools = new Map(tools.map((tool) => [tool.operation.name, tool]));
		this.toolsets = toolsetsOf(operations);
		this.#byRole = new Map(
			[undefined, ...ROLES].map((role) => [
				role,
				tools.filter(({ operation }) =>
					mayAnywhere(principalWith(role), operation),
				),
			]),
		);
	}

	/**
	 * Returns the tool with this name. Returns undefined if there is none, or if the narrowing
	 * excludes it.
	 */
	find(name: string, narrowing: Narrowing): Tool | undefined {
		const tool = this.tools.get(name);
		return tool && offers(narrowing, tool) ? tool : undefined;
	}

	/**
	 * Returns the tools that the principal may call in at least one organization. Their order is
	 * always the same.
	 */
	list(principal: Principal, narrowing: Narrowing): Tool[] {
		const tools = this.#byRole.get(highestRole(principal)) ?? [];
		const within = narrowedByScope(principal, narrowing);
		return tools.filter((tool) => offers(within, tool));
	}

	/** Returns the result of `list` as JSON text. */
	listJson(principal: Principal, narrowing: Narrowing): string {
		const { isReadOnly, toolsets } = narrowedByScope(principal, narrowing);
		const key = `${highestRole(principal)} ${isReadOnly} ${toolsets}`;
		const known = this.#lists.get(key);
		if (known !== undefined) return known;
		const tools = this.list(principal, narrowing);
		const json = `[${tools.map((tool) => tool.json).join()}]`;
		if (this.#lists.size < MAX_CACHED_LISTS) this.#lists.set(key, json);
		return json;
	}

	/**
	 * Reads the narrowing from the request's address and headers. If both contain one, both apply.
	 * Throws a bad_request AppError for an unknown toolset, with the names of the existing ones.
	 */
	readNarrowing(
		query: URLSearchParams | undefined,
		headers: Record<string, string | string[] | undefined>,
	): Narrowing {
		return {
			toolsets: both(
				this.#readToolsets(query?.getAll("toolsets").join()),
				this.#readToolsets(headers["x-mcp-toolsets"]?.toString()),
			),
			isReadOnly:
				readSwitch("readonly", query?.get("readonly")) ||
				readSwitch("X-MCP-Readonly", headers["x-mcp-readonly"]?.toString()),
		};
	}

	#readToolsets(text: string | undefined): readonly string[] | undefined {
		const names = (text ?? "")
			.split(",")
			.map((name) => name.trim())
			.filter((name) => name !== "");
		if (names.length === 0 || names.includes("all")) return undefined;
		const unknown = names.find((name) => !this.toolsets.includes(name));
		if (unknown !== undefined) {
			throw new AppError(
				"bad_request",
				`there is no toolset "${unknown.slice(0, 80)}"; the toolsets are ${this.toolsets.join(", ")}`,
			);
		}
		return [...new Set(names)].sort();
	}
}

/** Returns the client's narrowing, limited further by the scope of the caller's API token. */
function narrowedByScope(
	{ token }: Principal,
	{ toolsets, isReadOnly }: Narrowing,
): Narrowing {
	return {
		toolsets: both(toolsets, token?.toolsets),
		isReadOnly: isReadOnly || token?.isReadOnly === true,
	};
}

/** Returns the names that are in both lists. Undefined stands for a list of all names. */
function both(
	one: readonly string[] | undefined,
	other: readonly string[] | undefined,
): readonly string[] | undefined {
	return one && other
		? one.filter((name) => other.includes(name))
		: (one ?? other);
}

function offers(
	{ toolsets, isReadOnly }: Narrowing,
	{ operation }: Tool,
): boolean {
	return (
		(!isReadOnly || operation.isReadOnly) &&
		(!toolsets ||
			toolsets.includes(operation.toolset) ||
			operation.name === ALWAYS_OFFERED)
	);
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

/** Parameters of the address that may narrow the list of tools. */
const PARAMETERS = ["toolsets", "readonly"];

/**
 * Throws a bad_request AppError for an unknown parameter. If a client misspelled one and the
 * service ignored it, the list would contain tools that the client meant to exclude.
 */
export function rejectUnknownParameters(query: URLSearchParams): void {
	const unknown = query.keys().find((name) => !PARAMETERS.includes(name));
	if (unknown === undefined) return;
	throw new AppError(
		"bad_request",
		`this address has no parameter "${unknown.slice(0, 80)}"; the parameters are ${PARAMETERS.join(", ")}`,
	);
}

/**
 * Returns the principal's highest role. Returns undefined if the principal belongs to no
 * organization.
 */
function highestRole({ memberships }: Principal): Role | undefined {
	return memberships.reduce<Role | undefined>(
		(highest, { role }) =>
			highest && roleReaches(highest, role) ? highest : role,
		undefined,
	);
}

function principalWith(role: Role | undefined): Principal {
	return {
		kind: "TOKEN",
		userId: "",
		name: "",
		memberships: role ? [{ organizationId: "", role }] : [],
	};
}

function makeTool(operation: AnyOperation): Tool {
	const inputSchema = toJsonSchema(operation.input, "input");
	const definition: ToolDefinition = {
		name: operation.name,
		title: operation.title,
		description: operation.isReadOnly
			? `${operation.description} ${TEXTS_ARE_DATA}`
			: operation.description,
		inputSchema: { ...terse(inputSchema), type: "object" },
		annotations: {
			readOnlyHint: operation.isReadOnly,
			destructiveHint: operation.isDestructive,
			idempotentHint: operation.isIdempotent,
			// An operation acts only on the database of this service, and never on the outside world.
			openWorldHint: false,
		},
	};
	return {
		operation: {
			...operation,
			input: operation.input.superRefine(rejectUnstorableText),
		},
		inputSchema,
		definition,
		json: JSON.stringify(definition),
	};
}
