import { type AppError, toAppError } from "../errors.ts";
import { invoke, type Services } from "../invoke.ts";
import type { Failures } from "../load/outage-log.ts";
import type { Principal } from "../principal.ts";
import type { Usage } from "../tokens/usage.ts";
import type { Catalogue, Narrowing, Tool } from "./catalogue.ts";

/** Who calls, how, and what it asked to see. */
export interface Caller {
	principal: Principal;
	narrowing: Narrowing;
	requestId: string;
}

export interface ToolServices {
	services: Services;
	catalogue: Catalogue;
	failures: Failures;
	usage: Pick<Usage, "record">;
}

/**
 * Calls a tool for a caller, whichever the door. Rejects with an AppError: what `invoke`
 * throws, and for a fault of ours one that says nothing of it; the log has it.
 */
export async function callTool(
	{ services, failures, usage }: ToolServices,
	{ principal, requestId }: Caller,
	{ operation }: Tool,
	input: unknown,
): Promise<object> {
	let error: AppError | undefined;
	try {
		return await invoke(services, principal, operation, input, requestId);
	} catch (thrown) {
		error = toAppError(thrown);
		failures.note(
			thrown,
			{ requestId, tool: operation.name },
			"a tool call failed",
		);
		throw error;
	} finally {
		noteUse(usage, principal, operation.name, error !== undefined);
	}
}

/** Counts a request of the principal's token; `tool` is null for one that called none. */
export function noteUse(
	usage: Pick<Usage, "record">,
	{ token, client, address }: Principal,
	tool: string | null,
	isError: boolean,
): void {
	if (token)
		usage.record({ tokenId: token.id, tool, isError, client, address });
}

const MAX_CLIENT = 200;

/** What a client calls itself, fit for the log and the database. */
export function clientName(text: string | undefined): string | undefined {
	const clean = text
		?.replace(/[\p{Cc}\p{Surrogate}]/gu, "\ufffd")
		.slice(0, MAX_CLIENT)
		.toWellFormed()
		.trim();
	return clean || undefined;
}
