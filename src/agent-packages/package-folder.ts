import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import type { Logger } from "pino";
import {
	FILE_NAME,
	LIST_NAME,
	type PackageList,
	packageList,
} from "./package-list.ts";

/** Milliseconds until the service looks at the folder again. */
const LOOK_AGAIN_MS = 30_000;
/** Largest number of files that the folder may offer. */
const MAX_FILES = 500;
/** Folder of the metadata of the yum repository. */
const YUM_FOLDER = "repodata";

export interface OfferedFile {
	path: string;
	bytes: number;
	modifiedMs: number;
}

interface Content {
	list: PackageList;
	/** The files by their path in the folder, such as `repodata/repomd.xml`. */
	files: ReadonlyMap<string, OfferedFile>;
}

/**
 * The folder with the packages of the agent (ASSAY_AGENT_DIR), as `npm run build:packages` makes
 * it. The service looks at it every 30 seconds, so a new version needs no restart. While the folder
 * cannot be read, the service offers nothing and logs why.
 */
export class PackageFolder {
	readonly #folder: string;
	readonly #log: Logger;
	readonly #timer: NodeJS.Timeout;
	#content: Content | undefined;
	#problem = "";

	private constructor(folder: string, log: Logger) {
		this.#folder = folder;
		this.#log = log;
		this.#timer = setInterval(() => void this.#look(), LOOK_AGAIN_MS);
		this.#timer.unref();
	}

	static async open(folder: string, log: Logger): Promise<PackageFolder> {
		const opened = new PackageFolder(folder, log);
		await opened.#look();
		return opened;
	}

	/** The newest version of the agent in the folder. */
	get newestVersion(): string | undefined {
		return this.#content?.list.version;
	}

	/** Returns a file that may be downloaded, or undefined. */
	find(path: string): OfferedFile | undefined {
		return this.#content?.files.get(path);
	}

	close(): void {
		clearInterval(this.#timer);
	}

	async #look(): Promise<void> {
		try {
			this.#content = await readFolder(this.#folder);
			this.#problem = "";
		} catch (err) {
			const { message } = err as Error;
			this.#content = undefined;
			if (message === this.#problem) return;
			this.#problem = message;
			this.#log.error(
				{ folder: this.#folder, reason: message },
				"the packages of the agent cannot be offered; ASSAY_AGENT_DIR must name a folder that build:packages has made",
			);
		}
	}
}

async function readFolder(folder: string): Promise<Content> {
	const text = await readFile(join(folder, LIST_NAME), "utf8");
	const list = packageList.parse(JSON.parse(text));
	const files = new Map<string, OfferedFile>();
	for (const inside of ["", YUM_FOLDER]) {
		for (const name of await namesIn(join(folder, inside))) {
			if (!FILE_NAME.test(name) || files.size === MAX_FILES) continue;
			const path = join(folder, inside, name);
			const found = await stat(path);
			if (!found.isFile()) continue;
			files.set(inside ? `${inside}/${name}` : name, {
				path,
				bytes: found.size,
				modifiedMs: Math.floor(found.mtimeMs),
			});
		}
	}
	return { list, files };
}

/** Returns the names in a folder, newest version last, or none if there is no such folder. */
async function namesIn(folder: string): Promise<string[]> {
	return (await readdir(folder).catch(() => [])).sort();
}
