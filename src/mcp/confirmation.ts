import {
	acceptedContent,
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	type InputRequiredResult,
	inputRequired,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { parseId } from "../id.ts";
import { mayAnywhere } from "../invoke.ts";
import type { AnyOperation } from "../operation.ts";
import { recordKinds } from "../registers/all.ts";
import { type Caller, callTool, type ToolServices } from "./methods.ts";
import { READER } from "./resources.ts";

const KEY = "confirm";
const confirmation = z.object({
	confirm: z.boolean().describe("Yes, do it. It cannot be undone"),
});

/**
 * Returns true if the client of a tools/call of revision 2026-07-28 can ask its user, and the tool
 * destroys something that the caller may destroy.
 */
export function needsConfirmation(
	{ catalogue }: ToolServices,
	{ principal, narrowing }: Caller,
	params: Record<string, unknown> | undefined,
): boolean {
	const meta = params?._meta as Record<string, unknown> | undefined;
	const capabilities = meta?.[CLIENT_CAPABILITIES_META_KEY] as
		| { elicitation?: object }
		| undefined;
	if (!capabilities?.elicitation) return false;
	const name = String(params?.name);
	const tool = catalogue.findWithin(name, principal, narrowing);
	return (
		tool?.operation.isDestructive === true &&
		mayAnywhere(principal, tool.operation)
	);
}

/**
 * Returns the result that lets the client ask its user, or undefined if the user has agreed.
 * `given` holds the answers in the client's request.
 */
export async function askUser(
	tools: ToolServices,
	caller: Caller,
	name: string,
	input: Record<string, unknown>,
	given: Record<string, unknown> | undefined,
): Promise<InputRequiredResult | CallToolResult | undefined> {
	if (given?.[KEY] !== undefined) {
		if (acceptedContent(given, KEY)?.confirm === true) return undefined;
		const text = "the user did not agree; nothing was changed";
		return { content: [{ type: "text", text }], isError: true };
	}
	const operation = tools.catalogue.tools.get(name)?.operation;
	if (!operation) return undefined;
	const what = await describe(tools, caller, operation, input);
	return inputRequired({
		inputRequests: {
			[KEY]: inputRequired.elicit({
				message: `${operation.title}: ${what}?`,
				requestedSchema: confirmation,
			}),
		},
	});
}

/** Returns the name of the record that would be destroyed, or else the input of the call. */
async function describe(
	tools: ToolServices,
	caller: Caller,
	{ tenant }: AnyOperation,
	input: Record<string, unknown>,
): Promise<string> {
	const id = String(tenant === "id" ? input.id : "");
	const kind = parseId(id)?.kind;
	const reader = READER.get(kind ?? "") ?? "";
	const tool = tools.catalogue.find(reader, caller.narrowing);
	if (!tool) return JSON.stringify(input);
	try {
		const [record] = Object.values(await callTool(tools, caller, tool, { id }));
		const title = recordKinds.find((known) => known.kind === kind)?.title;
		const name = record[title ?? "name"] ?? record.hostname ?? id;
		return JSON.stringify(name);
	} catch (thrown) {
		// The call itself says what is wrong.
		if (thrown instanceof AppError) return JSON.stringify(input);
		throw thrown;
	}
}
