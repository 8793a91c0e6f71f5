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

/** `postgres.json` in Assay's data folder: what a process needs to reach the server. */
export interface Cluster {
	/** Assay's data folder. */
	readonly folder: string;
	/** PGDATA */
	readonly directory: string;
	/** Password of the superuser `assay`. */
	readonly password: string;
	/** Port on 127.0.0.1; 0 means a Unix socket in `directory`. */
	readonly port: number;
	/** The Assay process that last started or adopted the server. It is here for people to read. */
	readonly ownerPid: number;
	/** False until the first start after initdb. */
	readonly created: boolean;
}

const fileOf = (folder: string) => join(folder, "postgres.json");

/** Returns the data folder's real path. Creates a missing folder that only this user can read. */
export function openDataFolder(dataDir: string): string {
	if (mkdirSync(dataDir, { recursive: true })) {
		// PostgreSQL cannot run as root, and its user must be able to pass through to PGDATA.
		chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
	}
	return realpathSync(dataDir);
}

/**
 * Reads the cluster that `folder` names. Throws a bad_request AppError when the file is damaged.
 */
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
			`${file} is damaged; it holds the database's password, so restore it from a copy of the data folder`,
			{ cause },
		);
	}
}

/** Replaces `postgres.json` atomically and durably. */
export function writeCluster(cluster: Cluster): void {
	const { folder, ...fields } = cluster;
	const inside = relative(folder, cluster.directory);
	// The path is relative where possible, so that the data folder can be moved as a whole.
	const directory = inside.startsWith("..") ? cluster.directory : inside;
	const draft = `${fileOf(folder)}.new`;
	rmSync(draft, { force: true });
	createForOwner(draft, JSON.stringify({ ...fields, directory }, null, "\t"));
	renameSync(draft, fileOf(folder));
	syncFolder(folder);
}

/**
 * Plans a new cluster: in `folder`, or in `baseFolder` when PostgreSQL's user cannot enter
 * `folder`.
 */
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
 * Throws a bad_request AppError when the files of `cluster` belong to another major version, are
 * gone, or exist although nobody knows their password.
 */
export function checkCluster(cluster: Cluster, major: string): void {
	const { directory, created } = cluster;
	const version = join(directory, "PG_VERSION");
	if (existsSync(version)) {
		const found = readFileSync(version, "utf8").trim();
		if (found !== major) {
			throw new AppError(
				"bad_request",
				`${directory} was made by PostgreSQL ${found}, and this Assay contains PostgreSQL ${major}; nothing was changed. Dump it with PostgreSQL ${found} and restore the dump into a new data folder`,
			);
		}
	}
	// existsSync would report a folder that we may not see as gone.
	const found = statSync(directory, { throwIfNoEntry: false });
	if (created === (found !== undefined)) return;
	throw new AppError(
		"bad_request",
		created
			? `the database ${directory} is gone; restore it, or delete ${fileOf(cluster.folder)} to begin with an empty one`
			: `${directory} exists, but ${fileOf(cluster.folder)}, which holds its password, does not; restore that file from a copy of the data folder`,
	);
}

/**
 * Creates a new database cluster, completely or not at all. `initdb` works in a folder beside it;
 * that folder has a new name each time, because the initdb of a killed process may still be
 * running. Throws a service_unavailable AppError with initdb's reason.
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
			`PostgreSQL could not create a database in ${directory}: ${reason}`,
			{ cause },
		);
	}
	renameSync(join(draft, "data"), directory);
	rmSync(draft, { recursive: true, force: true });
	syncFolder(dirname(directory));
}

const draftPrefix = (directory: string) => `${directory}.new-`;

/**
 * Removes what an unfinished initdb left behind. A draft that is still being written is left for
 * next time.
 */
export function clearDrafts(directory: string): void {
	for (const name of readdirSync(dirname(directory))) {
		const path = join(dirname(directory), name);
		if (!path.startsWith(draftPrefix(directory))) continue;
		try {
			rmSync(path, { recursive: true, force: true });
		} catch {
			// It is still being written, and it disturbs nobody.
		}
	}
}

/** Makes the rename durable. Otherwise a crash of the machine could lose it, and PGDATA with it. */
function syncFolder(folder: string): void {
	if (process.platform === "win32") return;
	const handle = openSync(folder, "r");
	fsyncSync(handle);
	closeSync(handle);
}
