import { realpathSync } from "node:fs";
import { isSea } from "node:sea";

/** Name of the hidden command that fetches a newer program. */
export const FETCH_UPDATE = "fetch-update";

export interface OwnProgram {
	program: string;
	/**
	 * The arguments before the command: the script, if Node runs one, and the words that name the
	 * agent.
	 */
	args: string[];
}

/**
 * Returns the command that starts this program again. `how` holds the words that name the agent,
 * such as `agent` in `assay agent run`.
 */
export function ownProgram(how: readonly string[]): OwnProgram {
	const script = isSea() ? [] : [realpathSync(process.argv[1] ?? "")];
	return { program: process.execPath, args: [...script, ...how] };
}
