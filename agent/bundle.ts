import { readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, resolve } from "node:path";
import { rolldown } from "rolldown";

const ROOT = join(import.meta.dirname, "..");

/** Prefix of the id of a module that re-exports one of Node's modules. */
const NODE_MODULE = "\0of-node/";

/** Earliest major version of Node that runs the agent, as `engines` in package.json says. */
const OLDEST_NODE = 24;

/**
 * Refuses an earlier Node before anything else runs. Otherwise the agent would fail at the first
 * function that this Node lacks.
 */
const REFUSE_OLD_NODE = `"use strict";
if (parseInt(process.versions.node, 10) < ${OLDEST_NODE}) {
	console.error("The Assay agent needs Node ${OLDEST_NODE} or later. This is Node " + process.versions.node + ".");
	process.exit(1);
}`;

/**
 * Bundles the agent and commander into one file. Each module is still evaluated only when it is
 * needed. That includes Node's own modules, which rolldown would otherwise load at the start.
 */
export async function bundleAgent(version: string): Promise<string> {
	const made = await rolldown({
		input: join(ROOT, "agent/main.ts"),
		platform: "node",
		treeshake: { propertyReadSideEffects: false },
		plugins: [
			{
				name: "the version, otherwise read from package.json",
				load: (id) =>
					resolve(id) === join(ROOT, "src/version.ts")
						? `export const VERSION = ${JSON.stringify(version)};`
						: null,
			},
			{
				name: "modules of Node, loaded with the first module that needs them",
				resolveId: (id) => (isBuiltin(id) ? `${NODE_MODULE}${id}` : null),
				load: (id) =>
					id.startsWith(NODE_MODULE)
						? reexport(id.slice(NODE_MODULE.length))
						: null,
			},
		],
	});
	try {
		const { output } = await made.generate({
			// Node's loader for ES modules takes 5 MB more memory than its loader for CommonJS.
			format: "cjs",
			codeSplitting: false,
			// The program keeps its source in memory. Names are kept, because stack traces show them.
			minify: {
				compress: false,
				mangle: false,
				codegen: { removeWhitespace: true },
			},
		});
		if (output.length !== 1)
			throw new Error(`the bundle must be one file, not ${output.length}`);
		const notice = licenseOf("commander").replaceAll("*/", "* /");
		return toAscii(`#!/usr/bin/env node
/*! Assay agent ${version}, MIT. It contains commander:
${notice}*/
${REFUSE_OLD_NODE}
${output[0].code}`);
	} finally {
		await made.close();
	}
}

/**
 * Returns the source of a module that re-exports one of Node's modules. Only the names that the
 * agent uses stay in the bundle.
 */
function reexport(name: string): string {
	const names = Object.keys(process.getBuiltinModule(name) as object);
	return [
		`const it = process.getBuiltinModule("${name}");`,
		"export default it;",
		...names.map((each) => `const _${each} = it.${each};`),
		`export { ${names.map((each) => `_${each} as ${each}`)} };`,
	].join("\n");
}

/**
 * Escapes characters outside ASCII, which occur only in strings. V8 stores every character of a
 * source in two bytes if one of them needs two.
 */
const toAscii = (code: string) =>
	code.replace(
		/[^\0-\x7f]/g,
		(other) => `\\u${other.charCodeAt(0).toString(16).padStart(4, "0")}`,
	);

/** Returns the license text of a package. */
export const licenseOf = (name: string) =>
	readFileSync(join(ROOT, "node_modules", name, "LICENSE"), "utf8");
