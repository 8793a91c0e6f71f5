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

/**
 * The content of `postgres.json` in Assay's data folder. A process needs these values to reach the
 * server.
 */
export interface Cluster {
	/** Path of Assay's data folder. */
	readonly folder: string;
	/** PostgreSQL's own data folder (PGDATA). */
	readonly directory: string;
	/** Password of the superuser `assay`. */
	readonly password: string;
	/** Port on 127.0.0.1. The value 0 means a Unix socket in `directory`. */
	readonly port: number;
	/**
	 * Id of the Assay process that last started or adopted the server. The program does not read this
	 * value. It is here for people.
	 */
	readonly ownerPid: number;
	/**
	 * Says whether the cluster is complete. It is false until initdb has finished and the server is
	 * about to start for the first time.
	 */
	readonly created: boolean;
}

const fileOf = (folder: string) => join(folder, "postgres.json");

/**
 * Returns the real path of the data folder. Creates the folder if it is missing. Only this user can
 * read a new folder.
 */
export function openDataFolder(dataDir: string): string {
	if (mkdirSync(dataDir, { recursive: true })) {
		// PostgreSQL does not run as root. Its user must be able to pass through this folder to PGDATA.
		chmodSync(dataDir, process.getuid?.() === 0 ? 0o711 : 0o700);
	}
	return realpathSync(dataDir);
}

/**
 * Reads `postgres.json` of `folder`. Returns undefined when there is none. Throws a bad_request
 * AppError when the file is damaged.
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
			`${file}, which holds the password of the database, is damaged; restore it from a copy of the data folder`,
			{ cause },
		);
	}
}

/** Replaces `postgres.json` atomically and durably. */
export function writeCluster(cluster: Cluster): void {
	const { folder, ...fields } = cluster;
	const inside = relative(folder, cluster.directory);
	// A relative path allows the data folder to be moved as a whole.
	const directory = inside.startsWith("..") ? cluster.directory : inside;
	const draft = `${fileOf(folder)}.new`;
	rmSync(draft, { force: true });
	createForOwner(draft, JSON.stringify({ ...fields, directory }, null, "\t"));
	renameSync(draft, fileOf(folder));
	syncFolder(folder);
}

/**
 * Plans a new cluster in `folder`, or in `baseFolder` when PostgreSQL's user cannot enter `folder`.
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
 * Throws a bad_request AppError when the files of `cluster` were made by another major version,
 * when they are gone, or when they exist but `postgres.json` with their password does not.
 */
export function checkCluster(cluster: Cluster, major: string): void {
	const { directory, created } = cluster;
	const version = join(directory, "PG_VERSION");
	if (existsSync(version)) {
		const found = readFileSync(version, "utf8").trim();
		if (found !== major) {
			throw new AppError(
				"bad_request",
				`${directory} was made by PostgreSQL ${found}, but this Assay contains PostgreSQL ${major}; dump the database with PostgreSQL ${found} and restore the dump into a new data folder. Nothing was changed`,
			);
		}
	}
	// existsSync returns false for a folder that this user is not permitted to see, so the code uses
	// statSync, which throws in that case.
	const found = statSync(directory, { throwIfNoEntry: false });
	if (created === (found !== undefined)) return;
	throw new AppError(
		"bad_request",
		created
			? `the database ${directory} is gone; restore it, or delete ${fileOf(cluster.folder)} to start with an empty database`
			: `${directory} exists, but ${fileOf(cluster.folder)}, which holds its password, does not; restore that file from a copy of the data folder`,
	);
}

/**
 * Creates a new database cluster, completely or not at all. `initdb` works in a folder beside the
 * cluster's final place. That folder has a new name each time, because the initdb of a killed
 * process may still be running in the old one. Throws a service_unavailable AppError with the
 * reason that initdb gave.
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
		const reason = /(?:error|FATAL):\s+(.*)/.exec(stderr)?.[1] ?? message;
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
 * Removes what an unfinished initdb left behind. If an initdb still writes to its folder, the
 * folder remains until the next start.
 */
export function clearDrafts(directory: string): void {
	for (const name of readdirSync(dirname(directory))) {
		const path = join(dirname(directory), name);
		if (!path.startsWith(draftPrefix(directory))) continue;
		try {
			rmSync(path, { recursive: true, force: true });
		} catch {
			// An initdb still writes to this folder, and the folder does no harm.
		}
	}
}

/**
 * Makes the rename durable. Otherwise a crash of the machine could undo the rename, and PGDATA
 * would be lost.
 */
function syncFolder(folder: string): void {
	if (process.platform === "win32") return;
	const handle = openSync(folder, "r");
	fsyncSync(handle);
	closeSync(handle);
}
