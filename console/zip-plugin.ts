import type { Plugin } from "vite";

const RESOLVED = "\0zip-without-workers";

/**
 * Lets the library fflate, which packs Excel files, work in the calling thread. For a part of more
 * than 160 kB it would start a worker from a `blob:` address. The page's Content-Security-Policy
 * forbids that, and fflate would then never answer.
 */
export function zipPlugin(): Plugin {
	return {
		name: "assay-zip",
		enforce: "pre",
		resolveId: (id) => (id === "fflate" ? RESOLVED : undefined),
		load: (id) => (id === RESOLVED ? CODE : undefined),
	};
}

/** Keeps the rest of the library. Our `zip` takes precedence over that of `export *`. */
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
