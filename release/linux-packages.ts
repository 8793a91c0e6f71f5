import {
	cpSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import {
	ARCHITECTURES,
	type LinuxArchitecture,
	makeDeb,
	makeRpm,
} from "../agent/packages/deb-and-rpm.ts";
import { runTool } from "../agent/packages/run-tool.ts";

/** Where the packages install the program, and where the units of a checkout expect it. */
const INSTALLED = "/usr/lib/assay";
const UNPACKED = "/opt/assay";
const UNITS = ["assay.service", "assay-backup.service", "assay-backup.timer"];

export interface ReleaseBuild {
	version: string;
	architecture: LinuxArchitecture;
	/** A checkout of the commit, with the scripts of the packages. */
	source: string;
	/** The tree of an installation, as `makeTree` makes it. */
	tree: string;
	/** An empty folder for intermediate files. */
	work: string;
	out: string;
	/** Compression level of zstd, from 1 to 19. */
	level: number;
}

/** Makes a tarball, a deb and an rpm of the service, and returns the names of the files. */
export function buildReleaseFiles(build: ReleaseBuild): string[] {
	const { version, architecture, source, work, out, level } = build;
	const staged = join(work, "staged");
	stage(build, staged);
	const name = `assay_${version}_${ARCHITECTURES[architecture].deb}.deb`;
	const deb = makeDeb(
		{ staged, work, out },
		{
			name,
			scripts: join(source, "release/debian"),
			control: serviceControl(version, architecture, bytesOf(staged)),
			compression: ["-Zzstd", `-z${level}`],
		},
	);
	const rpm = makeRpm(
		{ staged, work, out },
		{
			spec: join(source, "release/rpm/assay.spec"),
			version,
			architecture,
			payload: `w${level}T0.zstdio`,
		},
	);
	return [makeTar(build), deb, rpm];
}

/** Makes the tree of files that the packages install. */
function stage({ tree }: ReleaseBuild, staged: string): void {
	const program = join(staged, INSTALLED);
	const units = join(staged, "usr/lib/systemd/system");
	const programs = join(staged, "usr/bin");
	for (const folder of [units, programs]) {
		mkdirSync(folder, { recursive: true, mode: 0o755 });
	}
	cpSync(tree, program, { recursive: true, verbatimSymlinks: true });
	for (const unit of UNITS) {
		const text = packagedUnit(readFileSync(join(tree, "deploy", unit), "utf8"));
		writeFileSync(join(units, unit), text, { mode: 0o644 });
	}
	symlinkSync("../lib/assay/assay", join(programs, "assay"));
}

/** Returns a unit of the folder `deploy` as the packages install it. */
export function packagedUnit(text: string): string {
	// The comment at the top says how to install the unit by hand.
	const start = text.indexOf("[Unit]");
	return text.slice(start).replaceAll(UNPACKED, INSTALLED);
}

/** Returns the control file of the deb. The libraries are those that Node and PostgreSQL name. */
export function serviceControl(
	version: string,
	architecture: LinuxArchitecture,
	bytes: number,
): string {
	return `Package: assay
Version: ${version}
Architecture: ${ARCHITECTURES[architecture].deb}
Maintainer: Assay contributors <assay@localhost>
Installed-Size: ${Math.ceil(bytes / 1024)}
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1 | libgcc1, libatomic1, init-system-helpers, passwd
Section: admin
Priority: optional
Description: Self-hosted compliance service
 Device posture, registers and a tool server for AI clients. Node and a PostgreSQL are included.
`;
}

function makeTar({ version, architecture, tree, out }: ReleaseBuild): string {
	const root = `assay-${version}-linux-${architecture}`;
	const name = `${root}.tar.gz`;
	packFolder(tree, root, join(out, name));
	return name;
}

/**
 * Packs a folder under the name `root`, the same from the same files. Nobody but their owner may
 * write to the unpacked files, whatever the umask of the checkout was.
 */
export function packFolder(folder: string, root: string, file: string): void {
	runTool("tar", [
		...["--owner=root:0", "--group=root:0", "--sort=name", "--mtime=@0"],
		"--mode=u=rwX,go=rX",
		...["--transform", `flags=r;s,^\\.,${root},`],
		...["-czf", file, "-C", folder, "."],
	]);
}

/** Returns the size of all files below a folder. */
export function bytesOf(folder: string): number {
	return (readdirSync(folder, { recursive: true }) as string[])
		.map((name) => lstatSync(join(folder, name)))
		.reduce((sum, { size }) => sum + size, 0);
}
