import { spawn } from "node:child_process";
import { accessSync, constants, readdirSync, statSync } from "node:fs";
import { open, readdir, stat } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import type { Platform } from "../src/devices/terms.ts";
import { DEFAULT_THRESHOLDS } from "../src/devices/thresholds.ts";
import { explainReadError, isReadableFile } from "./file-result.ts";
import { errorCode, parseObject } from "./files.ts";
import {
	COMMAND_TIMEOUT_MS,
	type CommandResult,
	type FileResult,
	type FolderResult,
	type Host,
	MAX_FILE_BYTES,
	MAX_OUTPUT_BYTES,
} from "./host.ts";
import type { OwnProgram } from "./own-program.ts";

/** The hidden command of this program that reads a file with the rights of a user. */
export const READ_AS_USER = "read-as-user";

/** Time to start this program and read a file, on a busy device. */
const READ_TIMEOUT_MS = 10_000;

/**
 * The largest number of names in a folder. It is more than the number of processes that Linux can
 * have.
 */
const MAX_NAMES = 100_000;
const isWindows = process.platform === "win32";
const SYSTEM_ROOT = process.env.SystemRoot ?? "C:\\Windows";

/**
 * The folders in which programs are looked for. PATH is not used, because it may contain any
 * folder.
 */
const PROGRAM_FOLDERS = isWindows
	? [
			`${SYSTEM_ROOT}\\System32`,
			`${SYSTEM_ROOT}\\System32\\WindowsPowerShell\\v1.0`,
			`${SYSTEM_ROOT}\\System32\\Wbem`,
			`${SYSTEM_ROOT}\\System32\\OpenSSH`,
		]
	: [
			"/usr/sbin",
			"/usr/bin",
			"/sbin",
			"/bin",
			// On a Mac, files in /usr/local usually belong to an ordinary user (Homebrew).
			...(process.platform === "darwin"
				? ["/usr/libexec"]
				: ["/usr/local/sbin", "/usr/local/bin", "/run/current-system/sw/bin"]),
		];

const PLATFORM_NAMES: Partial<Record<NodeJS.Platform, Platform>> = {
	darwin: "DARWIN",
	freebsd: "FREEBSD",
	linux: "LINUX",
	win32: "WINDOWS",
};

/**
 * Returns the platform of this machine, or undefined if it is not one of the four supported ones.
 */
export function thisPlatform(): Platform | undefined {
	return PLATFORM_NAMES[process.platform];
}

/** Returns true if this process has the rights of root or of an elevated administrator. */
export function isPrivileged(): boolean {
	if (!isWindows) return process.geteuid?.() === 0;
	try {
		// Only an elevated administrator and SYSTEM may list this folder.
		readdirSync(`${SYSTEM_ROOT}\\System32\\config`);
		return true;
	} catch {
		return false;
	}
}

/**
 * Makes the host of this device. When `signal` aborts, the host kills all running programs and
 * starts no more. `own` starts this program again to read files with the rights of a user.
 */
export function makeSystemHost(
	platform: Platform,
	own: OwnProgram,
	signal: AbortSignal,
): Host {
	const privileged = isPrivileged();
	return {
		platform,
		isPrivileged: privileged,
		get now() {
			return new Date();
		},
		threshold: (name) => DEFAULT_THRESHOLDS[name],
		choice: (name) => DEFAULT_THRESHOLDS[name],
		pendingSince: async () => undefined,
		async run(program, args = [], { timeoutMs = COMMAND_TIMEOUT_MS } = {}) {
			const found = findProgram(program, privileged);
			if (found.kind !== "program") return ended(found.kind);
			if (signal.aborted) return ended("timed_out");
			return runProgram(found.path, args, timeoutMs, signal, privileged);
		},
		readFile,
		async readFileAs({ uid, gid }, path) {
			// Without root there are no rights to give up, so the file is read directly.
			if (!privileged) return readFile(path);
			if (signal.aborted) return { kind: "unreadable" };
			const { stdout } = await runProgram(
				own.program,
				[...own.args, READ_AS_USER, String(uid), String(gid), path],
				READ_TIMEOUT_MS,
				signal,
				privileged,
			);
			return parseFileResult(stdout);
		},
		listFolder,
	};
}

type Found = { kind: "program"; path: string } | { kind: "missing" | "denied" };

function findProgram(program: string, privileged: boolean): Found {
	const names =
		isWindows && !/\.exe$/i.test(program) ? [`${program}.exe`] : [program];
	const paths = isAbsolute(program)
		? names
		: names.flatMap((name) =>
				PROGRAM_FOLDERS.map((folder) => join(folder, name)),
			);
	let kind: "missing" | "denied" = "missing";
	for (const path of paths) {
		const about = statSync(path, { throwIfNoEntry: false });
		if (!about?.isFile()) continue;
		if (mayRun(path, privileged)) return { kind: "program", path };
		kind = "denied";
	}
	return { kind };
}

/**
 * Returns true if this process may run the program. Root runs only programs that no other user can
 * replace.
 */
function mayRun(path: string, privileged: boolean): boolean {
	try {
		accessSync(path, constants.X_OK);
		if (isWindows || !privileged) return true;
		return [path, dirname(path)].every((each) => {
			const { uid, gid, mode } = statSync(each);
			const othersWrite = mode & (gid === 0 ? 0o002 : 0o022);
			return uid === 0 && othersWrite === 0;
		});
	} catch {
		return false;
	}
}

