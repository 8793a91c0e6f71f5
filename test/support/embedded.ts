import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { afterEach, beforeEach } from "vitest";
import {
	type EmbeddedOptions,
	type EmbeddedPostgres,
	openEmbeddedPostgres,
} from "../../src/db/embedded.ts";
import { firstLine } from "./child.ts";
import { makeFolderSync } from "./folder.ts";
import { copyDataFolder } from "./made-data.ts";

/** The input of embedded-process.ts, as JSON. */
export interface EmbeddedProcessOptions {
	dataDir: string;
	baseFolder: string;
	/** The main file of a platform package to use instead of the installed one. */
	packageFile?: string | undefined;
	/** The id of the user under which the process continues if root starts it. */
	uid?: number | undefined;
	idleMs?: number | undefined;
}

/** The output of embedded-process.ts. */
export type Opened = Omit<EmbeddedPostgres, "close"> & { error?: string };

export interface EmbeddedProcess extends Opened {
	child: ChildProcess;
	/** Closes the database properly and ends the process. */
	leave: () => Promise<void>;
	kill: () => Promise<void>;
}

function spawnEmbedded(options: EmbeddedProcessOptions): ChildProcess {
	const program = join(import.meta.dirname, "embedded-process.ts");
	return spawn(process.execPath, [program, JSON.stringify(options)], {
		cwd: "/",
		stdio: ["pipe", "pipe", "pipe"],
	});
}

async function awaitOpened(child: ChildProcess): Promise<EmbeddedProcess> {
	const exit = once(child, "exit");
	const opened: Opened = JSON.parse(await firstLine(child));
	return {
		...opened,
		child,
		async leave() {
			child.stdin?.end();
			await exit;
		},
		async kill() {
			child.kill("SIGKILL");
			await exit;
		},
	};
}

/** Starts an Assay process that opens the folder and keeps its server until the test ends it. */
export function startEmbeddedProcess(
	options: EmbeddedProcessOptions,
): Promise<EmbeddedProcess> {
	return awaitOpened(spawnEmbedded(options));
}

/** The folder of the current test, with everything that embedded servers create in it. */
export interface EmbeddedFolder {
	/** The folder that contains all files of the test. */
	root: string;
	/** The data folder. A test may choose another one in `root`. */
	dataDir: string;
	baseFolder: string;
	/** The processes that are killed after the test. */
	children: ChildProcess[];
	/**
	 * Fills the data folder by copying, for tests that are not about its creation. This is a tenth of
	 * the work of initdb.
	 */
	fillDataDir: () => Promise<void>;
	/** Opens the data folder in this process. */
	open: (options?: EmbeddedOptions) => Promise<EmbeddedPostgres>;
	/** Opens the data folder in a separate Assay process. */
	openElsewhere: (
		options?: Pick<EmbeddedProcessOptions, "packageFile" | "uid" | "idleMs">,
	) => Promise<EmbeddedProcess>;
	/** Returns the ids of the main processes of the servers that run in `root`. */
	serverPids: () => number[];
}

/**
 * Gives each test of the file a folder. Removes the folder and all its processes after the test.
 */
export function embeddedFolder(): EmbeddedFolder {
	const folder: EmbeddedFolder = {
		root: "",
		dataDir: "",
		baseFolder: "",
		children: [],
		fillDataDir: () => copyDataFolder(folder.dataDir),
		open: (options = {}) =>
			openEmbeddedPostgres(folder.dataDir, {
				baseFolder: folder.baseFolder,
				...options,
			}),
		openElsewhere: (options = {}) => {
			const { dataDir, baseFolder } = folder;
			const child = spawnEmbedded({ dataDir, baseFolder, ...options });
			folder.children.push(child);
			return awaitOpened(child);
		},
		serverPids: () =>
			listCommands()
				.filter(
					({ command }) =>
						command.includes(`-D ${folder.root}/`) &&
						command.includes("/postgres "),
				)
				.map(({ pid }) => pid),
	};
	beforeEach(() => {
		// A shell would split this name. Assay starts no shell, and initdb, which does, quotes the
		// name.
		folder.root = makeFolderSync("assay o'b; & #-");
		folder.dataDir = join(folder.root, "data");
		folder.baseFolder = join(folder.root, "base");
		folder.children = [];
	});
	afterEach(async () => {
		for (const child of folder.children) child.kill("SIGKILL");
		// The command line of a server or of initdb contains the name of the test's folder.
		const ours = () =>
			listCommands().filter(({ command }) =>
				command.includes(`${folder.root}/`),
			);
		while (ours().length > 0) {
			for (const { pid } of ours()) kill(pid);
			await sleep(20);
		}
		rmSync(folder.root, { recursive: true, force: true, maxRetries: 5 });
	});
	return folder;
}

/** Returns every process of the machine with its command line. */
export function listCommands(): { pid: number; command: string }[] {
	return execFileSync("ps", ["-A", "-ww", "-o", "pid=,command="], {
		encoding: "utf8",
		maxBuffer: 16 * 1024 ** 2,
	})
		.split("\n")
		.map((line) => ({
			pid: Number.parseInt(line, 10),
			command: line.trim().replace(/^\d+ /, ""),
		}));
}

/** Kills a process, which may have ended already. */
export function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// The process has ended already.
	}
}

/** Returns the first column of the first row. */
export async function queryEmbedded(
	{ connection }: Pick<EmbeddedPostgres, "connection">,
	sql: string,
): Promise<unknown> {
	const client = new Client(connection);
	client.on("error", () => {});
	await client.connect();
	try {
		const { rows } = await client.query({ text: sql, rowMode: "array" });
		return rows[0]?.[0];
	} finally {
		await client.end();
	}
}
