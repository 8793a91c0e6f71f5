import {
	chmodSync,
	chownSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import type { Config } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { ownerBesideRoot } from "./folder-owner.ts";
import {
	openDataFolder,
	readCluster,
	writeCluster,
} from "./postgres-cluster.ts";
import { findPostmaster, stopPostmaster } from "./postmaster.ts";
import { withStartLock } from "./start-lock.ts";

/** Beginning of the names of folders in which a database is made. */
const DRAFT = "restoring-";

/** Stands between the name of a former database and the time at which it was put aside. */
const BEFORE = ".before-";

export interface Replaced<Result> {
	result: Result;
	/** Where the former database is now. Undefined if there was none. */
	kept: { directory: string; file?: string } | undefined;
}

/**
 * Lets `fill` make an embedded database in a new folder, and then puts it in the place of the one in
 * the data folder. The former database is only renamed. The secret and everything else in the data
 * folder stay. If `fill` rejects or `interrupted` aborts, the new folder is removed and the former
 * database stays where it is. It also stays if the process is killed. The new folder then remains,
 * and `findDrafts` finds it.
 *
 * Throws a bad_request AppError if the database is not embedded, if somebody uses it, and after an
 * abort.
 */
export async function replaceEmbedded<Result>(
	config: Config,
	fill: (inside: Config) => Promise<Result>,
	interrupted: AbortSignal,
): Promise<Replaced<Result>> {
	if (config.databaseUrl) {
		throw new AppError(
			"bad_request",
			"--replace works only with the embedded PostgreSQL, and DATABASE_URL is set; rename that database, create an empty one with its name and owner, and restore without --replace",
		);
	}
	const folder = openDataFolder(config.dataDir);
	requireUnused(folder);
	const draft = makeDraft(folder);
	try {
		const filling = fill({ ...config, dataDir: draft });
		const result = await Promise.race([filling, rejectOnAbort(interrupted)]);
		const kept = await withStartLock(folder, async () => {
			requireUnused(folder);
			return exchange(folder, draft);
		});
		rmSync(draft, { recursive: true, force: true });
		return { result, kept };
	} catch (error) {
		await removeDraft(draft);
		throw error;
	}
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
	return new Promise((_, reject) => {
		signal.addEventListener("abort", () => {
			reject(
				new AppError(
					"bad_request",
					"interrupted; the database is what it was before",
				),
			);
		});
	});
}

/** Removes a draft with its server, which may run, and may have its files elsewhere. */
async function removeDraft(draft: string): Promise<void> {
	const directory = readCluster(draft)?.directory;
	if (directory) await stopPostmaster(directory);
	for (const folder of directory ? [directory, draft] : [draft]) {
		// initdb may still write into it for a moment.
		await rm(folder, { recursive: true, force: true, maxRetries: 10 });
	}
}

/** Returns the drafts in a data folder. They are those of killed restores, unless one runs. */
export function findDrafts(dataDir: string): string[] {
	try {
		return readdirSync(dataDir)
			.filter((name) => name.startsWith(DRAFT))
			.map((name) => join(dataDir, name));
	} catch {
		// The folder does not exist, or this user cannot read it. Other code reports that.
		return [];
	}
}

export interface FormerDatabase {
	directory: string;
	/** Its postgres.json. Undefined if it was lost. */
	file?: string;
	keptAt: Date;
}

/** Returns the former databases of a data folder, which `replaceEmbedded` has put aside. */
export function findFormerDatabases(dataDir: string): FormerDatabase[] {
	const found: FormerDatabase[] = [];
	for (const end of endsIn(dataDir)) {
		const file = join(dataDir, `postgres.json${BEFORE}${end}`);
		// The files of the server may be outside of the data folder.
		const directory = `${directoryOf(file) ?? join(dataDir, "postgres")}${BEFORE}${end}`;
		if (!existsSync(directory)) continue;
		const [day, time = ""] = end.split("T");
		const keptAt = new Date(`${day}T${time.replace(/..(?=.)/g, "$&:")}Z`);
		found.push({ directory, keptAt, ...(existsSync(file) && { file }) });
	}
	return found;
}

/** Names that `putAside` gives. A copy that somebody made by hand may have another end. */
const PUT_ASIDE = /^postgres(?:\.json)?\.before-(\d{4}-\d\d-\d\dT\d{6})$/;

/** Returns the times, as they are in names, at which databases were put aside. */
function endsIn(dataDir: string): string[] {
	try {
		const ends = readdirSync(dataDir).flatMap(
			(name) => PUT_ASIDE.exec(name)?.[1] ?? [],
		);
		return [...new Set(ends)].sort();
	} catch {
		// The folder does not exist, or this user cannot read it. Other code reports that.
		return [];
	}
}

function directoryOf(file: string): string | undefined {
	try {
		const { directory } = JSON.parse(readFileSync(file, "utf8"));
		return resolve(dirname(file), directory);
	} catch {
		return undefined;
	}
}

function requireUnused(folder: string): void {
	const directory = findFormer(folder);
	if (!directory || findPostmaster(directory) === undefined) return;
	throw new AppError(
		"bad_request",
		`the database in ${directory} is in use; stop the service and every command that uses it (systemctl stop assay), and try again. After a process was killed, its database stops within a minute`,
	);
}

/** Returns where the database of a data folder is, also if its postgres.json is lost. */
function findFormer(folder: string): string | undefined {
	const directory = readCluster(folder)?.directory ?? join(folder, "postgres");
	return existsSync(directory) ? directory : undefined;
}

/** Makes a folder in the data folder that the same user owns and can enter. */
function makeDraft(folder: string): string {
	const draft = mkdtempSync(join(folder, DRAFT));
	const owner = ownerBesideRoot(folder);
	if (owner) chownSync(draft, owner.uid, owner.gid);
	// PostgreSQL does not run as root. Its user must be able to pass through this folder to PGDATA.
	else if (process.getuid?.() === 0) chmodSync(draft, 0o711);
	return realpathSync(draft);
}

function exchange(folder: string, draft: string): Replaced<never>["kept"] {
	const made = readCluster(draft);
	if (!made) throw new Error(`there is no database in ${draft}`);
	const kept = putAside(folder);
	// The server's files are outside of the data folder if PostgreSQL's user cannot enter it.
	const isInside = made.directory.startsWith(`${draft}/`);
	const directory = isInside ? join(folder, "postgres") : made.directory;
	if (isInside) renameSync(made.directory, directory);
	writeCluster({ ...made, folder, directory });
	return kept;
}

/** Renames what there is of the former database. */
function putAside(folder: string): Replaced<never>["kept"] {
	const former = findFormer(folder);
	const file = join(folder, "postgres.json");
	const end = `${BEFORE}${new Date().toISOString().slice(0, 19).replaceAll(":", "")}`;
	const hasFile = existsSync(file);
	if (hasFile) renameSync(file, `${file}${end}`);
	if (!former) return undefined;
	renameSync(former, `${former}${end}`);
	return {
		directory: `${former}${end}`,
		...(hasFile && { file: `${file}${end}` }),
	};
}
