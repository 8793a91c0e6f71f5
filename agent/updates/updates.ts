import { rename, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import { isLater } from "../../src/agent-packages/release.ts";
import { HOUR_MS } from "../../src/units.ts";
import { VERSION } from "../../src/version.ts";
import { AgentError } from "../agent-error.ts";
import { readCredentials } from "../credentials.ts";
import type { Host } from "../host.ts";
import { takeLock } from "../lock.ts";
import type { OwnProgram } from "../own-program.ts";
import { type RunOptions, run } from "../run.ts";
import { beat, openSession, type Session } from "../session.ts";
import type { Wanted } from "./fetch-newest.ts";
import { type TrialTimes, tryProgram } from "./trial.ts";
import {
	dueMs,
	notesAbout,
	readNotes,
	readPinnedKey,
	type UpdateNotes,
	withFailure,
	writeNotes,
} from "./update-notes.ts";

export interface Updates {
	/** Aborts when a newer program is ready to be tried. */
	ready: AbortSignal;
	/** Fetches the newest version in the background if this device's turn has come. */
	look(session: Session, newest: unknown): void;
}

export interface UpdateOptions extends RunOptions {
	/** The program of the service, which an update replaces. */
	own: OwnProgram;
	/** The arguments of `run`. */
	args: string[];
	/** Fetches a program, and returns its version. Throws an AgentError that says what went wrong. */
	fetch: (wanted: Wanted) => Promise<string>;
	/** The version of this program. Tests set another one. */
	version?: string;
	times?: TrialTimes;
}

/**
 * Reports like `run`. If a public key was pinned when the agent was installed, it also updates its
 * program. It returns when the agent is stopped, or when the program was replaced and the service
 * manager has to start the new one.
 */
export async function runWithUpdates(options: UpdateOptions): Promise<void> {
	while (!options.signal.aborted) {
		const updates = await openUpdates(options);
		await run({ ...options, updates });
		if (!updates?.ready.aborted || options.signal.aborted) return;
		if (await tryUpdate(options)) return;
	}
}

async function openUpdates(
	options: UpdateOptions,
): Promise<Updates | undefined> {
	const { folder, log } = options;
	if ((await readPinnedKey(folder)) === undefined) return undefined;
	await rm(newProgram(options), { force: true });
	const ready = new AbortController();
	let isLooking = false;
	let nextMs = 0;
	let named: string | undefined;
	return {
		ready: ready.signal,
		look(session, newest) {
			const own = options.version ?? VERSION;
			if (typeof newest !== "string" || !isLater(newest, own)) return;
			if (isLooking || ready.signal.aborted) return;
			// The wait after an error is about the version that could not be fetched.
			if (newest === named && Date.now() < nextMs) return;
			named = newest;
			isLooking = true;
			void prepare(options, session, newest)
				.then((isReady) => {
					if (isReady) ready.abort();
				})
				.catch((error) => {
					nextMs = Date.now() + (0.5 + Math.random()) * HOUR_MS;
					if (session.signal.aborted) return;
					log.error(`the agent was not updated: ${sentenceOf(error)}`);
				})
				.finally(() => {
					isLooking = false;
				});
		},
	};
}

/** Fetches the program if this device's turn has come. Returns true if it is ready to be tried. */
async function prepare(
	options: UpdateOptions,
	session: Session,
	newest: string,
): Promise<boolean> {
	const { folder, log } = options;
	const notes = await notesOn(folder, newest);
	const deviceId = session.state.device_id;
	if (notes.failed !== null || deviceId === null) return false;
	if (Date.now() < dueMs(notes, deviceId)) return false;
	log.info(`fetching an update, because the service offers version ${newest}`);
	let fetched: string;
	try {
		const { signal } = session;
		fetched = await options.fetch({ newest, to: newProgram(options), signal });
	} catch (error) {
		await writeNotes(folder, { ...notes, trouble: sentenceOf(error) });
		throw error;
	}
	await writeNotes(folder, {
		...notes,
		tries: notes.tries + 1,
		tried_at: new Date().toISOString(),
		fetched,
		trouble: null,
	});
	return true;
}

async function notesOn(folder: string, version: string): Promise<UpdateNotes> {
	const stored = await readNotes(folder);
	if (stored?.version === version) return stored;
	const notes = notesAbout(version, stored);
	await writeNotes(folder, notes);
	return notes;
}

/** Tries the program that was fetched. Returns true if it has replaced the old one. */
async function tryUpdate(options: UpdateOptions): Promise<boolean> {
	const { folder, log, host, own } = options;
	const notes = await readNotes(folder);
	if (!notes) return false;
	const version = notes.fetched ?? notes.version;
	const program = newProgram(options);
	const passedFile = join(folder, "update-passed");
	await setLabel(host, program);
	log.info(`trying version ${version}`);
	const verdict = await tryProgram({
		program,
		args: [...own.args, ...options.args, "--trial", passedFile],
		version,
		passedFile,
		askAgain: () => askWithOldProgram(options),
		log,
		signal: options.signal,
		...(options.times && { times: options.times }),
	});
	await rm(passedFile, { force: true });
	if (verdict.kind === "passed") {
		await rename(program, own.program);
		log.info(`updated to version ${version}; the service restarts`);
		return true;
	}
	await rm(program, { force: true });
	if (verdict.kind === "failed") {
		await writeNotes(folder, withFailure(notes, version, verdict.reason));
		log.error(
			`the agent keeps its program, because version ${version} failed: ${verdict.reason}. It waits for a later version`,
		);
	}
	return false;
}

/** The new program lies beside the old one, where systems with SELinux let services run it. */
const newProgram = ({ own }: UpdateOptions) => `${own.program}.new`;

async function setLabel(host: Host, program: string): Promise<void> {
	await host.run("restorecon", ["-RF", dirname(program)]);
}

async function askWithOldProgram(
	options: UpdateOptions,
): Promise<boolean | undefined> {
	const credentials = await readCredentials(options.folder);
	if (!credentials) return undefined;
	const lock = await takeLock(options.folder);
	try {
		const session = await openSession(credentials, options);
		const { kind } = await beat(session);
		session.client.rest();
		return kind === "ok";
	} finally {
		await lock.release();
	}
}

const sentenceOf = (error: unknown) =>
	error instanceof AgentError
		? error.message
		: `this device cannot be updated (${(error as NodeJS.ErrnoException).code ?? "unknown error"})`;
