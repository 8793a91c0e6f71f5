import { execFileSync } from "node:child_process";
import {
	chmodSync,
	copyFileSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Command } from "commander";
import { VERSION } from "../src/version.ts";
import { bundleAgent, licenseOf } from "./bundle.ts";
import { BUNDLE } from "./service/program.ts";

/**
 * Options of `npm run build:agent`. The command writes two programs to `dist/`: the agent as one
 * file for any Node from 24 on, and a single executable, which is Node with that file inside.
 * `--node` takes the Node of another platform, so one machine can make the executables of all
 * platforms. That Node must have exactly this version.
 */
interface Options {
	out: string;
	node?: string;
	name?: string;
	bundleOnly?: boolean;
	release: string;
}

/**
 * V8 options of the executable. The agent needs about 10 MB and hardly computes. These options keep
 * V8 from letting garbage grow with the machine's memory, and from keeping data that only makes
 * code faster.
 */
const V8_OPTIONS = [
	"--lite-mode",
	"--max-old-space-size=128",
	"--max-semi-space-size=1",
];

const ROOT = join(import.meta.dirname, "..");

async function build(options: Options): Promise<void> {
	const out = resolve(options.out);
	mkdirSync(out, { recursive: true });
	const bundle = join(out, BUNDLE);
	writeFileSync(bundle, await bundleAgent(options.release));
	chmodSync(bundle, 0o755);
	process.stdout.write(`${bundle}\n`);
	if (options.bundleOnly) return;

	const executable = join(out, options.name ?? executableName(options.node));
	const work = mkdtempSync(join(tmpdir(), "assay-build-"));
	try {
		await makeExecutable(bundle, executable, options.node, work);
	} finally {
		rmSync(work, { recursive: true });
	}
	writeFileSync(join(out, "LICENSES.txt"), licenses());
	process.stdout.write(`${executable}\n`);
}

async function makeExecutable(
	bundle: string,
	executable: string,
	foreignNode: string | undefined,
	work: string,
): Promise<void> {
	const node = join(work, "node");
	const source = foreignNode ?? process.execPath;
	requireSameVersion(source);
	copyFileSync(source, node);
	chmodSync(node, 0o755);
	if (source.endsWith(".exe")) dropWindowsSignature(node);
	// Debugging symbols make up a quarter of the executable.
	if (isElf(node)) tryStrip(node);
	const config = join(work, "sea.json");
	writeFileSync(
		config,
		JSON.stringify({
			main: bundle,
			mainFormat: "commonjs",
			executable: node,
			output: executable,
			disableExperimentalSEAWarning: true,
			// Only the Node that compiled a code cache can use it.
			useCodeCache: !foreignNode,
			// The agent runs with all rights, so NODE_OPTIONS must not be able to change what it does.
			execArgvExtension: "none",
			execArgv: V8_OPTIONS,
		}),
	);
	rmSync(executable, { force: true });
	// The build runs with the same V8 options, because V8 ignores a code cache that was compiled with
	// other options.
	execFileSync(process.execPath, [...V8_OPTIONS, "--build-sea", config], {
		stdio: ["ignore", "ignore", "inherit"],
	});
	chmodSync(executable, 0o755);
	// The build has broken Node's own signature, and macOS does not run a program with a broken one.
	if (process.platform === "darwin" && !foreignNode) {
		execFileSync("codesign", ["--force", "--sign", "-", executable]);
	}
}

/**
 * Throws unless `node` has the same version as this process. An executable built from another
 * version would not start.
 */
function requireSameVersion(node: string): void {
	if (!readFileSync(node).includes(process.version)) {
		throw new Error(
			`${node} must be Node ${process.version}, the version that runs this build`,
		);
	}
}

/**
 * Removes Node's own signature, which is not valid for the agent and would prevent a new one. The
 * fifth data directory in the header of the PE file points to the signature, which extends to the
 * end of the file.
 */
function dropWindowsSignature(file: string): void {
	const bytes = readFileSync(file);
	const header = bytes.readUInt32LE(0x3c);
	const isPe32Plus = bytes.readUInt16LE(header + 24) === 0x20b;
	const directory = header + 24 + (isPe32Plus ? 112 : 96) + 4 * 8;
	const start = bytes.readUInt32LE(directory);
	if (start === 0) return;
	bytes.writeBigUInt64LE(0n, directory);
	writeFileSync(file, bytes.subarray(0, start));
}

const isElf = (file: string) =>
	readFileSync(file).subarray(0, 4).toString("latin1") === "\x7fELF";

function tryStrip(file: string): void {
	// The machine that the program is for stands at byte 18. 183 is ARM64.
	const isArm64 = readFileSync(file).readUInt16LE(18) === 183;
	const strip =
		isArm64 && process.arch !== "arm64" ? "aarch64-linux-gnu-strip" : "strip";
	try {
		execFileSync(strip, [file], { stdio: "ignore" });
	} catch {
		process.stderr.write(
			`${strip} is not installed, so the executable is larger\n`,
		);
	}
}

function executableName(node: string | undefined): string {
	const isWindows = node ? node.endsWith(".exe") : process.platform === "win32";
	return isWindows ? "assay-agent.exe" : "assay-agent";
}

/**
 * Returns the licenses of everything in the executable. Node's license file covers all of Node's
 * parts and must accompany the executable.
 */
function licenses(): string {
	const system = process.platform === "win32" ? "win" : process.platform;
	for (const name of [
		`node-${system}-${process.arch}`,
		`node-bin-${system}-${process.arch}`,
	]) {
		try {
			return `commander\n\n${licenseOf("commander")}\n\nNode.js\n\n${licenseOf(name)}`;
		} catch {
			// This Node was installed in another way and has no license file at this place.
		}
	}
	return `commander\n\n${licenseOf("commander")}\n\nNode.js: https://github.com/nodejs/node/blob/${process.version}/LICENSE\n`;
}

const program = new Command("build:agent")
	.option("--out <folder>", "output folder", join(ROOT, "dist"))
	.option(
		"--node <file>",
		"Node of another platform, in the same version as this one",
	)
	.option("--name <name>", "name of the executable")
	.option("--bundle-only", "make only the single file for Node")
	.option("--release <version>", "version of the agent", VERSION)
	.parse();
await build(program.opts<Options>());
