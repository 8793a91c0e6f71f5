import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";

const STRIP_OWN_TYPES = join(
	import.meta.dirname,
	"../../bin/strip-own-types.js",
);

/**
 * Starts a program of ours that goes on when this process ends. It has a session of its own, so
 * that Ctrl-C and a closed terminal do not reach it, and an environment without our secrets. Its
 * standard input is a pipe that ends when this process ends, for any reason. A program that
 * cannot be started is no error: the caller must work without it.
 */
export function startDetached(file: string, args: string[]): ChildProcess {
	const { PATH, SystemRoot } = process.env;
	// In an installed package Node strips no types by itself.
	const stripping = /[\\/]node_modules[\\/]/.test(file)
		? ["--import", STRIP_OWN_TYPES]
		: [];
	const child = spawn(process.execPath, [...stripping, file, ...args], {
		cwd: "/",
		env: { PATH, SystemRoot },
		detached: true,
		stdio: ["pipe", "ignore", "ignore"],
		windowsHide: true,
	});
	child.on("error", () => {});
	child.unref();
	return child;
}
