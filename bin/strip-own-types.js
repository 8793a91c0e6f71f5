// Needed when Assay is installed as a package. Node does not strip types from files below
// node_modules, to discourage packages from publishing TypeScript. After this module has been
// loaded, types are stripped from this package's own files.
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";

const own = new URL("../", import.meta.url).href;
const packages = new URL("../node_modules/", import.meta.url).href;

// The warning that the function is experimental tells an operator nothing, so it is suppressed.
const { emitWarning } = process;
process.emitWarning = () => {};
stripTypeScriptTypes("");
process.emitWarning = emitWarning;

registerHooks({
	load: (url, context, nextLoad) =>
		url.endsWith(".ts") && url.startsWith(own) && !url.startsWith(packages)
			? {
					format: "module",
					source: stripTypeScriptTypes(readFileSync(new URL(url), "utf8")),
					shortCircuit: true,
				}
			: nextLoad(url, context),
});
