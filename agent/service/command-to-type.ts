import { existsSync } from "node:fs";
import { basename, delimiter, join } from "node:path";
import type { OwnProgram } from "../own-program.ts";
import { BUNDLE } from "./program.ts";

/** The name under which the agent's packages put it into PATH. */
const NAME = "assay-agent";

/**
 * Returns what a user types to call the agent again. That is `name` if the shell finds it. Only the
 * packages put the agent into PATH, so the program of an archive is called by its full path, which
 * is in `folder` after it was installed there.
 */
export function commandToType(
	name: string,
	own: OwnProgram,
	folder: string | undefined,
	path: string = process.env.PATH ?? "",
): string {
	if (name !== NAME) return name;
	const isFound = path
		.split(delimiter)
		.some((each) => existsSync(join(each, fileName())));
	if (isFound) return name;
	const [script] = own.args;
	const parts =
		script === undefined
			? [folder ? join(folder, fileName()) : own.program]
			: [
					own.program,
					folder && basename(script) === BUNDLE ? join(folder, BUNDLE) : script,
				];
	const typed = parts.map((part) => (/\s/.test(part) ? `"${part}"` : part));
	// PowerShell calls a path in quotes only after this sign.
	const isQuoted = typed[0] !== parts[0];
	return `${process.platform === "win32" && isQuoted ? "& " : ""}${typed.join(" ")}`;
}

const fileName = () => (process.platform === "win32" ? `${NAME}.exe` : NAME);
