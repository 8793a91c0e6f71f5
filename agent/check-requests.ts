import { randomUUID } from "node:crypto";
import { type FSWatcher, watch } from "node:fs";
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AgentError, EXIT, explainFolder } from "./agent-error.ts";
import {
	errorCode,
	exists,
	listNames,
	parseObject,
	writeFileAtomically,
} from "./files.ts";
import { findOwner, type Owner } from "./lock.ts";
import type { Log } from "./log.ts";
import type { Once } from "./report-now.ts";

/**
 * The folder for requests to a running agent. It is inside the agent's folder, so only those who
 * may read the agent's key can ask. A file works the same on every platform. A pipe of Windows would
 * need rights of its own.
 */
export const REQUESTS = "requests";

/** A request is an empty file with such a name. Its answer has the same name and `.json`. */
const REQUEST = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Time between two looks for the answer, and the longest wait for it, in milliseconds. */
const LOOK_MS = 100;
const MAX_WAIT_MS = 10 * 60_000;

type Answer = { once: Once } | { error: string; exit_code: number };

/** The requests to this agent. */
export interface Requests {
	/** Aborts when somebody may have asked since the last call of `list`. */
	arrived: () => AbortSignal;
	/** Returns the requests that wait for an answer. */
	list: () => Promise<string[]>;
	/**
	 * Does the work and answers requests with its result, except those that were withdrawn. They
	 * continue to wait if the result is undefined.
	 */
	answer: (
		requests: string[],
		work: () => Promise<Once | undefined>,
	) => Promise<void>;
	/** Removes the answers that nobody has read. */
	clear: () => Promise<void>;
	close: () => void;
}

/** Makes the folder for requests and watches it. */
export async function openRequests(
	agentFolder: string,
	log: Log,
): Promise<Requests> {
	const folder = join(agentFolder, REQUESTS);
	await mkdir(folder, { mode: 0o700 }).catch((error) => {
		if (errorCode(error) !== "EEXIST") throw explainFolder(error, agentFolder);
	});
	let arrival = new AbortController();
	/** A request that cannot be removed must not be answered again and again. */
	const answered = new Set<string>();
	const watcher = tryToWatch(folder, () => arrival.abort());
	return {
		arrived: () => arrival.signal,
		list: async () => {
			// A request that comes after the list was read aborts the new signal.
			if (arrival.signal.aborted) arrival = new AbortController();
			return (await listNames(folder)).filter(
				(name) => REQUEST.test(name) && !answered.has(name),
			);
		},
		answer: async (requests, work) => {
			const answer = await answerOf(work);
			if (!answer) return;
			const text = JSON.stringify(answer);
			for (const request of requests) {
				answered.add(request);
				const path = join(folder, request);
				try {
					if (await exists(path)) {
						await writeFileAtomically(`${path}.json`, text);
					}
				} catch (error) {
					log.error(
						`the answer to a request cannot be stored: ${(error as Error).message}`,
					);
				}
				await rm(path, { force: true }).catch(() => {});
			}
		},
		clear: async () => {
			for (const name of await listNames(folder)) {
				if (!REQUEST.test(name)) await rm(join(folder, name), { force: true });
			}
		},
		close: () => watcher?.close(),
	};
}

/** Returns undefined if the system watches no more folders. Requests then wait for up to a minute. */
function tryToWatch(folder: string, note: () => void): FSWatcher | undefined {
	try {
		const watcher = watch(folder, { persistent: false }, (_, name) => {
			if (!name?.includes(".json")) note();
		});
		return watcher.on("error", () => watcher.close());
	} catch {
		return undefined;
	}
}

async function answerOf(
	work: () => Promise<Once | undefined>,
): Promise<Answer | undefined> {
	try {
		const once = await work();
		return once && { once };
	} catch (error) {
		return error instanceof AgentError
			? { error: error.message, exit_code: error.exitCode }
			: {
					error: `the agent cannot work: ${(error as Error).message}`,
					exit_code: EXIT.failed,
				};
	}
}

/**
 * Asks the agent that runs for a folder to check this device and to report now, and returns its
 * answer. Throws an AgentError if the agent cannot be asked, or ends before it answers.
 */
export async function askRunning(
	{ pid, takesRequests }: Owner,
	options: { folder: string; log: Log; signal: AbortSignal },
): Promise<Once> {
	const { folder, log, signal } = options;
	if (!takesRequests) {
		throw new AgentError(
			`the running agent (process ${pid}) is of an older version, which cannot be asked to run the checks; restart its service so that it runs the installed version, or stop it first`,
		);
	}
	const request = join(folder, REQUESTS, randomUUID());
	try {
		await writeFile(request, "", { flag: "wx", mode: 0o600 });
		log.info(
			`an agent is running (process ${pid}), so it checks this device and reports`,
		);
		return await readAnswer(request, pid, folder, signal);
	} catch (error) {
		throw explainFolder(error, folder);
	} finally {
		await rm(request, { force: true }).catch(() => {});
		await rm(`${request}.json`, { force: true }).catch(() => {});
	}
}

async function readAnswer(
	request: string,
	pid: number,
	folder: string,
	signal: AbortSignal,
): Promise<Once> {
	const endsAt = performance.now() + MAX_WAIT_MS;
	while (!signal.aborted && performance.now() < endsAt) {
		// The agent answers before it removes the request or ends, so the answer is looked for last.
		const waits = await exists(request);
		const isRunning = (await findOwner(folder))?.pid === pid;
		const text = await readFile(`${request}.json`, "utf8").catch((error) => {
			if (errorCode(error) === "ENOENT") return undefined;
			throw error;
		});
		if (text !== undefined) return readOnce(text, pid);
		if (!isRunning) {
			throw new AgentError(
				`the running agent (process ${pid}) ended before it answered; run the command again`,
			);
		}
		if (!waits) break;
		await sleep(LOOK_MS, undefined, { signal }).catch(() => {});
	}
	throw new AgentError(
		`the running agent (process ${pid}) gave no answer; its log says what it does`,
	);
}

function readOnce(text: string, pid: number): Once {
	const { once, error, exit_code } = parseObject(text) ?? {};
	if (typeof error === "string") {
		throw new AgentError(error, {
			exitCode: exit_code === EXIT.notEnrolled ? EXIT.notEnrolled : EXIT.failed,
		});
	}
	const done = once as Once | undefined;
	if (typeof done?.device_id === "string" && Array.isArray(done.results)) {
		return done;
	}
	throw new AgentError(
		`the running agent (process ${pid}) gave an answer that this program cannot read; restart its service so that both have the same version`,
	);
}
