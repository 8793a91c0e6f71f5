// For Assay installed as a package: below node_modules Node strips no types by itself, to keep
// packages from being published as TypeScript. Of this one's own files it does so from here on.
import { readFileSync } from "node:fs";
import { registerHooks, stripTypeScriptTypes } from "node:module";

const own = new URL("../", import.meta.url).href;
const packages = new URL("../node_modules/", import.meta.url).href;

// Its warning that it is experimental says nothing to who runs the service; it comes once.
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
