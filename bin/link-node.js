// Runs after every install and makes sure that npm scripts find the Node that came with it. The
// script is needed because npm 10 removes this platform's link together with the links of the same
// name for other platforms. It is plain JavaScript, because an old Node may be running npm.
import { existsSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const modules = join(import.meta.dirname, "../node_modules");
const isWindows = process.platform === "win32";
const name = isWindows ? "win" : process.platform;
const found = [
	`node-${name}-${process.arch}`,
	`node-bin-${name}-${process.arch}`,
].find((folder) => existsSync(join(modules, folder)));
const link = join(modules, ".bin", isWindows ? "node.cmd" : "node");
if (found && !existsSync(link)) {
	if (isWindows) {
		writeFileSync(link, `@"%~dp0\\..\\${found}\\bin\\node.exe" %*\r\n`);
	} else {
		symlinkSync(join("..", found, "bin/node"), link);
	}
}
