import type { Logger } from "pino";
import { Checksums } from "./checksums.ts";
import type { PackageList } from "./package-list.ts";
import {
	type FolderContent,
	type OfferedFile,
	readFolder,
	type WithheldFile,
} from "./read-folder.ts";
import type { Releases } from "./release.ts";

/** Milliseconds until the service looks at the folder again. */
const LOOK_AGAIN_MS = 30_000;

/** The answer of the service about its packages. */
export interface OfferedPackages extends PackageList {
	/** The newest version that the service offers for each platform. */
	newest: Releases;
	withheld: WithheldFile[];
}

/**
 * The folder with the packages of the agent (ASSAY_AGENT_DIR), as `npm run build:packages` makes
 * it. The service looks at it every 30 seconds, so a new version needs no restart. While the folder
 * cannot be read, the service offers nothing and logs why.
 *
 * The start of the service does not wait for the first look, which hashes all packages. Downloads
 * wait for it.
 */
export class PackageFolder {
	readonly #folder: string;
	readonly #log: Logger;
	readonly #timer: NodeJS.Timeout;
	readonly #checksums = new Checksums();
	readonly #closing = new AbortController();
	readonly #first: Promise<void>;
	#isLooking = false;
	#content: FolderContent | undefined;
	#problem = "";

	constructor(folder: string, log: Logger) {
		this.#folder = folder;
		this.#log = log;
		this.#first = this.#look();
		this.#timer = setInterval(() => void this.#look(), LOOK_AGAIN_MS);
		this.#timer.unref();
	}

	/**
	 * The newest version of the agent that the folder offers for each platform. None while the folder
	 * has not been read.
	 */
	get newest(): Releases {
		return this.#content?.newest ?? {};
	}

	/** Returns a file that may be downloaded, or undefined. */
	async find(path: string): Promise<OfferedFile | undefined> {
		await this.#first;
		return this.#content?.files.get(path);
	}

	/** Returns the newest packages, or undefined while the folder cannot be read. */
	async list(): Promise<OfferedPackages | undefined> {
		await this.#first;
		if (!this.#content) return undefined;
		const { list, newest, withheld } = this.#content;
		return { ...list, newest, withheld };
	}

	close(): void {
		clearInterval(this.#timer);
		this.#closing.abort();
	}

	async #look(): Promise<void> {
		if (this.#isLooking) return;
		this.#isLooking = true;
		const { signal } = this.#closing;
		try {
			this.#content = await readFolder(this.#folder, this.#checksums, signal);
			const { withheld } = this.#content;
			if (!this.#isNew(JSON.stringify(withheld)) || withheld.length === 0)
				return;
			this.#log.error(
				{ folder: this.#folder, withheld },
				"some packages of the agent are not offered; build or copy them again",
			);
		} catch (err) {
			if (signal.aborted) return;
			const { message } = err as Error;
			this.#content = undefined;
			if (!this.#isNew(message)) return;
			this.#log.error(
				{ folder: this.#folder, reason: message },
				"the packages of the agent cannot be offered; ASSAY_AGENT_DIR must name a folder that build:packages has made",
			);
		} finally {
			this.#isLooking = false;
		}
	}

	/** Returns true if the problem is another one than before, so that it is logged once. */
	#isNew(problem: string): boolean {
		const isNew = problem !== this.#problem;
		this.#problem = problem;
		return isNew;
	}
}
