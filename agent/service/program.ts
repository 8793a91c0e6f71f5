import {
	chmod,
	copyFile,
	mkdir,
	realpath,
	rename,
	rm,
	rmdir,
	stat,
} from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import { AgentError } from "../agent-error.ts";
import { errorCode } from "../files.ts";
import type { ServiceSpec } from "./manager.ts";

/** The file name of the agent as one file, which an existing Node runs. */
export const BUNDLE = "assay-agent.cjs";

/** Returns the folder for the installed program. Only root or an administrator may write to it. */
export function programFolder(
	platform: NodeJS.Platform = process.platform,
	environment: NodeJS.ProcessEnv = process.env,
): string {
	if (platform === "win32") {
		return `${environment.ProgramFiles ?? "C:\\Program Files"}\\Assay Agent`;
	}
	// With Homebrew, /usr/local belongs to an ordinary user.
	if (platform === "darwin") return "/Library/Assay Agent";
	// SELinux lets services run programs from libexec, but not from /usr/local/lib.
	return "/usr/local/libexec/assay-agent";
}

/**
 * Rejects a program that `placeProgram` would reject. The command calls this before it changes
 * anything.
 */
export async function checkProgram(spec: ServiceSpec): Promise<void> {
	const [script] = spec.args;
	if (script === undefined || !isAbsolute(script)) return;
	await requireSafe(spec.program);
	if (basename(script) !== BUNDLE) await requireSafe(script);
}

/**
 * Installs the program that the service runs, and returns the service with the program's new path.
 * The single executable, or the single file for Node, is copied to `folder`, so that only root can
 * change a program that runs as root. A checkout is too large to copy. Its program and script must
 * therefore already be in a place where only root may write.
 */
export async function placeProgram(
	spec: ServiceSpec,
	folder: string,
): Promise<ServiceSpec> {
	const [script, ...rest] = spec.args;
	if (script === undefined || !isAbsolute(script)) {
		const name =
			process.platform === "win32" ? "assay-agent.exe" : "assay-agent";
		return { ...spec, program: await place(spec.program, folder, name) };
	}
	const program = await requireSafe(spec.program);
	const placed =
		basename(script) === BUNDLE
			? await place(script, folder, BUNDLE)
			: await requireSafe(script);
	return { ...spec, program, args: [placed, ...rest] };
}

async function place(from: string, folder: string, name: string) {
	const to = join(folder, name);
	await mkdir(folder, { recursive: true, mode: 0o755 });
	if (process.platform !== "win32") await chmod(folder, 0o755);
	await requireSafe(folder);
	const isSame =
		(await realpath(from)) === (await realpath(to).catch(() => ""));
	if (!isSame) {
		const temporary = `${to}.new`;
		await rm(temporary, { force: true });
		await copyFile(from, temporary);
		await chmod(temporary, 0o755);
		// A running program cannot be overwritten. On Windows it can only be renamed.
		if (process.platform === "win32") {
			await rm(`${to}.old`, { force: true }).catch(() => {});
			await rename(to, `${to}.old`).catch(() => {});
		}
		await rename(temporary, to);
	}
	return to;
}

/**
 * Removes the files that `placeProgram` copied. Returns notes on files that could not be removed,
 * such as a running program.
 */
export async function removeProgram(folder: string): Promise<string[]> {
	const left: string[] = [];
	const names = ["assay-agent", "assay-agent.exe", BUNDLE];
	for (const name of names.flatMap((each) => [
		each,
		`${each}.new`,
		`${each}.old`,
	])) {
		const path = join(folder, name);
		await rm(path, { force: true }).catch(() => left.push(path));
	}
	await rmdir(folder).catch((error) => {
		if (errorCode(error) !== "ENOENT" && left.length === 0) left.push(folder);
	});
	return left.map(
		(path) =>
			`${path} was not removed, perhaps because it is running. Remove it by hand.`,
	);
}

/**
 * Returns the real path of a program that root will run. Throws if another user could change the
 * program.
 */
async function requireSafe(path: string): Promise<string> {
	const real = await realpath(path);
	if (process.platform === "win32") {
		// Reading access lists would need another program. These folders have safe access lists.
		const folders = [process.env.ProgramFiles, process.env.SystemRoot];
		const isSafe = folders.some((folder) => folder && lies(real, folder));
		if (!isSafe) throw unsafe(real);
		return real;
	}
	for (let each = real; ; each = dirname(each)) {
		const { uid, mode } = await stat(each);
		// In a sticky folder, nobody can rename the files of another user.
		const othersMayWrite = (mode & 0o022) !== 0 && (mode & 0o1000) === 0;
		if (uid !== 0 || othersMayWrite) throw unsafe(each);
		if (each === dirname(each)) return real;
	}
}

function lies(path: string, folder: string): boolean {
	const way = relative(folder, path);
	return way !== "" && !way.startsWith("..") && !isAbsolute(way);
}

const unsafe = (path: string) =>
	new AgentError(
		process.platform === "win32"
			? `users other than administrators can change ${path}, which the service runs with full rights; use the single executable, or move the program into Program Files`
			: `users other than root can change ${path}, which the service runs with full rights; let only root write it (chown root, chmod go-w), or use the single executable, which is copied to a safe folder`,
	);
