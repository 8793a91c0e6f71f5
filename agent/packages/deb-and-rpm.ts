import {
	chmodSync,
	copyFileSync,
	cpSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { runTool } from "./run-tool.ts";

/** The names that deb and rpm have for the architectures of Node. */
export const ARCHITECTURES = {
	x64: { deb: "amd64", rpm: "x86_64" },
	arm64: { deb: "arm64", rpm: "aarch64" },
} as const;

export type LinuxArchitecture = keyof typeof ARCHITECTURES;

interface PackageBuild {
	/** The tree of files that the package installs. */
	staged: string;
	/** An empty folder for intermediate files. */
	work: string;
	out: string;
}

/**
 * Gives a folder and everything in it the modes of installed files: 0755 for folders and programs,
 * 0644 for the rest. The files have those of a checkout, which depend on the umask of its owner.
 */
function setModes(folder: string): void {
	chmodSync(folder, 0o755);
	for (const name of readdirSync(folder, { recursive: true }) as string[]) {
		const path = join(folder, name);
		const found = lstatSync(path);
		if (found.isSymbolicLink()) continue;
		const isOpen = found.isDirectory() || (found.mode & 0o100) !== 0;
		chmodSync(path, isOpen ? 0o755 : 0o644);
	}
}

/** Makes a deb with the scripts in `scripts`, and the text of its control file. */
export function makeDeb(
	{ staged, work, out }: PackageBuild,
	options: {
		name: string;
		scripts: string;
		control: string;
		/** Options of dpkg-deb, such as `-Zxz`. */
		compression: readonly string[];
	},
): string {
	const tree = join(work, "deb");
	// Links stay as they are; absolute ones would lead out of the package.
	cpSync(staged, tree, { recursive: true, verbatimSymlinks: true });
	const scripts = join(tree, "DEBIAN");
	mkdirSync(scripts, { mode: 0o755 });
	for (const name of readdirSync(options.scripts)) {
		copyFileSync(join(options.scripts, name), join(scripts, name));
		chmodSync(join(scripts, name), 0o755);
	}
	writeFileSync(join(scripts, "control"), options.control, { mode: 0o644 });
	setModes(tree);
	runTool("dpkg-deb", [
		...options.compression,
		"--root-owner-group",
		"--build",
		tree,
		join(out, options.name),
	]);
	return options.name;
}

/** Makes the rpm of a spec file, which gets the macros release_version and staged. */
export function makeRpm(
	{ staged, work, out }: PackageBuild,
	options: {
		spec: string;
		version: string;
		architecture: LinuxArchitecture;
		/** rpm's name of the compression, such as `w6T0.xzdio`. */
		payload: string;
	},
): string {
	setModes(staged);
	const target = ARCHITECTURES[options.architecture].rpm;
	const top = join(work, "rpm");
	const macros = {
		_topdir: top,
		release_version: options.version,
		staged,
		// A macro of Debian's rpm would name the folder after the machine that builds.
		_rpmdir: join(top, "made"),
		_binary_payload: options.payload,
		// The same files make the same package, on whatever machine and day.
		_buildhost: "localhost",
		use_source_date_epoch_as_buildtime: "1",
	};
	runTool("rpmbuild", [
		"-bb",
		"--quiet",
		"--target",
		`${target}-linux`,
		...Object.entries(macros).flatMap(([name, value]) => [
			"--define",
			`${name} ${value}`,
		]),
		options.spec,
	]);
	const folder = join(top, "made", target);
	const [name] = readdirSync(folder);
	if (!name) throw new Error("rpmbuild made no package");
	cpSync(join(folder, name), join(out, name));
	return name;
}
