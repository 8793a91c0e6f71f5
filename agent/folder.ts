import { existsSync } from "node:fs";
import {
	chmod,
	lstat,
	mkdir,
	readFile,
	rm,
	rmdir,
	stat,
} from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { AgentError, explainFolder } from "./agent-error.ts";
import { REQUESTS } from "./check-requests.ts";
import { ENROLLMENT_TROUBLE } from "./enrollment-trouble.ts";
import {
	errorCode,
	listNames,
	parseObject,
	writeFileAtomically,
} from "./files.ts";
import { UPDATE_FILES } from "./updates/update-notes.ts";
import {
	isTrustedOwner,
	readOwnerSid,
	readOwnSid,
	runWindows,
	windowsRights,
} from "./windows-rights.ts";

/** The file that marks a folder as the agent's. Only a marked folder may be emptied. */
const MARKER = "agent.json";

/**
 * The agent's own log, if the service manager keeps none. `.1` is added to the name of the former
 * one.
 */
export const LOG_NAME = "agent.log";

/** The names of everything that the agent keeps in its folder. */
const OWN_NAMES = [
	LOG_NAME,
	"credentials.json",
	"state.json",
	"hardware.json",
	"proxies.json",
	"pending-updates.json",
	"pending-restart.json",
	ENROLLMENT_TROUBLE,
	...UPDATE_FILES,
	"run.lock",
	"queue",
	"refused",
	"damaged",
	REQUESTS,
	// The marker is removed last, so that the folder remains the agent's until everything else is
	// gone.
	MARKER,
];

export interface FolderOptions {
	platform?: NodeJS.Platform;
	isPrivileged: boolean;
	environment?: NodeJS.ProcessEnv;
	home?: string;
}

/** Returns the default folder for the agent's key, state and queue. */
export function defaultFolder(options: FolderOptions): string {
	const { platform = process.platform, environment = process.env } = options;
	const home = options.home ?? homedir();
	if (platform === "win32") {
		return `${environment.ProgramData ?? "C:\\ProgramData"}\\Assay Agent`;
	}
	if (platform === "darwin") {
		const library = "Library/Application Support/Assay Agent";
		return options.isPrivileged ? `/${library}` : join(home, library);
	}
	if (options.isPrivileged) {
		return platform === "freebsd"
			? "/var/db/assay-agent"
			: "/var/lib/assay-agent";
	}
	// The XDG base directory specification says that programs must ignore a relative path.
	const state = environment.XDG_STATE_HOME?.startsWith("/")
		? environment.XDG_STATE_HOME
		: join(home, ".local/state");
	return join(state, "assay-agent");
}

interface Marker {
	/**
	 * The name of the service manager that starts the agent. Null if the user chose to install no
	 * service.
	 */
	service: string | null;
}

/**
 * Makes the folder, closes it to all other users and proves that the agent can write to it. Rejects
 * a folder that contains other files, because uninstalling empties the folder. Returns a function
 * that removes everything that this call made, for use when the enrollment fails.
 */
export async function prepareFolder(
	folder: string,
): Promise<() => Promise<void>> {
	const made: string[] = [];
	const takeBack = async (wasOurs: boolean) => {
		if (!wasOurs) await removeOwn(folder);
		for (const each of made.toReversed()) await rmdir(each).catch(() => {});
	};
	let wasOurs = true;
	try {
		await makeFolder(folder, made);
		if (!(await stat(folder)).isDirectory()) {
			throw new AgentError(
				`${folder} is not a folder; choose another with --dir`,
			);
		}
		await requireOwnFolder(folder);
		const names = await listNames(folder);
		wasOurs = names.length > 0;
		if (wasOurs && !names.includes(MARKER)) {
			throw new AgentError(
				`${folder} contains files that are not the agent's; choose an empty folder with --dir`,
			);
		}
		await closeToOthers(folder);
		const marker = await readMarker(folder);
		await writeMarker(folder, marker ?? { service: null });
		for (const name of ["queue", "refused", "damaged"]) {
			await makeFolder(join(folder, name));
		}
		return () => takeBack(wasOurs);
	} catch (error) {
		await takeBack(wasOurs);
		const code = errorCode(error);
		if (code === "ENOTDIR") {
			throw new AgentError(
				`${folder} is not a folder; choose another with --dir`,
			);
		}
		if (code === "ENOENT") {
			throw new AgentError(
				`${folder} cannot be created; choose another folder with --dir`,
			);
		}
		throw explainFolder(error, folder);
	}
}

