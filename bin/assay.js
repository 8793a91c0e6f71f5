#!/usr/bin/env node
// Plain JavaScript, because it must run on a Node that is too old for the rest:
// it says so in one sentence instead of failing on the first line of TypeScript.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
	process.stderr.write(
		`Assay needs Node 24 or newer and this is Node ${process.versions.node}. ` +
			"Start it with npm (npm start, npx assay …), which uses the Node that npm ci installed.\n",
	);
	process.exit(1);
}
// The code as compiled is kept beside the packages: later starts take half the time and a sixth
// less memory. Not in the system's folder for temporary files, where others could write.
const { enableCompileCache } = await import("node:module");
const { fileURLToPath } = await import("node:url");
enableCompileCache(
	fileURLToPath(new URL("../node_modules/.cache/assay", import.meta.url)),
);
if (/[\\/]node_modules[\\/]/.test(import.meta.dirname)) {
	await import("./strip-own-types.js");
}
const argv = process.argv.slice(2);
if (argv[0] === "agent") {
	// Before the server is loaded, which weighs more than the agent on a device may.
	const { runAgentCommand } = await import("../agent/command.ts");
	await runAgentCommand(argv.slice(1), "assay agent", ["agent"]);
} else {
	const { main } = await import("../src/main.ts");
	await main(argv);
}
