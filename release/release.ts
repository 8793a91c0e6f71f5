import { execFileSync, spawnSync } from "node:child_process";
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command, Option } from "commander";
import type { LinuxArchitecture } from "../agent/packages/deb-and-rpm.ts";
import { gpgSigner } from "../agent/packages/repositories.ts";
import { requireTools, runTool } from "../agent/packages/run-tool.ts";
import { RELEASE } from "../src/agent-packages/release.ts";
import { VERSION } from "../src/version.ts";
import {
	checkChangelog,
	checkNothingUnreleased,
	entryOf,
	giveToPreview,
} from "./changelog.ts";
import { writeChecksums } from "./checksums.ts";
import { buildReleaseFiles, bytesOf, packFolder } from "./linux-packages.ts";
import { checkPublished, fingerprintOf } from "./release-key.ts";
import { makeTree, recordCommit, stripTool } from "./tree.ts";

/** Options of `npm run release`. docs/release.md explains them. */
interface Options {
	out: string;
	only: LinuxArchitecture[];
	preview?: string;
	signWith?: string;
	level: string;
}

const ROOT = join(import.meta.dirname, "..");
const ALL_ARCHITECTURES = ["x64", "arm64"] as const;
const MAX_TREE_BYTES = 250e6;

function release(options: Options): void {
	const version = options.preview ?? VERSION;
	if (!RELEASE.test(version)) {
		throw new Error("the version must be three numbers, such as 1.4.0");
	}
	if (!/^(?:[1-9]|1[0-9])$/.test(options.level)) {
		throw new Error("--level must be a number from 1 to 19");
	}
	requireTools([
		...(["git", "tar", "dpkg-deb", "rpmbuild"] as const),
		...options.only.map(stripTool),
		...(options.signWith ? (["gpg", "rpmsign"] as const) : []),
	]);
	if (spawnSync("helm", ["version"]).error) {
		throw new Error("helm missing; see https://helm.sh/docs/intro/install/");
	}
	const commit = git("rev-parse", "HEAD");
	if (options.preview === undefined) checkSource(version, options.signWith);
	const out = resolve(options.out);
	if (readdirOrNothing(out).length > 0) {
		throw new Error(`${out} is not empty; delete it or give another --out`);
	}
	mkdirSync(out, { recursive: true, mode: 0o755 });
	// Packages made twice from one commit have the same dates inside.
	process.env.SOURCE_DATE_EPOCH = git("log", "-1", "--format=%ct");
	const work = mkdtempSync(join(tmpdir(), "assay-release-"));
	try {
		tell("checking out the commit, and installing the packages of npm");
		const source = checkOut(commit, version, join(work, "source"));
		if (options.preview !== undefined) {
			const file = join(source, "CHANGELOG.md");
			const day = git("log", "-1", "--format=%cs");
			const changelog = readFileSync(file, "utf8");
			writeFileSync(file, giveToPreview(changelog, version, day));
		}
		tell("packing the image's files, the chart and the list of packages");
		const made = [
			...makeImageContext(source, commit, version, work, out),
			...packChart(source, version, out),
			...makeSbom(source, version, out),
			...writeNotes(source, version, out),
			...options.only.flatMap((architecture) =>
				makeFiles(source, version, architecture, work, {
					...options,
					out,
				}),
			),
		];
		tell("writing and signing the checksums");
		const signer = options.signWith ? gpgSigner(options.signWith) : undefined;
		for (const file of made) {
			if (file.endsWith(".rpm")) signer?.signRpm(join(out, file));
		}
		writeChecksums(out, signer);
		for (const file of readdirSync(out).sort()) {
			process.stdout.write(`${join(out, file)}\n`);
		}
		if (!signer) {
			process.stderr.write(
				"The files are not signed. Sign what you publish, with --sign-with.\n",
			);
		}
	} finally {
		rmSync(work, { recursive: true });
	}
}

/**
 * Throws unless the files would be exactly those of the tag, the changelog says what is new, and
 * operators can compare the key.
 */
function checkSource(version: string, key: string | undefined): void {
	if (git("status", "--porcelain") !== "") {
		throw new Error("the checkout has changes; commit or remove them first");
	}
	const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
	checkChangelog(changelog, version);
	checkNothingUnreleased(changelog);
	const tag = `v${version}`;
	if (!git("tag", "--points-at", "HEAD").split("\n").includes(tag)) {
		throw new Error(
			`this commit is not tagged ${tag}; run: git tag --sign ${tag}`,
		);
	}
	if (key !== undefined) {
		const security = readFileSync(join(ROOT, "SECURITY.md"), "utf8");
		checkPublished(fingerprintOf(key), security);
	}
}

