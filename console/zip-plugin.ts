import type { Plugin } from "vite";

const RESOLVED = "\0zip-without-workers";

/**
 * Lets the library fflate, with which Excel files are made, pack them where it is called. For a part
 * of more than 160 kB it would start a worker from a `blob:` address, which the page's
 * Content-Security-Policy forbids, and would then never answer.
 */
export function zipPlugin(): Plugin {
	return {
		name: "assay-zip",
		enforce: "pre",
		resolveId: (id) => (id === "fflate" ? RESOLVED : undefined),
		load: (id) => (id === RESOLVED ? CODE : undefined),
	};
}

/** The rest of the library is as it was. Our `zip` comes before that of `export *`. */
const CODE = `
	import { zipSync } from "fflate/browser";
	export * from "fflate/browser";
	export function zip(files, options, done = options) {
		try {
			done(null, zipSync(files, typeof options === "function" ? {} : options));
		} catch (error) {
			done(error, null);
		}
		return () => {};
	}
`;
