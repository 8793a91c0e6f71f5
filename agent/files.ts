import { randomBytes } from "node:crypto";
import { constants } from "node:fs";
import { open, readdir, rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";

/** What a write that was cut off leaves behind; `removeLeftovers` looks for it. */
const TEMPORARY = /\.[0-9a-f]{12}\.tmp$/;

/**
 * Writes the file whole or not at all, for its owner alone (0600), also when the power fails in
 * the middle: its name appears only after its bytes are on the disk.
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

/** A renamed or removed name lasts only after its folder is on the disk. */
async function syncFolder(folder: string): Promise<void> {
	// Windows opens no folder, and writes its names through by itself.
	if (process.platform === "win32") return;
	const handle = await open(folder, constants.O_RDONLY);
	try {
		await handle.sync();
	} finally {
		await handle.close();
	}
}

/** Removes what writes left behind that a crash cut off. */
export async function removeLeftovers(folder: string): Promise<void> {
	for (const name of await listNames(folder)) {
		if (TEMPORARY.test(name)) await rm(join(folder, name), { force: true });
	}
}

/** The names in a folder, sorted; none when there is no such folder. */
export async function listNames(folder: string): Promise<string[]> {
	try {
		return (await readdir(folder)).sort();
	} catch (error) {
		if (errorCode(error) === "ENOENT") return [];
		throw error;
	}
}

/** The code of an error of the operating system, such as ENOENT. */
export function errorCode(error: unknown): string | undefined {
	const code = error instanceof Error && (error as NodeJS.ErrnoException).code;
	return typeof code === "string" ? code : undefined;
}

/** `text` as a JSON object, undefined when it is anything else. */
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
