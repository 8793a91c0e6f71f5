import { realpathSync } from "node:fs";
import { isSea } from "node:sea";

export interface OwnProgram {
	program: string;
	/** Before the command: the script, where Node runs one, and how the agent is named in it. */
	args: string[];
}

/** How this very program is started again. `how` names the agent in it: `agent` in `assay agent run`. */
export function ownProgram(how: readonly string[]): OwnProgram {
	const script = isSea() ? [] : [realpathSync(process.argv[1] ?? "")];
	return { program: process.execPath, args: [...script, ...how] };
}