/** Makes a checkout of the commit with the packages of npm and a built console. */
function checkOut(commit: string, version: string, folder: string): string {
	mkdirSync(folder);
	const archive = `${folder}.tar`;
	git("archive", "--output", archive, commit);
	runTool("tar", ["-xf", archive, "-C", folder]);
	recordCommit(folder, version, commit);
	npm(folder, "ci", "--no-audit", "--no-fund", "--silent");
	tell("building the console");
	npm(folder, "run", "--silent", "build:console");
	return folder;
}

/** Packs what `docker build` needs. The image builds the console itself. */
function makeImageContext(
	source: string,
	commit: string,
	version: string,
	work: string,
	out: string,
): string[] {
	const root = `assay-${version}-image`;
	const folder = join(work, root);
	const names = git("ls-tree", "-r", "-z", "--name-only", commit);
	for (const file of names.split("\0")) {
		const isUnneeded = /^(?:test|bench|\.ci|\.github|docs\/screenshots)\//;
		if (!file || isUnneeded.test(file)) continue;
		cpSync(join(source, file), join(folder, file));
	}
	packFolder(folder, root, join(out, `${root}.tar.gz`));
	return [`${root}.tar.gz`];
}

function packChart(source: string, version: string, out: string): string[] {
	const chart = join(source, "deploy/helm/assay");
	const versions = ["--version", version, "--app-version", version];
	execFileSync("helm", ["package", chart, ...versions, "-d", out], {
		stdio: ["ignore", "ignore", "inherit"],
	});
	const name = `assay-${version}.tgz`;
	// Files of a chart and of a program should not look alike.
	const chartName = `assay-chart-${version}.tgz`;
	cpSync(join(out, name), join(out, chartName));
	rmSync(join(out, name));
	return [chartName];
}

function makeSbom(source: string, version: string, out: string): string[] {
	const name = `assay-${version}.cdx.json`;
	writeFileSync(join(out, name), npm(source, "run", "--silent", "sbom"));
	return [name];
}

/** Writes what is new in the version, and what an operator must do. */
function writeNotes(source: string, version: string, out: string): string[] {
	const name = `assay-${version}-changes.md`;
	const changelog = readFileSync(join(source, "CHANGELOG.md"), "utf8");
	writeFileSync(join(out, name), entryOf(changelog, version));
	return [name];
}

function makeFiles(
	source: string,
	version: string,
	architecture: LinuxArchitecture,
	work: string,
	{ out, level }: Options,
): string[] {
	const inside = join(work, architecture);
	const tree = join(inside, "tree");
	mkdirSync(tree, { recursive: true });
	tell(`making an installation for ${architecture}`);
	makeTree(source, architecture, tree);
	const bytes = bytesOf(tree);
	if (bytes > MAX_TREE_BYTES) {
		throw new Error(
			`an installation for ${architecture} has ${Math.ceil(bytes / 1e6)} MB, more than ${MAX_TREE_BYTES / 1e6}`,
		);
	}
	tell(`packing the tarball, the deb and the rpm for ${architecture}`);
	const build = { version, architecture, source, tree, work: inside, out };
	const made = buildReleaseFiles({ ...build, level: Number(level) });
	rmSync(inside, { recursive: true });
	return made;
}

/** Says on standard error what comes next, because a release takes minutes. */
function tell(what: string): void {
	const seconds = Math.round(performance.now() / 1000);
	process.stderr.write(`${seconds} s: ${what}\n`);
}

function git(...args: string[]): string {
	return runTool("git", ["-C", ROOT, ...args]).trim();
}

function npm(folder: string, ...args: string[]): string {
	return execFileSync("npm", args, {
		cwd: folder,
		encoding: "utf8",
		maxBuffer: 64 << 20,
		stdio: ["ignore", "pipe", "inherit"],
	});
}

function readdirOrNothing(folder: string): string[] {
	try {
		return readdirSync(folder);
	} catch {
		return [];
	}
}

const program = new Command("release")
	.description("Make the files of a release from this commit.")
	.option("--out <folder>", "output folder", join(ROOT, "dist/release"))
	.addOption(
		new Option("--only <architecture...>", "some of the architectures")
			.choices(ALL_ARCHITECTURES)
			.default([...ALL_ARCHITECTURES]),
	)
	.option(
		"--preview <version>",
		"a version to try; needs no tag and no entry in the changelog",
	)
	.option("--sign-with <key>", "id of the gpg key that signs the files")
	.option("--level <level>", "compression from 1 (quick) to 19", "12")
	.parse();
try {
	release(program.opts<Options>());
} catch (error) {
	const { message, stderr } = error as Error & { stderr?: string };
	process.stderr.write(`release: ${message}\n${stderr ?? ""}`);
	process.exitCode = 1;
}
