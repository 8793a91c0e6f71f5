import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { dirname, join } from "node:path";

/**
 * Matches the names of files that an interrupted write leaves behind. `removeLeftovers` deletes
 * them.
 */
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/**
 * Writes the file completely or not at all, readable by its owner only (0600). This holds even if
 * the power fails, because the file gets its name only after its bytes are on the disk.
 */
export async function writeFileAtomically(
	path: string,
	text: string,
): Promise<void> {
	const temporary = `${path}.${randomBytes(6).toString("hex")}.tmp`;
	try {
		const file = await open(temporary, "wx", 0o600);
		try {
			await file.writeFile(text);
			await file.sync();
		} finally {
			await file.close();
		}
		await rename(temporary, path);
	} catch (error) {
		await rm(temporary, { force: true }).catch(() => {});
		throw error;
	}
	await syncFolder(dirname(path));
}

/**
 * Writes the folder to the disk. Without this, a renamed or removed name could come back after a
 * power failure.
 */
async function syncFolder(folder: string): Promise<void> {
	// Windows cannot open folders, but it writes changed names to the disk by itself.
	if (process.platform === "win32") return;
	const handle = await open(folder, constants.O_RDONLY);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Removes files left behind by writes that a crash interrupted. */
export async function removeLeftovers(folder: string): Promise<void> {
	for (const name of await listNames(folder)) {
		if (TEMPORARY.test(name)) await rm(join(folder, name), { force: true });
	}
}

/** Returns the sorted names in a folder, or an empty list if the folder does not exist. */
export async function listNames(folder: string): Promise<string[]> {
	try {
		return (await readdir(folder)).sort();
	} catch (error) {
		if (errorCode(error) === "ENOENT") return [];
		throw error;
	}
}

/**
 * Reads a text file that a person or a script made. Windows PowerShell writes UTF-16 with a byte
 * order mark, and other programs write UTF-8 with or without one. The mark is not in the result.
 */
export async function readTextFile(path: string): Promise<string> {
	const bytes = await readFile(path);
	const isUtf16 = bytes[0] === 0xff && bytes[1] === 0xfe;
	return bytes.toString(isUtf16 ? "utf16le" : "utf8").replace(/^\uFEFF/, "");
}

/** Returns the code of an operating system error, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
	const code = error instanceof Error && (error as NodeJS.ErrnoException).code;
	return typeof code === "string" ? code : undefined;
}

/** Parses `text` as a JSON object. Returns undefined if it is anything else. */
export function parseObject(text: string): Record<string, unknown> | undefined {
	try {
		const value: unknown = JSON.parse(text);
		return typeof value === "object" && value !== null && !Array.isArray(value)
			? (value as Record<string, unknown>)
			: undefined;
	} catch {
		return undefined;
	}
}

export async function exists(path: string): Promise<boolean> {
	try {
		await stat(path);
		return true;
	} catch (error) {
		if (errorCode(error) === "ENOENT") return false;
		throw error;
	}
}
