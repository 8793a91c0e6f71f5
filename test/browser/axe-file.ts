import { createRequire } from "node:module";

/** The file of axe-core. */
export const AXE_FILE = createRequire(import.meta.url).resolve(
	"axe-core/axe.min.js",
);
/**
 * Its path on the services of the tests. Chromium keeps the compiled code of a file for the next
 * page that loads it. It would compile the text again each time a test evaluates it.
 */
export const AXE_PATH = "/assets/axe.js";
