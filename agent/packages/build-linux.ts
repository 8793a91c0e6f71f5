import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { defaultConfigFile } from "../config-file.ts";
import { defaultFolder } from "../folder.ts";
import { systemdUnit } from "../service/systemd.ts";
import { makeArchive } from "./archive.ts";
import {
	ARCHITECTURES,
	type LinuxArchitecture,
	makeDeb,
	makeRpm,
} from "./deb-and-rpm.ts";

const BUILDERS = {
	deb: buildDeb,
	rpm: buildRpm,
	"tar.gz": buildTar,
} as const;

export type LinuxFormat = keyof typeof BUILDERS;
export const LINUX_FORMATS = Object.keys(BUILDERS) as LinuxFormat[];

export interface LinuxBuild {
	architecture: LinuxArchitecture;
	version: string;
	/** Folder with `assay-agent` and `LICENSES.txt` for this architecture. */
	built: string;
	/** An empty folder for intermediate files. */
	work: string;
	out: string;
	formats: readonly LinuxFormat[];
	/** Compression level from 0 to 9. */
	level: number;
}

const HERE = import.meta.dirname;

/** Makes the packages and returns the names of the files in `out`. */
export function buildLinux(build: LinuxBuild): string[] {
	const staged = join(build.work, "staged");
	stage(build, staged);
	return build.formats.map((format) => BUILDERS[format](build, staged));
}

/** Makes the tree of files that the packages install. */
function stage({ built }: LinuxBuild, staged: string): void {
	const put = (path: string, mode: number, text?: string, from?: string) => {
		const to = join(staged, path);
		mkdirSync(dirname(to), { recursive: true, mode: 0o755 });
		if (from) copyFileSync(from, to);
		else writeFileSync(to, text ?? "");
		chmodSync(to, mode);
	};
	const docs = "usr/share/doc/assay-agent";
	put("usr/bin/assay-agent", 0o755, undefined, join(built, "assay-agent"));
	put("usr/lib/systemd/system/assay-agent.service", 0o644, packagedUnit());
	put(`${docs}/copyright`, 0o644, undefined, join(built, "LICENSES.txt"));
	put(`${docs}/config.example`, 0o644, undefined, join(HERE, "config.example"));
	mkdirSync(join(staged, "etc/assay-agent"), { recursive: true, mode: 0o755 });
}

/** Returns the unit of the packages. Its service enrolls the device as the config file says. */
export function packagedUnit(): string {
	const folder = defaultFolder({ platform: "linux", isPrivileged: true });
	return systemdUnit({
		program: "/usr/bin/assay-agent",
		args: ["run", "--dir", folder, "--config", defaultConfigFile("linux")],
		folder,
		environment: {},
	});
}

function buildDeb(build: LinuxBuild, staged: string): string {
	const { architecture, version } = build;
	const bytes = statSync(join(staged, "usr/bin/assay-agent")).size;
	const installedKib = Math.ceil(bytes / 1024) + 200;
	return makeDeb(
		{ ...build, staged },
		{
			name: `assay-agent_${version}_${ARCHITECTURES[architecture].deb}.deb`,
			scripts: join(HERE, "debian"),
			control: debControl(version, architecture, installedKib),
			// Debian 11 and Ubuntu 20.04 can read xz, but Debian 11 cannot read zstd.
			compression: ["-Zxz", `-z${build.level}`],
		},
	);
}

/** Returns the control file of the deb. The libraries are those that Node's executable names. */
export function debControl(
	version: string,
	architecture: LinuxArchitecture,
	installedKib: number,
): string {
	return `Package: assay-agent
Version: ${version}
Architecture: ${ARCHITECTURES[architecture].deb}
Maintainer: Assay contributors <assay@localhost>
Installed-Size: ${installedKib}
Depends: libc6 (>= 2.28), libstdc++6, libgcc-s1 | libgcc1, libatomic1, init-system-helpers
Section: admin
Priority: optional
Description: Device agent of Assay
 Checks how this device is secured and reports the results to an Assay service.
`;
}

function buildRpm(build: LinuxBuild, staged: string): string {
	return makeRpm(
		{ ...build, staged },
		{
			spec: join(HERE, "rpm/assay-agent.spec"),
			version: build.version,
			architecture: build.architecture,
			payload: `w${build.level}T0.xzdio`,
		},
	);
}

function buildTar(build: LinuxBuild): string {
	return makeArchive(build, `linux-${build.architecture}`);
}
