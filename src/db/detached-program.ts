import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

/**
 * The cache of compiled code that `bin/assay.js` uses. With it, a program starts in half the time.
 */
const COMPILE_CACHE =
	process.env.NODE_COMPILE_CACHE ??
	join(import.meta.dirname, "../../node_modules/.cache/assay");

const STRIP_OWN_TYPES = join(
	import.meta.dirname,
	"../../bin/strip-own-types.js",
);

/**
 * Starts one of our programs so that it keeps running when this process ends. The program has a
 * session of its own, so Ctrl-C and a closed terminal do not reach it, and its environment does not
 * contain our secrets. Its standard input is a pipe that closes when this process ends for any
 * reason. If the program cannot be started, no error is thrown: the caller must work without the
 * program.
 */
export function startDetached(file: string, args: string[]): ChildProcess {
	const { PATH, SystemRoot } = process.env;
	// Node does not strip types from files in node_modules, so an installed package needs this
	// import.
	const stripping = /[\\/]node_modules[\\/]/.test(file)
		? ["--import", STRIP_OWN_TYPES]
		: [];
	const child = spawn(process.execPath, [...stripping, file, ...args], {
		cwd: "/",
		env: { PATH, SystemRoot, NODE_COMPILE_CACHE: COMPILE_CACHE },
		detached: true,
		stdio: ["pipe", "ignore", "ignore"],
		windowsHide: true,
	});
	child.on("error", () => {});
	child.unref();
	return child;
}
