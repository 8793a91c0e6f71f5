import type { PoolClient } from "pg";
import type { z } from "zod";
import type { NewEvent } from "./events/add-events.ts";
import { parseId } from "./id.ts";
import type { Services } from "./invoke.ts";
import type { Membership, Principal, Role } from "./principal.ts";

/**
 * The access that a call requires in the organization. `read` requires the role viewer, `write`
 * requires member, and `admin` requires admin. `self` requires only a signed-in user.
 */
export type Access = "self" | "read" | "write" | "admin";

export const NEEDED_ROLE: Record<Exclude<Access, "self">, Role> = {
	read: "viewer",
	write: "member",
	admin: "admin",
};

/** One change that a call made. The audit log records it. */
export interface Change {
	kind: string;
	id: string;
	name: string | null;
	/**
	 * The changed fields. They contain no secrets. A new record has no `before`, and a deleted one
	 * has no `after`.
	 */
	fields: Record<string, { before?: unknown; after?: unknown }>;
	/**
	 * The organization that the change concerns. It is given if a call concerns several
	 * organizations. The default is the organization of the call.
	 */
	organizationId?: string;
	/** The import that made the change, or whose rollback made it. */
	importId?: string;
}

export interface Context {
	/**
	 * A client in a transaction of the organization. An operation never begins or commits a
	 * transaction.
	 */
	client: PoolClient;
	principal: Principal;
	/** The caller's membership in the organization. Reading it throws if `tenant` is null. */
	membership: Membership;
	services: Services;
	/** Notes a change. `invoke` writes it to the audit log in the same transaction. */
	changed: (change: Change) => void;
	/** Notes an event. `invoke` stores it in the same transaction. */
	happened: (event: NewEvent) => void;
	/** Runs `work`, such as sending a mail, after the commit. `work` must not throw. */
	afterCommit: (work: () => void) => void;
}

/**
 * One thing that the service can do. Every door offers it: MCP and plain HTTP as a tool, the
 * console as a call, the command line as a command. Its name is also its address and the name of
 * its event in the audit log.
 */
export interface Operation<
	Name extends string = string,
	Input extends z.ZodObject = z.ZodObject,
	Output extends z.ZodObject = z.ZodObject,
> {
	name: Name;
	/** A short title for people. */
	title: string;
	/** Explains to AI models what the operation does, when to use it and what it returns. */
	description: string;
	/**
	 * Group of tools. A client can ask for the tools of some groups only: ?toolsets=risks,vendors.
	 */
	toolset: string;
	access: Access;
	/**
	 * The doors that offer the operation. With `tool`, every door does. With `console`, the operation
	 * requires a session, for example because it returns a user's secrets.
	 */
	surface: "tool" | "console";
	isReadOnly: boolean;
	/** True if the operation removes or replaces something. */
	isDestructive: boolean;
	/** True if a second call with the same input changes nothing more. */
	isIdempotent: boolean;
	/**
	 * The input field that names the organization. It is `organization_id` itself or the id of a
	 * record, because such an id contains the tenant. Null if the operation is about the caller and
	 * not about one organization.
	 */
	tenant: string | null;
	input: Input;
	output: Output;
	run: (context: Context, input: z.output<Input>) => Promise<z.input<Output>>;
}

// biome-ignore lint/suspicious/noExplicitAny: a list of operations has no other type.
export type AnyOperation = Operation<string, any, any>;

/**
 * Returns `operation` with its inferred types and with defaults for the hints that are not given.
 */
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

/** Returns the id of the organization or record that a call is about, if it has the form of one. */
export function idOfCall(
	{ tenant }: AnyOperation,
	rawInput: unknown,
): string | undefined {
	const input = { ...(rawInput as Record<string, unknown> | null) };
	return [input[tenant ?? ""], input.organization_id].find(
		(id) => typeof id === "string" && parseId(id) !== undefined,
	) as string | undefined;
}
