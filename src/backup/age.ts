import { createRequire } from "node:module";

const load = createRequire(import.meta.url);

/**
 * Returns the package that encrypts files. It is loaded when somebody first needs it, because its 57
 * files take time at each start, and few services need them.
 */
export function age(): typeof import("age-encryption") {
	return load("age-encryption");
}