function makeEnvironment(privileged: boolean): NodeJS.ProcessEnv {
	const kept = isWindows
		? ["SystemRoot", "SystemDrive", "ProgramData", "ProgramFiles", "TEMP"]
		: // Desktop settings are read over the bus of the user's session, so its address is kept.
			privileged
			? []
			: ["XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
	const environment: NodeJS.ProcessEnv = {
		PATH: PROGRAM_FOLDERS.join(isWindows ? ";" : ":"),
		LC_ALL: "C",
		HOME: homedir(),
	};
	for (const name of kept) {
		if (process.env[name] !== undefined) environment[name] = process.env[name];
	}
	return environment;
}

function runProgram(
	path: string,
	args: readonly string[],
	timeoutMs: number,
	signal: AbortSignal,
	privileged: boolean,
): Promise<CommandResult> {
	return new Promise((resolve) => {
		const child = spawn(path, args, {
			cwd: isWindows ? SYSTEM_ROOT : "/",
			env: makeEnvironment(privileged),
			stdio: ["ignore", "pipe", "pipe"],
			// The program gets its own process group, so that its children are killed with it.
			detached: !isWindows,
			windowsHide: true,
		});
		const stdout = new Output();
		const stderr = new Output();
		child.stdout.on("data", (chunk: Buffer) => stdout.add(chunk));
		child.stderr.on("data", (chunk: Buffer) => stderr.add(chunk));

		const settle = (how: CommandResult["ended"]) => {
			clearTimeout(timer);
			signal.removeEventListener("abort", stop);
			// A process that has left the group may hold the pipes open forever.
			child.stdout.destroy();
			child.stderr.destroy();
			resolve({
				...ended(how),
				exitCode: how === "exited" ? (child.exitCode ?? -1) : -1,
				stdout: stdout.text(),
				stderr: stderr.text(),
			});
		};
		const stop = () => {
			killGroup(child.pid);
			settle(child.exitCode === null ? "timed_out" : "exited");
		};
		const timer = setTimeout(stop, timeoutMs);
		signal.addEventListener("abort", stop);
		child.on("error", (error) =>
			settle(errorCode(error) === "ENOENT" ? "missing" : "denied"),
		);
		child.on("close", (code) => settle(code === null ? "timed_out" : "exited"));
	});
}

function killGroup(pid: number | undefined): void {
	if (pid === undefined) return;
	try {
		if (isWindows) {
			spawn(
				`${SYSTEM_ROOT}\\System32\\taskkill.exe`,
				["/T", "/F", "/PID", String(pid)],
				{ stdio: "ignore", windowsHide: true },
			).on("error", () => {});
		} else {
			process.kill(-pid, "SIGKILL");
		}
	} catch {
		// The process has ended in the meantime.
	}
}

/** Collects the beginning of a program's output. The rest is read and discarded. */
class Output {
	readonly #chunks: Buffer[] = [];
	#bytes = 0;

	add(chunk: Buffer): void {
		const room = MAX_OUTPUT_BYTES - this.#bytes;
		if (room <= 0) return;
		const kept = chunk.length > room ? chunk.subarray(0, room) : chunk;
		this.#chunks.push(kept);
		this.#bytes += kept.length;
	}

	text(): string {
		return Buffer.concat(this.#chunks).toString("utf8");
	}
}

const ended = (how: CommandResult["ended"]): CommandResult => ({
	ended: how,
	exitCode: -1,
	stdout: "",
	stderr: "",
});

async function readFile(path: string): Promise<FileResult> {
	try {
		// The file is examined before it is opened, because opening a device can have side effects.
		if (!isReadableFile(await stat(path), MAX_FILE_BYTES)) {
			return { kind: "unreadable" };
		}
		const flags = constants.O_RDONLY | (constants.O_NONBLOCK ?? 0);
		const file = await open(path, flags);
		try {
			if (!isReadableFile(await file.stat(), MAX_FILE_BYTES)) {
				return { kind: "unreadable" };
			}
			// Files in /proc report a size of 0, so the file is read until no more bytes come.
			const buffer = Buffer.alloc(64 * 1024);
			const chunks: Buffer[] = [];
			let bytes = 0;
			for (;;) {
				const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
				if (bytesRead === 0) break;
				bytes += bytesRead;
				if (bytes > MAX_FILE_BYTES) return { kind: "unreadable" };
				chunks.push(Buffer.from(buffer.subarray(0, bytesRead)));
			}
			return { kind: "text", text: Buffer.concat(chunks).toString("utf8") };
		} finally {
			await file.close();
		}
	} catch (error) {
		return { kind: explainReadError(error) };
	}
}

async function listFolder(path: string): Promise<FolderResult> {
	try {
		const names = await readdir(path);
		// From an incomplete list, a check would wrongly conclude that the missing names do not exist.
		if (names.length > MAX_NAMES) return { kind: "unreadable" };
		return { kind: "names", names: names.sort() };
	} catch (error) {
		return { kind: explainReadError(error) };
	}
}

/**
 * Parses the answer of the process that read a file. Returns `unreadable` if the process failed or
 * was stopped.
 */
function parseFileResult(text: string): FileResult {
	const { kind, text: content } = parseObject(text) ?? {};
	if (kind === "text" && typeof content === "string") {
		return { kind, text: content };
	}
	return kind === "missing" || kind === "denied"
		? { kind }
		: { kind: "unreadable" };
}
