import { readFile } from "node:fs/promises";
import { getSystemErrorMessage } from "node:util";
import { AppError } from "../errors.ts";
import { describeUser } from "./acting-user.ts";

const MIN_BYTES = 32;
const MAX_BYTES = 4096;

/**
 * Reads the key that seals backups. Spaces and line breaks around the key are ignored. Returns
 * undefined if no file is configured. Throws bad_request if the file cannot be read or the key's
 * length is wrong.
 */
export async function readBackupKey(
	file: string | undefined,
): Promise<Buffer | undefined> {
	if (file === undefined) return undefined;
	const bytes = await readFile(file).catch((error: NodeJS.ErrnoException) => {
		throw new AppError(
			"bad_request",
			`ASSAY_BACKUP_KEY_FILE names ${file}, which cannot be read: ${getSystemErrorMessage(error.errno ?? 0)}; ${describeUser()}`,
			{ cause: error },
		);
	});
	const key = Buffer.from(bytes.toString("latin1").trim(), "latin1");
	if (key.length < MIN_BYTES || key.length > MAX_BYTES) {
		throw new AppError(
			"bad_request",
			`ASSAY_BACKUP_KEY_FILE names ${file}, which must have ${MIN_BYTES} to ${MAX_BYTES} bytes; \`openssl rand -hex 32\` makes one`,
		);
	}
	return key;
}
