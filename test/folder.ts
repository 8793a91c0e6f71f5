import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A new temporary folder that others may pass through: as root, PostgreSQL runs as another user. */
export async function makeFolder(prefix: string): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), prefix));
	await chmod(folder, 0o711);
	return folder;
}
