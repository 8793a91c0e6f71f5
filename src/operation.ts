import type { PoolClient } from "pg";
import type { z } from "zod";
import type { Services } from "./invoke.ts";
import type { Membership, Principal, Role } from "./principal.ts";

/**
 * The role that a caller needs in the organization: `read` needs viewer, `write` member and `admin`
 * admin. `self` only needs a signed-in user.
 */
export type Access = "self" | "read" | "write" | "admin";

export const NEEDED_ROLE: Record<Exclude<Access, "self">, Role> = {
	read: "viewer",
	write: "member",
	admin: "admin",
};

/** One change that a call made, for the audit log. */
export interface Change {
	kind: string;
	id: string;
	name: string | null;
	/** Contains no secrets. A new record has no `before`, and a deleted one has no `after`. */
	fields: Record<string, { before?: unknown; after?: unknown }>;
	/**
	 * Given if a call concerns several organizations. The default is the organization of the call.
	 */
	organizationId?: string;
}

export interface Context {
	/** Client in a transaction of the organization. An operation never begins or commits one. */
	client: PoolClient;
	principal: Principal;
	/** The caller's membership in the organization. Reading it throws if `tenant` is null. */
	membership: Membership;
	services: Services;
	/** Notes a change. `invoke` writes it to the audit log in the same transaction. */
	changed: (change: Change) => void;
	/** Runs `work`, such as sending a mail, after the commit. `work` must not throw. */
	afterCommit: (work: () => void) => void;
}

/**
 * One thing that the service can do. Every door offers it: MCP and plain HTTP as a tool, the
 * console as a call, the command line as a command. Its name is its address and its event in the
 * audit log.
 */
export interface Operation<
	Name extends string = string,
	Input extends z.ZodObject = z.ZodObject,
	Output extends z.ZodObject = z.ZodObject,
> {
	name: Name;
	/** A few words for people. */
	title: string;
	/** Explains to a model what the operation does, when to use it and what it returns. */
	description: string;
	/** Name by which a client can narrow its list of tools: ?toolsets=risks,vendors. */
	toolset: string;
	access: Access;
	/**
	 * `tool` is open to every door. `console` needs a session, for example because the operation
	 * returns a user's secrets.
	 */
	surface: "tool" | "console";
	isReadOnly: boolean;
	/** True if the operation removes or replaces something. */
	isDestructive: boolean;
	/** True if a second call with the same input changes nothing more. */
	isIdempotent: boolean;
	/**
	 * The input that names the organization: `organization_id` itself, or the id of a record, which
	 * carries its tenant. Null if the operation is about the caller and not about one organization.
	 */
	tenant: string | null;
	input: Input;
	output: Output;
	run: (context: Context, input: z.output<Input>) => Promise<z.input<Output>>;
}

// biome-ignore lint/suspicious/noExplicitAny: inputs are contravariant; a list of operations of any input has no other type.
export type AnyOperation = Operation<string, any, any>;

/** Returns `operation` with its types inferred and the default hints filled in. */
export function defineOperation<
	const Name extends string,
	Input extends z.ZodObject,
	Output extends z.ZodObject,
>(
	operation: Omit<
		Operation<Name, Input, Output>,
		"surface" | "isReadOnly" | "isDestructive" | "isIdempotent"
	> &
		Partial<
			Pick<
				Operation,
				"surface" | "isReadOnly" | "isDestructive" | "isIdempotent"
			>
		>,
): Operation<Name, Input, Output> {
	const isReadOnly = operation.isReadOnly ?? operation.access === "read";
	return {
		surface: "tool",
		isDestructive: false,
		isIdempotent: isReadOnly,
		...operation,
		isReadOnly,
	};
}
