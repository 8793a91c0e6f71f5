import { realpathSync } from "node:fs";
import { isSea } from "node:sea";

export interface OwnProgram {
	program: string;
	/**
	 * Arguments before the command: the script, if Node runs one, and the words that name the agent.
	 */
	args: string[];
}

/**
 * Returns how to start this program again. `how` names the agent in it: `agent` in `assay agent
 * run`.
 */
export function ownProgram(how: readonly string[]): OwnProgram {
	const script = isSea() ? [] : [realpathSync(process.argv[1] ?? "")];
	return { program: process.execPath, args: [...script, ...how] };
}
