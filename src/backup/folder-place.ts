import {
	readdir,
	readFile,
	rename,
	rm,
	stat,
	writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { type BackupPlace, NOTE_NAME } from "./old-backups.ts";

/** Returns a folder as a place from which old backups are deleted. */
export function folderPlace(folder: string): BackupPlace {
	const note = join(folder, NOTE_NAME);
	return {
		name: folder,
		async list() {
			const found: { name: string; storedAt: number }[] = [];
			for (const name of await readdir(folder)) {
				// Another process may have removed the file.
				const file = await stat(join(folder, name)).catch(() => undefined);
				if (file?.isFile()) found.push({ name, storedAt: file.mtimeMs });
			}
			return found;
		},
		remove: (name) => rm(join(folder, name), { force: true }),
		readNote: () => readNote(note),
		async writeNote(text) {
			await writeFile(`${note}.new`, text, { mode: 0o600 });
			await rename(`${note}.new`, note);
		},
	};
}

async function readNote(file: string): Promise<string | undefined> {
	try {
		return await readFile(file, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
		throw error;
	}
}
