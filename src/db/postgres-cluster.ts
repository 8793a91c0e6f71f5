import { execFile } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import {
	chmodSync,
	chownSync,
	closeSync,
	existsSync,
	fsyncSync,
	mkdirSync,
	mkdtempSync,
	openSync,
	readdirSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
	writeFileSync,
} from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { promisify } from "node:util";
import { AppError } from "../errors.ts";
import { createForOwner } from "./folder-owner.ts";
import {
	asUser,
	canEnter,
	chooseOsUser,
	type OsUser,
	openFolder,
	type PostgresBinaries,
} from "./postgres-binaries.ts";

/** `postgres.json` in Assay's data folder: what a process must know to reach the server. */
export interface Cluster {
	/** Assay's data folder. */
	readonly folder: string;
	/** PGDATA */
	readonly directory: string;
	/** Of the superuser `assay`. */
	readonly password: string;
	/** On 127.0.0.1; 0 is a Unix socket in `directory`. */
	readonly port: number;
	/** The Assay process that started or adopted the server last, for people who look. */
	readonly ownerPid: number;
	/** False from before initdb until the first start. */
	readonly created: boolean;
}

const fileOf = (folder: string) => join(folder, "postgres.json");

/** The data folder's real path. It is made if absent, for our eyes only. */
export function openDataFolder(dataDir: string): string {
	if (mkdirSync(dataDir, { recursive: true })) {
		// PostgreSQL, which cannot be root, must be able to pass through to PGDATA.
		chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
	}
	return realpathSync(dataDir);
}

/** The cluster that `folder` knows of. Throws a bad_request AppError when its file is damaged. */
export function readCluster(folder: string): Cluster | undefined {
	const file = fileOf(folder);
	if (!existsSync(file)) return undefined;
	const text = readFileSync(file, "utf8");
	try {
		const cluster = JSON.parse(text);
		const directory = resolve(folder, cluster.directory);
		return { ...cluster, folder, directory };
	} catch (cause) {
		throw new AppError(
			"bad_request",
			`${file} is damaged: restore it from a backup, it holds the database's password`,
			{ cause },
		);
	}
}

/** Replaces `postgres.json` at once and durably. */
export function writeCluster(cluster: Cluster): void {
	const { folder, ...fields } = cluster;
	const inside = relative(folder, cluster.directory);
	// Relative where it can be, so that the data folder may be moved as a whole.
	const directory = inside.startsWith("..") ? cluster.directory : inside;
	const draft = `${fileOf(folder)}.new`;
	rmSync(draft, { force: true });
	createForOwner(draft, JSON.stringify({ ...fields, directory }, null, "\t"));
	renameSync(draft, fileOf(folder));
	syncFolder(folder);
}

/** A cluster yet to be created: in `folder`, or in `baseFolder` where PostgreSQL's user cannot enter that. */
export function planCluster(folder: string, baseFolder: string): Cluster {
	const name = createHash("sha256").update(folder).digest("hex").slice(0, 12);
	const beside = join(folder, "postgres");
	const directory = canEnter(folder, chooseOsUser(beside, folder))
		? beside
		: join(openFolder(baseFolder), name);
	const password = randomBytes(24).toString("base64url");
	const ownerPid = process.pid;
	return { folder, directory, password, port: 0, ownerPid, created: false };
}

/**
 * Throws a bad_request AppError when the files of `cluster` are of another major
 * version, are gone, or are there although nobody knows their password.
 */
export function checkCluster(cluster: Cluster, major: string): void {
	const { directory, created } = cluster;
	const version = join(directory, "PG_VERSION");
	if (existsSync(version)) {
		const found = readFileSync(version, "utf8").trim();
		if (found !== major) {
			throw new AppError(
				"bad_request",
				`${directory} was made by PostgreSQL ${found}, and this Assay brings PostgreSQL ${major}: dump it with PostgreSQL ${found} and restore the dump into a new data folder; nothing was changed`,
			);
		}
	}
	// Not existsSync: a folder that we may not see is not one that is gone.
	const found = statSync(directory, { throwIfNoEntry: false });
	if (created === (found !== undefined)) return;
	throw new AppError(
		"bad_request",
		created
			? `the database ${directory} is gone: restore it, or delete ${fileOf(cluster.folder)} to begin with an empty one`
			: `${directory} is there but ${fileOf(cluster.folder)}, which holds its password, is not: restore that file from a backup`,
	);
}

/**
 * Makes a new database cluster, whole or not at all: `initdb` works in a folder
 * beside it, of a new name because a killed process's initdb may still be running.
 * Throws a service_unavailable AppError with initdb's reason.
 */
export async function createCluster(
	{ directory, password }: Cluster,
	binaries: PostgresBinaries,
	user: OsUser,
): Promise<void> {
	const draft = mkdtempSync(draftPrefix(directory));
	const passwordFile = join(draft, "password");
	writeFileSync(passwordFile, password, { mode: 0o600 });
	if (user) {
		chownSync(passwordFile, user.uid, user.gid);
		chownSync(draft, user.uid, user.gid);
	}
	try {
		await promisify(execFile)(
			join(binaries.bin, "initdb"),
			[
				`--pgdata=${join(draft, "data")}`,
				"--username=assay",
				`--pwfile=${passwordFile}`,
				"--auth=scram-sha-256",
				"--data-checksums",
				"--encoding=UTF8",
				"--locale=C",
				"--locale-provider=builtin",
				"--builtin-locale=C.UTF-8",
			],
			asUser(user),
		);
	} catch (cause) {
		rmSync(draft, { recursive: true, force: true });
		const { stderr = "", message } = cause as Error & { stderr?: string };
		const reason = /^.*(?:error|FATAL):\s+(.*)$/m.exec(stderr)?.[1] ?? message;
		throw new AppError(
			"service_unavailable",
			`PostgreSQL could not make a database in ${directory}: ${reason}`,
			{ cause },
		);
	}
	renameSync(join(draft, "data"), directory);
	rmSync(draft, { recursive: true, force: true });
	syncFolder(dirname(directory));
}

const draftPrefix = (directory: string) => `${directory}.new-`;

/** Removes what an initdb left that never ended; one that is still running is left for next time. */
export function clearDrafts(directory: string): void {
	for (const name of readdirSync(dirname(directory))) {
		const path = join(dirname(directory), name);
		if (!path.startsWith(draftPrefix(directory))) continue;
		try {
			rmSync(path, { recursive: true, force: true });
		} catch {
			// It is being written; it is also in nobody's way.
		}
	}
}

/** Without it a crash of the machine could forget the rename, and all of PGDATA with it. */
function syncFolder(folder: string): void {
	if (process.platform === "win32") return;
	const handle = openSync(folder, "r");
	fsyncSync(handle);
	closeSync(handle);
}
