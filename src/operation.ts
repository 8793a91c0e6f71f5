import type { PoolClient } from "pg";
import type { z } from "zod";
import type { Services } from "./invoke.ts";
import type { Membership, Principal, Role } from "./principal.ts";

/**
 * The role that a caller needs in the organization concerned: `read` needs viewer, `write` member,
 * `admin` admin. `self` only needs a signed-in user.
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
	/** Never secrets. An absent `before` is a new record, an absent `after` a deleted one. */
	fields: Record<string, { before?: unknown; after?: unknown }>;
	/** Where a call touches several organizations; else the one of the call. */
	organizationId?: string;
}

export interface Context {
	/** In a transaction of the organization; an operation never begins or commits. */
	client: PoolClient;
	principal: Principal;
	/**
	 * The caller's membership in the organization concerned. Reading it throws if `tenant` is null.
	 */
	membership: Membership;
	services: Services;
	/** Notes a change; `invoke` writes it to the audit log in the same transaction. */
	changed: (change: Change) => void;
	/** Does something once the call has counted, such as sending a mail; it must not throw. */
	afterCommit: (work: () => void) => void;
}

/**
 * One thing that can be done, whatever the door: a tool over MCP and plain HTTP, a call of
 * the console, a command. Its name is its address and its event in the audit log.
 */
export interface Operation<
	Name extends string = string,
	Input extends z.ZodObject = z.ZodObject,
	Output extends z.ZodObject = z.ZodObject,
> {
	name: Name;
	/** For people: a few words. */
	title: string;
	/** For a model: what it does, when to use it, what comes back. */
	description: string;
	/** Name by which a client narrows its list: ?toolsets=risks,vendors. */
	toolset: string;
	access: Access;
	/**
	 * `tool`: every door. `console`: only with a session, for example operations that return a user's
	 * secrets.
	 */
	surface: "tool" | "console";
	isReadOnly: boolean;
	/** It takes away or replaces what was there. */
	isDestructive: boolean;
	/** Called again with the same input it changes nothing more. */
	isIdempotent: boolean;
	/**
	 * The input that names the organization: `organization_id` itself, or the id of a record, which
	 * carries its tenant. Null: the operation is about the caller, not about one organization.
	 */
	tenant: string | null;
	input: Input;
	output: Output;
	run: (context: Context, input: z.output<Input>) => Promise<z.input<Output>>;
}

// biome-ignore lint/suspicious/noExplicitAny: inputs are contravariant; a list of operations of any input has no other type.
export type AnyOperation = Operation<string, any, any>;

/** `operation` with its types inferred and the usual hints filled in. */
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
