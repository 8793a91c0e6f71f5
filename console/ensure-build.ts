import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename, rm, stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import { setImmediate } from "node:timers/promises";
import { AppError } from "../src/errors.ts";

const ROOT = join(import.meta.dirname, "..");
/** The folder of all builds. Each build has a folder in it, named after a hash of the sources. */
const DIST = join(ROOT, "console/dist");
/** The folder of the program that takes screenshots. It is not part of the bundle. */
const SCREENSHOTS = join(ROOT, "console/screenshots");
/** The folder of the agent, from which the build makes the agent's single file. */
const AGENT = join(ROOT, "agent");
/** The folder of the programs that make packages of the agent. They are not in the single file. */
const PACKAGES = join(AGENT, "packages");
/** The folder of the templates of documents, which the console offers. */
const TEMPLATES = join(ROOT, "src/starters/documents");
/**
 * The build reads the names of the toolsets from this file. The file imports the whole server, but
 * its imports change nothing in the bundle.
 */
const OPERATIONS = join(ROOT, "src/operations.ts");
/** Matches an import or export of values from one of our files. Its group is the file's path. */
const IMPORT =
	/^(?:import|export)\s+(?!type\b)(?:[^;]*?\sfrom\s+)?"(\.[^"]+\.tsx?)"/gm;
/** Number of sources that are read at a time. Then other work of the process may continue. */
const READ_AT_ONCE = 32;

/**
 * Returns the folder of the console's build. Builds the console first if there is no build or its
 * sources have changed. If several processes start at the same time, each may build the console,
 * and the build that finishes first is used. An installation without the build packages uses the
 * build that it came with. Throws AppError if there is no build.
 */
export async function ensureConsole(
	tell: (line: string) => void,
): Promise<string> {
	if (!existsSync(join(ROOT, "node_modules/vite/package.json"))) {
		return findBuiltConsole();
	}
	const folder = join(DIST, await hashSources());
	if (existsSync(folder)) return folder;
	tell("Building the console (once, about half a minute) …");
	const unfinished = join(DIST, `.unfinished-${process.pid}`);
	await mkdir(DIST, { recursive: true });
	try {
		await runBuild(unfinished);
		await rename(unfinished, folder).catch((error) => {
			// Another process has finished the same build first.
			if (!existsSync(folder)) throw error;
		});
	} finally {
		await rm(unfinished, { recursive: true, force: true });
	}
	await removeOthers(folder);
	return folder;
}

/** Returns the folder of the newest build. Throws AppError if there is no build. */
export async function findBuiltConsole(): Promise<string> {
	let newest: { folder: string; mtimeMs: number } | undefined;
	for (const folder of await listBuilds()) {
		const { mtimeMs } = await stat(folder);
		if (!newest || mtimeMs > newest.mtimeMs) newest = { folder, mtimeMs };
	}
	if (newest) return newest.folder;
	throw new AppError(
		"service_unavailable",
		"the web console is not built, and the packages that build it are not installed; run `npm ci --include=dev` and then `npm run build:console`",
	);
}

async function hashSources(): Promise<string> {
	const hash = createHash("sha256");
	for (const [path, content] of await readSources()) {
		hash.update(`${relative(ROOT, path)}\0`);
		hash.update(content);
		hash.update("\0");
	}
	return hash.digest("hex").slice(0, 16);
}

/** Returns the paths of the files on which the build depends. */
export async function listSources(): Promise<string[]> {
	return (await readSources()).map(([path]) => path);
}

/**
 * Reads the files on which the build depends, in the order of their paths: the documents and their
 * templates, the console, the agent, and the files of the server from which these import values.
 * Imports of types do not count, because the bundle contains no types.
 *
 * Each start reads these 900 files. `readFile` of node:fs/promises needs three times the processor
 * time.
 */
async function readSources(): Promise<[path: string, content: Buffer][]> {
	const console = await readdir(join(ROOT, "console"), {
		recursive: true,
		withFileTypes: true,
	});
	const agent = await readdir(AGENT, { recursive: true });
	const paths = [
		join(ROOT, "package.json"),
		...(await listMarkdown(join(ROOT, "docs"))),
		...(await listMarkdown(TEMPLATES)),
		...agent
			.filter((file) => file.endsWith(".ts"))
			.map((file) => join(AGENT, file))
			.filter((path) => !isBelow(PACKAGES, path)),
		...console
			.filter((entry) => entry.isFile())
			.map((entry) => join(entry.parentPath, entry.name))
			.filter((path) => !isBelow(DIST, path) && !isBelow(SCREENSHOTS, path)),
	];
	const sources = new Map<string, Buffer>();
	// The loop also visits the paths that it adds.
	for (const path of paths) {
		if (sources.has(path)) continue;
		const content = readFileSync(path);
		sources.set(path, content);
		if (sources.size % READ_AT_ONCE === 0) await setImmediate();
		if (!/\.tsx?$/.test(path) || path === OPERATIONS) continue;
		for (const [, imported = ""] of content.toString().matchAll(IMPORT)) {
			const target = join(dirname(path), imported);
			if (!sources.has(target) && existsSync(target)) paths.push(target);
		}
	}
	return [...sources].sort(([a], [b]) => (a < b ? -1 : 1));
}

const isBelow = (folder: string, path: string) => path.startsWith(folder + sep);

/** Returns the Markdown files of a folder. A container image has no documents but its build has. */
async function listMarkdown(folder: string): Promise<string[]> {
	const files = await readdir(folder).catch(() => []);
	return files
		.filter((file) => file.endsWith(".md"))
		.sort()
		.map((file) => join(folder, file));
}

/** Runs the build in a separate process, so that the service does not keep the bundler's memory. */
function runBuild(into: string): Promise<void> {
	return new Promise((resolve, reject) => {
		const child = spawn(
			process.execPath,
			[join(ROOT, "console/build.ts"), into],
			{
				cwd: ROOT,
				stdio: ["ignore", "ignore", "pipe"],
				env: { ...process.env, NODE_ENV: "production" },
			},
		);
		let said = "";
		child.stderr.on("data", (chunk) => {
			said += chunk;
		});
		child.on("error", reject);
		child.on("close", (code) => {
			if (code === 0) return resolve();
			reject(
				new AppError(
					"service_unavailable",
					`the web console could not be built: ${said.trim().slice(-2000)}`,
				),
			);
		});
	});
}

async function listBuilds(): Promise<string[]> {
	const entries = await readdir(DIST, { withFileTypes: true }).catch(() => []);
	return entries
		.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
		.map(({ name }) => join(DIST, name));
}

async function removeOthers(kept: string): Promise<void> {
	for (const folder of await listBuilds()) {
		if (folder !== kept) await rm(folder, { recursive: true, force: true });
	}
}

if (import.meta.main) {
	const folder = await ensureConsole((line) =>
		process.stdout.write(`${line}\n`),
	);
	process.stdout.write(`The console is in ${relative(ROOT, folder)}\n`);
}
