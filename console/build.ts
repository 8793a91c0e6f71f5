import { createHash } from "node:crypto";
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import { brotliCompress, constants, gzip } from "node:zlib";
import { build } from "vite";
import { bundleAgent } from "../agent/bundle.ts";
import { BUNDLE } from "../agent/service/program.ts";
import { VERSION } from "../src/version.ts";

/**
 * Smallest file in bytes that is compressed. For a smaller one, compression would save less than
 * the response headers take.
 */
const MIN_BYTES = 1024;
const COMPRESSIBLE = new Set([".js", ".css", ".svg", ".json", ".txt", ".ttf"]);

/**
 * Builds the console into the folder that the first argument names, and compresses each file. The
 * console offers the agent as one file, so the build also makes that file and its description. The
 * build runs as a separate program, so that the bundler's memory is freed when it ends.
 */
const into = process.argv[2];
if (!into) throw new Error("usage: node console/build.ts FOLDER");

await build({
	root: import.meta.dirname,
	configFile: join(import.meta.dirname, "vite.config.ts"),
	logLevel: "warn",
	build: { outDir: into, emptyOutDir: true },
});

const program = Buffer.from(await bundleAgent(VERSION));
await mkdir(join(into, "agent"));
await writeFile(join(into, "agent", BUNDLE), program);
await writeFile(
	join(into, "agent/program.json"),
	JSON.stringify({
		file: BUNDLE,
		version: VERSION,
		bytes: program.length,
		sha256: createHash("sha256").update(program).digest("hex"),
	}),
);

for (const entry of await readdir(into, {
	recursive: true,
	withFileTypes: true,
})) {
	if (!entry.isFile() || !COMPRESSIBLE.has(extname(entry.name))) continue;
	const path = join(entry.parentPath, entry.name);
	const content = await readFile(path);
	if (content.length < MIN_BYTES) continue;
	const [br, gz] = await Promise.all([
		promisify(brotliCompress)(content, {
			params: {
				[constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY,
				[constants.BROTLI_PARAM_SIZE_HINT]: content.length,
			},
		}),
		promisify(gzip)(content, { level: 9 }),
	]);
	await Promise.all([writeFile(`${path}.br`, br), writeFile(`${path}.gz`, gz)]);
}
