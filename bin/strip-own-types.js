// Used when Assay is installed as a package. Below node_modules Node does not strip types, to
// discourage packages from publishing TypeScript. From here on, the types of this package's own
// files are stripped.
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";

const own = new URL("../", import.meta.url).href;
const packages = new URL("../node_modules/", import.meta.url).href;

// Suppresses the one-time warning that the function is experimental. It tells an operator nothing.
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
