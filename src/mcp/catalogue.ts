import { setImmediate } from "node:timers/promises";
import type { ToolAnnotations } from "@modelcontextprotocol/server";
import { mayAnywhere } from "../invoke.ts";
import type { AnyOperation } from "../operation.ts";
import { type Principal, ROLES, type Role, roleReaches } from "../principal.ts";
import {
	ALWAYS_OFFERED,
	LISTED_ON_REQUEST,
	toolsetsOf,
} from "../tokens/scopes.ts";
import { TEXTS_ARE_DATA } from "./instructions.ts";
import { type JsonSchema, terse, toJsonSchema } from "./json-schema.ts";
import { both, isNames, type Narrowing } from "./narrowing.ts";
import { rejectUnstorableText } from "./unstorable-text.ts";

/** A tool of the tool server. It is an operation with a description for clients. */
export class Tool {
	/** The operation. Its input schema also rejects text that the database cannot store. */
	readonly operation: AnyOperation;
	/** The operation as its file defines it, from which the schemas are made. */
	readonly #defined: AnyOperation;
	#inputSchema: JsonSchema | undefined;
	#definition: ToolDefinition | undefined;
	#json: string | undefined;

	constructor(operation: AnyOperation) {
		this.#defined = operation;
		this.operation = {
			...operation,
			input: operation.input.superRefine(rejectUnstorableText),
		};
	}

	/** Schema of the input, in full, for plain HTTP. */
	get inputSchema(): JsonSchema {
		this.#inputSchema ??= withoutOrganization(
			toJsonSchema(this.#defined.input, "input"),
		);
		return this.#inputSchema;
	}

	/** The tool's entry in tools/list, with a terse schema. */
	get definition(): ToolDefinition {
		this.#definition ??= define(this.#defined);
		return this.#definition;
	}

	/** `definition` as JSON text. */
	get json(): string {
		this.#json ??= JSON.stringify(this.definition);
		return this.#json;
	}
}

export interface ToolDefinition {
	name: string;
	/** Left out if it only repeats the name in words. */
	title?: string;
	description: string;
	inputSchema: JsonSchema & { type: "object" };
	annotations: ToolAnnotations;
}

/**
 * Largest number of lists that are kept in memory. Any other list is made again for each request.
 */
const MAX_CACHED_LISTS = 1_000;

/**
 * All tools, with their schemas and lists. Converting a schema is slow, so each one is made only
 * once, when a request needs it or when `prepare` reaches it.
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
			.map(toolOf);
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
	 * Makes the entries of tools/list one by one, and lets the service answer requests in between.
	 * Without this, the first request for the list would make all of them at once, and every other
	 * request would have to wait.
	 */
	async prepare(): Promise<void> {
		for (const tool of this.tools.values()) {
			await setImmediate();
			void tool.json;
		}
	}

	/**
	 * Returns the tool with this name. Returns undefined if there is none, or if the narrowing
	 * excludes it.
	 */
	find(name: string, narrowing: Narrowing): Tool | undefined {
		const tool = this.tools.get(name);
		return tool && offers(narrowing, tool) ? tool : undefined;
	}

	/** Returns the same as `find`, or undefined if the scope of the caller's token excludes it. */
	findWithin(
		name: string,
		principal: Principal,
		narrowing: Narrowing,
	): Tool | undefined {
		return this.find(name, narrowedByScope(principal, narrowing));
	}

	/**
	 * Returns the tools that the principal may call in at least one organization, without those that
	 * are listed only on request. Their order is always the same.
	 */
	list(principal: Principal, narrowing: Narrowing): Tool[] {
		const tools = hasLimits(principal)
			? [...this.tools.values()].filter(({ operation }) =>
					mayAnywhere(principal, operation),
				)
			: (this.#byRole.get(highestRole(principal)) ?? []);
		const within = narrowedByScope(principal, narrowing);
		return tools.filter(
			(tool) =>
				offers(within, tool) &&
				(within.toolsets !== undefined ||
					!LISTED_ON_REQUEST.has(tool.operation.toolset)),
		);
	}

	/** Returns the result of `list` as JSON text. */
	listJson(principal: Principal, narrowing: Narrowing): string {
		const { isReadOnly, toolsets } = narrowedByScope(principal, narrowing);
		const key = `${rightsOf(principal)} ${isReadOnly} ${toolsets}`;
		const known = this.#lists.get(key);
		if (known !== undefined) return known;
		const tools = this.list(principal, narrowing);
		const json = `[${tools.map((tool) => tool.json).join()}]`;
		if (this.#lists.size < MAX_CACHED_LISTS) this.#lists.set(key, json);
		return json;
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

function offers(
	{ toolsets, isReadOnly }: Narrowing,
	{ operation }: Tool,
): boolean {
	return (
		(!isReadOnly || operation.isReadOnly) &&
		(!isNames(toolsets) ||
			toolsets.includes(operation.toolset) ||
			operation.name === ALWAYS_OFFERED)
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

/** Returns true if more than the highest role says which tools the principal may call. */
const hasLimits = ({ memberships }: Principal) =>
	memberships.some(
		({ readsAuditLog, writableRegisters }) =>
			readsAuditLog || writableRegisters,
	);

/** Returns a text that is the same for principals who may call the same tools. */
function rightsOf(principal: Principal): string {
	if (!hasLimits(principal)) return String(highestRole(principal));
	const limits = principal.memberships.map(
		({ role, readsAuditLog, writableRegisters }) =>
			JSON.stringify([role, readsAuditLog, writableRegisters]),
	);
	return [...new Set(limits)].sort().join();
}

function principalWith(role: Role | undefined): Principal {
	return {
		kind: "TOKEN",
		userId: "",
		name: "",
		memberships: role ? [{ organizationId: "", role }] : [],
	};
}

/**
 * Returns the schema of an input in which the organization is optional, because a caller who has
 * only one need not name it.
 */
function withoutOrganization({ required, ...schema }: JsonSchema): JsonSchema {
	const names = ((required ?? []) as string[]).filter(
		(name) => name !== "organization_id",
	);
	return names.length > 0 ? { ...schema, required: names } : schema;
}

/**
 * Returns the hints by which a client decides whether to ask its user. By the protocol's defaults a
 * tool writes and is not idempotent, so hints that say this are left out. The hints of a writing
 * tool always say whether it destroys. They have no meaning for a tool that only reads.
 */
function annotationsOf({
	isReadOnly,
	isDestructive,
	isIdempotent,
}: AnyOperation): ToolAnnotations {
	if (isReadOnly) return { readOnlyHint: true };
	return {
		destructiveHint: isDestructive,
		...(isIdempotent && { idempotentHint: true }),
	};
}

/** Returns true for a title such as "Add a risk", which the name addRisk says too. */
function isInName({ name, title }: AnyOperation): boolean {
	const words = title.replace(/\b(an?|the) /g, "").split(" ");
	return words.join("").toLowerCase() === name.toLowerCase();
}

/** Every tool that this process has made. Services that follow in the process use them again. */
const made = new WeakMap<AnyOperation, Tool>();

function toolOf(operation: AnyOperation): Tool {
	const tool = made.get(operation) ?? new Tool(operation);
	made.set(operation, tool);
	return tool;
}

function define(operation: AnyOperation): ToolDefinition {
	return {
		name: operation.name,
		...(!isInName(operation) && { title: operation.title }),
		description: operation.isReadOnly
			? `${operation.description} ${TEXTS_ARE_DATA}`
			: operation.description,
		inputSchema: {
			...withoutOrganization(terse(operation.input)),
			type: "object",
		},
		annotations: annotationsOf(operation),
	};
}
