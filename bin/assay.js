#!/usr/bin/env node
// This file is plain JavaScript, because it also runs on a Node that is too old for the rest of the
// program. There it prints one sentence instead of failing on the first line of TypeScript.
const major = Number(process.versions.node.split(".")[0]);
if (major < 24) {
	process.stderr.write(
		`Assay needs Node 24 or newer and this is Node ${process.versions.node}. ` +
			"Start it with npm (npm start, npx assay …), which uses the Node that npm ci installed.\n",
	);
	process.exit(1);
}
// The compiled code is kept beside the packages, so that later starts take half the time and a
// sixth less memory. It is not kept in the system's folder for temporary files, because other users
// can write there.
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
	// The agent's command runs before the server is loaded, because the server needs more memory than
	// the agent may use on a device.
	const { runAgentCommand } = await import("../agent/command.ts");
	await runAgentCommand(argv.slice(1), "assay agent", ["agent"]);
} else {
	const { main } = await import("../src/main.ts");
	await main(argv);
}
