import {
	acceptedContent,
	type CallToolResult,
	CLIENT_CAPABILITIES_META_KEY,
	type InputRequiredResult,
	inputRequired,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import { visibleJson } from "../devices/visible-text.ts";
import { mayAnywhere } from "../invoke.ts";
import type { Change } from "../operation.ts";
import {
	type Caller,
	changesOfTool,
	errorMembers,
	type ToolServices,
} from "./methods.ts";

const KEY = "confirm";
/** Most records that a question names. */
const MAX_NAMES = 10;
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
 * `given` holds the answers in the client's request. A call that would fail gets its error instead
 * of a question.
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
	const tool = tools.catalogue.tools.get(name);
	if (!tool) return undefined;
	let changes: readonly Change[];
	try {
		changes = await changesOfTool(tools, caller, tool, input);
	} catch (thrown) {
		return JSON.parse(`{${errorMembers(caller, thrown)}}`);
	}
	return inputRequired({
		inputRequests: {
			[KEY]: inputRequired.elicit({
				message: `${tool.operation.title}: ${describe(changes)}?`,
				requestedSchema: confirmation,
			}),
		},
	});
}

/** Names the records that a call would change, such as `"Ada" and 3 more`. */
function describe(changes: readonly Change[]): string {
	const records = new Map(changes.map((change) => [change.id, change]));
	const names = [...records.values()].map(({ kind, id, name }) =>
		name === null
			? `${kind.replaceAll("_", " ")} ${id}`
			: visibleJson(JSON.stringify(name)),
	);
	const shown = names.slice(0, MAX_NAMES).join(", ");
	const others = names.length - MAX_NAMES;
	if (names.length === 0) return "nothing would change";
	return others > 0 ? `${shown} and ${others} more` : shown;
}
