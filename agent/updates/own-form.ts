import { isSea } from "node:sea";
import { AgentError } from "../agent-error.ts";
import { exists } from "../files.ts";
import { readPinnedKey } from "./update-notes.ts";

const PACKAGED_UNIT = "/usr/lib/systemd/system/assay-agent.service";

/** Returns true if this program updates itself, as `install` was told. */
export async function updatesItself(folder: string): Promise<boolean> {
	return (await isUpdatable()) && (await readPinnedKey(folder)) !== undefined;
}

/** Throws unless this program can update itself. */
export async function requireUpdatable(): Promise<void> {
	if (await isUpdatable()) return;
	throw new AgentError(
		"only the program from the tar.gz for Linux updates itself; leave --update-key out, and update this device through its package manager or its management system",
	);
}

async function isUpdatable(): Promise<boolean> {
	return (
		process.platform === "linux" && isSea() && !(await exists(PACKAGED_UNIT))
	);
}
