import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";

/**
 * Makes a tar.gz with the program and the licenses in `out`, and returns its name. `system` names
 * the system and its architecture, such as `linux-x64`.
 */
export function makeArchive(
	{
		version,
		built,
		work,
		out,
	}: { version: string; built: string; work: string; out: string },
	system: string,
): string {
	const root = `assay-agent-${version}-${system}`;
	const folder = join(work, root);
	mkdirSync(folder, { mode: 0o755 });
	copyFileSync(join(built, "assay-agent"), join(folder, "assay-agent"));
	chmodSync(join(folder, "assay-agent"), 0o755);
	const licenses = readFileSync(join(built, "LICENSES.txt"));
	writeFileSync(join(folder, "LICENSES.txt"), licenses, { mode: 0o644 });
	const name = `${root}.tar.gz`;
	const owner = ["--owner=root:0", "--group=root:0", "--mode=u=rwX,go=rX"];
	runTool("tar", [...owner, "-czf", join(out, name), "-C", work, root]);
	return name;
}
