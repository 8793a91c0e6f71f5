import { type Command, InvalidArgumentError } from "commander";
import {
	MAX_MESSAGE,
	readMaintenance,
	setMaintenance,
} from "../load/maintenance.ts";
import { print, printable } from "./output.ts";
import { withDatabase } from "./with-database.ts";

const SOON = "The service notices within 6 seconds.";

/** Adds the commands that turn everybody away for a while, and let them in again. */
export function addMaintenance(program: Command): void {
	const maintenance = program
		.command("maintenance")
		.description(
			"Turn everybody away with a message while you work on the installation. Devices get 503, keep their keys and retry. Commands on the server work as usual.",
		);
	maintenance
		.command("begin")
		.description("Begin maintenance, or change its message.")
		.argument(
			"<message>",
			"sentence for everybody who is turned away, such as why and until when",
			parseMessage,
		)
		.option("--json", "print the state as JSON")
		.action((message: string, options: { json?: boolean }) =>
			setAndPrint(message, options),
		);
	maintenance
		.command("end")
		.description("End maintenance.")
		.option("--json", "print the state as JSON")
		.action((options: { json?: boolean }) => setAndPrint(null, options));
	maintenance
		.command("show")
		.description("Say whether the installation is in maintenance.")
		.option("--json", "print the state as JSON")
		.action((options: { json?: boolean }) => setAndPrint(undefined, options));
}

/** Sets the message, unless it is undefined, and prints the state. */
async function setAndPrint(
	message: string | null | undefined,
	options: { json?: boolean },
): Promise<void> {
	const state = await withDatabase(async ({ pool }) => {
		if (message !== undefined) await setMaintenance(pool, message);
		return readMaintenance(pool);
	});
	const found = state
		? `In maintenance since ${state.began_at.toISOString()}: ${printable(state.message)}`
		: "Not in maintenance.";
	print(
		options,
		{
			maintenance: state
				? { message: state.message, began_at: state.began_at.toISOString() }
				: null,
		},
		message === undefined ? found : `${found}\n${SOON}`,
	);
}

function parseMessage(given: string): string {
	const message = given.trim();
	// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is not allowed.
	const isOneLine = !/[\u0000-\u001f\u007f]/.test(message);
	if (message === "" || [...message].length > MAX_MESSAGE || !isOneLine) {
		throw new InvalidArgumentError(
			`The message must be one line with 1 to ${MAX_MESSAGE} characters.`,
		);
	}
	return message;
}
