import { join } from "node:path";
import { makeArchive } from "./archive.ts";
import { runTool } from "./run-tool.ts";

export interface MacosBuild {
	architecture: "x64" | "arm64";
	version: string;
	/** Folder with `assay-agent` and `LICENSES.txt` for this architecture. */
	built: string;
	work: string;
	out: string;
}

/**
 * Signs the program ad hoc, which Apple silicon requires of every program, and makes its archive in
 * `out`. Returns the archive's name. `npm run verify:macos` checks the signature.
 */
export function buildMacos(build: MacosBuild): string {
	const program = join(build.built, "assay-agent");
	runTool("rcodesign", ["sign", "--binary-identifier", "assay-agent", program]);
	return makeArchive(build, `darwin-${build.architecture}`);
}
