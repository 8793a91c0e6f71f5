import { createReadStream, existsSync } from "node:fs";
import { access, open, readdir, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import type { Writable } from "node:stream";
import { getSystemErrorMessage } from "node:util";
import type { Decrypter } from "age-encryption";
import { AppError } from "../errors.ts";
import { HOUR_MS } from "../units.ts";
import { describeUser } from "./acting-user.ts";
import { AGE_MAGIC, decrypt } from "./encryption.ts";
import { ZSTD_MAGIC } from "./format.ts";

/** End of the name of a backup that is not complete yet. */
const PARTIAL = ".partial";
/** A running backup writes more often than this. */
const STALE_MS = HOUR_MS;

/** Folder of the nightly backups, as deploy/assay-backup.service names it. */
export const BACKUP_FOLDER = "/var/lib/assay-backups";

/** File name that means standard input or standard output. */
export const STANDARD = "-";

/**
 * Calls `write` to fill the file. The file gets its final name only when it is complete and on the
 * disk, and only its owner can read it. After an error, nothing remains. Throws a bad_request
 * AppError when the file already exists or cannot be written.
 */
export async function writeFileSafely<Result>(
	file: string,
	write: (out: Writable) => Promise<Result>,
): Promise<Result> {
	const partial = `${file}${PARTIAL}`;
	await removeStalePartials(dirname(file));
	if (await isThere(file)) {
		throw new AppError(
			"bad_request",
			`${file} already exists and is not overwritten; choose another name`,
		);
	}
	const handle = await open(partial, "wx", 0o600).catch((error) => {
		throw explainWriting(error, error.code === "EEXIST" ? partial : file);
	});
	// The stream flushes the file to the disk before it closes it.
	const out = handle.createWriteStream({ flush: true });
	try {
		const result = await write(out);
		await rename(partial, file);
		await syncFolder(dirname(file));
		return result;
	} catch (error) {
		// If nothing has used the stream yet, destroying it does not close the file.
		out.destroy();
		await handle.close();
		await rm(partial, { force: true });
		// Any other error comes from the database and stays as it is.
		throw OF_THE_DISK.has((error as NodeJS.ErrnoException).code ?? "")
			? explainWriting(error, file)
			: error;
	}
}

/** Removes what killed backups have left in the folder. */
async function removeStalePartials(folder: string): Promise<void> {
	for (const file of await findStalePartials(folder)) {
		try {
			await rm(file);
			process.stderr.write(
				`removed ${file}, which a backup left that was killed\n`,
			);
		} catch {
			// Another process has removed the file, or it belongs to somebody else.
		}
	}
}

/**
 * Finds what killed backups have left in the folder: files whose name ends in `.partial`, that begin
 * like a backup and that nobody has written to for an hour. A folder that cannot be read has none,
 * because writing a backup there will say why.
 */
export async function findStalePartials(folder: string): Promise<string[]> {
	const found: string[] = [];
	const names = await readdir(folder).catch(() => []);
	for (const name of names.filter((one) => one.endsWith(PARTIAL))) {
		const file = join(folder, name);
		try {
			const { mtimeMs, size } = await stat(file);
			if (Date.now() - mtimeMs < STALE_MS) continue;
			if (size === 0 || (await beginsLikeBackup(file))) found.push(file);
		} catch {
			// Another process has removed the file, or it belongs to somebody else.
		}
	}
	return found;
}

async function beginsLikeBackup(file: string): Promise<boolean> {
	const handle = await open(file);
	try {
		const { buffer, bytesRead } = await handle.read(
			Buffer.alloc(AGE_MAGIC.length),
		);
		const start = buffer.subarray(0, bytesRead);
		return [ZSTD_MAGIC, AGE_MAGIC].some((magic) =>
			start.subarray(0, magic.length).equals(magic),
		);
	} finally {
		await handle.close();
	}
}

const OF_THE_DISK = new Set(["EDQUOT", "EFBIG", "EIO", "ENOSPC"]);

/**
 * Reads a backup from the file, or from standard input for "-", and decrypts it if it is encrypted.
 * Throws a bad_request AppError when the file cannot be read or decrypted.
 */
export function readBackup(
	file: string,
	identities: Decrypter | undefined,
): AsyncGenerator<Buffer> {
	return decrypt(readBytes(file), identities);
}

async function* readBytes(file: string): AsyncGenerator<Buffer> {
	try {
		yield* file === STANDARD ? process.stdin : createReadStream(file);
	} catch (error) {
		throw explainReading(error, file);
	}
}

function isThere(file: string): Promise<boolean> {
	return access(file).then(
		() => true,
		() => false,
	);
}

/** Makes the file's name durable, so that it survives a power cut. Windows has no such call. */
async function syncFolder(folder: string): Promise<void> {
	if (process.platform === "win32") return;
	const handle = await open(folder);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Codes of errors that mean that this user may not do it. */
const NOT_PERMITTED = new Set(["EACCES", "EPERM", "EROFS"]);

function explainWriting(error: unknown, name: string): unknown {
	const { errno, code, syscall } = error as NodeJS.ErrnoException;
	if (errno === undefined) return error;
	const file = resolve(name);
	if (code === "EEXIST") {
		return new AppError(
			"bad_request",
			`${file} already exists, because another backup is running or was killed; delete the file if no backup is running`,
			{ cause: error },
		);
	}
	const folder = dirname(file);
	const other = existsSync(BACKUP_FOLDER)
		? `, such as ${join(BACKUP_FOLDER, basename(file))}`
		: "";
	const advice = NOT_PERMITTED.has(code ?? "")
		? `; ${describeUser()}, who may not write in ${folder}; name a file in a folder of this user${other}, or write to standard output (- > ${file})`
		: code === "ENOENT"
			? `; the folder ${folder} does not exist`
			: "";
	return new AppError(
		"bad_request",
		`${file} cannot be written: ${getSystemErrorMessage(errno)} (${syscall})${advice}`,
		{ cause: error },
	);
}

function explainReading(error: unknown, name: string): unknown {
	const { errno, code, syscall } = error as NodeJS.ErrnoException;
	if (errno === undefined) return error;
	const file = resolve(name);
	const advice = NOT_PERMITTED.has(code ?? "")
		? `; ${describeUser()}, who may not read it; let this user read the file and enter its folder, or pass the file on standard input (- < ${file})`
		: "";
	return new AppError(
		"bad_request",
		`${file} cannot be read: ${getSystemErrorMessage(errno)} (${syscall})${advice}`,
		{ cause: error },
	);
}