/**
 * Makes the folder and its parents, and adds the new ones to `made`. It does not use Node's
 * recursive mkdir, which never returns in a place where no folder can be made, such as /proc.
 */
async function makeFolder(folder: string, made: string[] = []): Promise<void> {
	try {
		await mkdir(folder, { mode: 0o700 });
	} catch (error) {
		const parent = dirname(folder);
		if (errorCode(error) === "EEXIST") return;
		if (errorCode(error) !== "ENOENT" || existsSync(parent)) throw error;
		await makeFolder(parent, made);
		await mkdir(folder, { mode: 0o700 });
	}
	made.push(folder);
}

/**
 * Rejects a folder that belongs to another user, because its owner could read the device key and
 * forge reports. In a place where everybody may make folders, any user could have made the agent's
 * folder beforehand.
 */
export async function requireOwnFolder(folder: string): Promise<void> {
	const isOwn =
		process.platform === "win32"
			? isTrustedOwner(await readOwnerSid(folder), await readOwnSid())
			: // If the folder is a link, the link's owner matters too, because the owner can redirect it.
				[await stat(folder), await lstat(folder)].every(
					({ uid }) => uid === process.geteuid?.(),
				);
	if (!isOwn) {
		throw new AgentError(
			`${folder} belongs to another user, who could read the device's key; remove it, or choose a folder of your own with --dir`,
		);
	}
}

async function closeToOthers(folder: string): Promise<void> {
	if (process.platform !== "win32") return chmod(folder, 0o700);
	// File modes mean nothing on Windows. These commands first remove rights that somebody gave to
	// others before.
	for (const args of windowsRights(folder, await readOwnSid())) {
		await runWindows("icacls.exe", args);
	}
}

export async function writeMarker(
	folder: string,
	marker: Marker,
): Promise<void> {
	await writeFileAtomically(join(folder, MARKER), JSON.stringify(marker));
}

/** Returns the folder's marker, or undefined if the folder does not exist or is not the agent's. */
export async function readMarker(folder: string): Promise<Marker | undefined> {
	try {
		const stored = parseObject(await readFile(join(folder, MARKER), "utf8"));
		const service = stored?.service;
		return { service: typeof service === "string" ? service : null };
	} catch (error) {
		const code = errorCode(error);
		if (code === "ENOENT" || code === "ENOTDIR") return undefined;
		throw explainFolder(error, folder);
	}
}

/**
 * Removes the agent's files, and then the folder unless it contains something else. Continues after
 * an error and returns the paths that could not be removed.
 */
export async function removeFolder(folder: string): Promise<string[]> {
	const left = await removeOwn(folder);
	await rmdir(folder).catch((error) => {
		if (errorCode(error) !== "ENOENT") left.push(folder);
	});
	return left;
}

async function removeOwn(folder: string): Promise<string[]> {
	const left: string[] = [];
	const temporary = (await listNames(folder)).filter((name) =>
		OWN_NAMES.some((own) => name.startsWith(`${own}.`)),
	);
	for (const name of [...temporary, ...OWN_NAMES]) {
		await rm(join(folder, name), { recursive: true, force: true }).catch(() =>
			left.push(join(folder, name)),
		);
	}
	return left;
}

/** Returns `dir`, or the default folder if it is not given, as an absolute path. */
export function chooseFolder(
	dir: string | undefined,
	options: FolderOptions,
): string {
	return resolve(dir ?? defaultFolder(options));
}
