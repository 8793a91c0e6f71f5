import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { VERSION } from "../../src/version.ts";
import { buildLinux, LINUX_FORMATS, type LinuxFormat } from "./build-linux.ts";
import { buildMacos } from "./build-macos.ts";
import { buildMsi } from "./build-windows.ts";
import type { LinuxArchitecture } from "./deb-and-rpm.ts";
import { NODE_PLATFORMS, type NodePlatform, nodeFor } from "./node-programs.ts";
import { gpgSigner, indexFolder, packagesOf } from "./repositories.ts";
import { hasTool, requireTools } from "./run-tool.ts";

/** Options of `npm run build:packages`. docs/agent.md explains them. */
interface Options {
	out: string;
	only?: string[];
	release: string;
	signWith?: string;
	cache: string;
	level: string;
	formats: LinuxFormat[];
	keep?: boolean;
}

const ROOT = join(import.meta.dirname, "../..");

const isMacos = (platform: NodePlatform) => platform.startsWith("darwin-");

function buildPackages(options: Options): void {
	const { release } = options;
	const canSign = hasTool("rcodesign");
	// msi compares three numbers, and rpm permits no hyphen.
	if (!/^\d{1,3}\.\d{1,3}\.\d{1,5}$/.test(release)) {
		throw new Error("--release must be three numbers, such as 1.4.0");
	}
	if (!/^[0-9]$/.test(options.level)) {
		throw new Error("--level must be a number from 0 to 9");
	}
	const isKnown = (format: string) =>
		LINUX_FORMATS.some((each) => each === format);
	if (!options.formats.every(isKnown)) {
		throw new Error(`--formats knows ${LINUX_FORMATS.join(", ")}`);
	}
	const platforms = NODE_PLATFORMS.filter((each) =>
		options.only ? options.only.includes(each) : !isMacos(each) || canSign,
	);
	if (!options.only && !canSign) {
		process.stderr.write(
			"The archives for macOS are left out, because rcodesign is missing. Install it with: cargo install --no-default-features apple-codesign\n",
		);
	}
	const unknown = options.only?.filter(
		(each) => !platforms.some((platform) => platform === each),
	);
	if (unknown?.length) {
		throw new Error(`--only knows ${NODE_PLATFORMS.join(", ")}`);
	}
	requireTools([
		...(["dpkg-deb", "rpmbuild", "apt-ftparchive", "createrepo_c"] as const),
		...(platforms.includes("win-x64") ? (["wixl", "msibuild"] as const) : []),
		...(platforms.some(isMacos) ? (["rcodesign"] as const) : []),
		...(options.signWith ? (["gpg", "rpmsign"] as const) : []),
	]);
	const out = resolve(options.out);
	mkdirSync(out, { recursive: true, mode: 0o755 });
	const work = mkdtempSync(join(tmpdir(), "assay-packages-"));
	try {
		const files = platforms.flatMap((platform) => {
			const inside = join(work, platform);
			const made = buildFor(platform, { ...options, out, work: inside });
			for (const file of made) process.stdout.write(`${join(out, file)}\n`);
			return made;
		});
		const signer = options.signWith ? gpgSigner(options.signWith) : undefined;
		for (const file of files) {
			if (file.endsWith(".rpm")) signer?.signRpm(join(out, file));
		}
		const kept = options.keep ? packagesOf(out, release, files) : [];
		indexFolder(out, release, [...files, ...kept], signer);
		if (!signer) {
			process.stderr.write(
				"The packages are not signed. Devices can update from this folder only if you sign it with --sign-with.\n",
			);
		}
	} finally {
		rmSync(work, { recursive: true });
	}
}

function buildFor(
	platform: NodePlatform,
	{ out, release, cache, work, level, formats }: Options & { work: string },
): string[] {
	const built = join(work, "built");
	mkdirSync(built, { recursive: true });
	const isOwn = platform === `${process.platform}-${process.arch}`;
	const node = isOwn ? undefined : nodeFor(platform, resolve(cache));
	const name = platform === "win-x64" ? "assay-agent.exe" : "assay-agent";
	execFileSync(
		process.execPath,
		[
			join(ROOT, "agent/build.ts"),
			"--out",
			built,
			"--release",
			release,
			"--name",
			name,
			...(node ? ["--node", node] : []),
		],
		{ stdio: ["ignore", "ignore", "inherit"] },
	);
	if (platform === "win-x64") {
		return [buildMsi({ version: release, built, work, out })];
	}
	const architecture = platform.split("-")[1] as LinuxArchitecture;
	if (isMacos(platform)) {
		return [buildMacos({ architecture, version: release, built, work, out })];
	}
	return buildLinux({
		architecture,
		version: release,
		built,
		work,
		out,
		level: Number(level),
		formats,
	});
}

const program = new Command("build:packages")
	.description("Build the packages of the agent, and repositories of them.")
	.option("--out <folder>", "output folder", join(ROOT, "dist/packages"))
	.option(
		"--only <platform...>",
		`some of the platforms ${NODE_PLATFORMS.join(", ")}`,
	)
	.option("--release <version>", "version of the packages", VERSION)
	.option("--sign-with <key>", "id of the gpg key that signs the repositories")
	.option(
		"--formats <format...>",
		"formats of the packages for Linux",
		LINUX_FORMATS,
	)
	.option(
		"--keep",
		"also list and sign the packages of this version that are in the folder already",
	)
	.option("--level <level>", "compression level from 0 (quick) to 9", "6")
	.option(
		"--cache <folder>",
		"folder for Node of other platforms",
		join(ROOT, ".cache/nodes"),
	)
	.parse();
try {
	buildPackages(program.opts<Options>());
} catch (error) {
	const { message, stderr } = error as Error & { stderr?: string };
	process.stderr.write(`build:packages: ${message}\n${stderr ?? ""}`);
	process.exitCode = 1;
}
