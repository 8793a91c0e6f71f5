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

/** Input of embedded-process.ts, as JSON. */
export interface EmbeddedProcessOptions {
	dataDir: string;
	baseFolder: string;
	/** The main file of the platform package, in place of the installed one. */
	packageFile?: string | undefined;
	/** Root's process continues as this user. */
	uid?: number | undefined;
	idleMs?: number | undefined;
}

/** Output of embedded-process.ts. */
export type Opened = Omit<EmbeddedPostgres, "close"> & { error?: string };

export interface EmbeddedProcess extends Opened {
	child: ChildProcess;
	/** Closes the database in good order and ends the process. */
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

/** Starts an Assay process that opens the folder and keeps its server until it is told to leave. */
export function startEmbeddedProcess(
	options: EmbeddedProcessOptions,
): Promise<EmbeddedProcess> {
	return awaitOpened(spawnEmbedded(options));
}

/** A folder of the present test with everything that embedded servers leave in it. */
export interface EmbeddedFolder {
	/** Everything of the test lies in here. */
	root: string;
	/** A test may choose another one in `root`. */
	dataDir: string;
	baseFolder: string;
	/** Processes that are killed after the test. */
	children: ChildProcess[];
	/** Fills the data folder where the test is not about its making: a tenth of initdb's work. */
	fillDataDir: () => Promise<void>;
	/** Opens the data folder in this process. */
	open: (options?: EmbeddedOptions) => Promise<EmbeddedPostgres>;
	/** Opens the data folder in an Assay process of its own. */
	openElsewhere: (
		options?: Pick<EmbeddedProcessOptions, "packageFile" | "uid" | "idleMs">,
	) => Promise<EmbeddedProcess>;
	/** The main processes of the servers that run in `root`. */
	serverPids: () => number[];
}

/** Gives each test of the file a folder, and removes it with all its processes afterwards. */
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
		// A shell would split this name. Assay calls none, and initdb, which calls one, quotes it.
		folder.root = makeFolderSync("assay o'b; & #-");
		folder.dataDir = join(folder.root, "data");
		folder.baseFolder = join(folder.root, "base");
		folder.children = [];
	});
	afterEach(async () => {
		for (const child of folder.children) child.kill("SIGKILL");
		// The command line of a server or of initdb names the test's own folder.
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

/** Every process of the machine with its command line. */
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

/** Kills a process that may have ended already. */
export function kill(pid: number): void {
	try {
		process.kill(pid, "SIGKILL");
	} catch {
		// It has ended.
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
