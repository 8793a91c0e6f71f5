import { setTimeout as sleep } from "node:timers/promises";
import { VERSION } from "../src/version.ts";
import { AgentError } from "./agent-error.ts";
import { nextDelayMs } from "./backoff.ts";
import { openRequests, type Requests } from "./check-requests.ts";
import type { Outcome } from "./client.ts";
import { type Credentials, readCredentials } from "./credentials.ts";
import { hasReports, sendNext } from "./deliver.ts";
import { enrollFromConfig } from "./enroll-from-config.ts";
import { removeLeftovers, writeFileAtomically } from "./files.ts";
import { prepareFolder, readMarker, writeMarker } from "./folder.ts";
import { type Lock, takeLock } from "./lock.ts";
import { type Log, makeTroubleLog } from "./log.ts";
import { nextQuestion } from "./rejection.ts";
import { type Once, reportNow } from "./report-now.ts";
import {
	chooseStep,
	dueAt,
	LONGEST_SLEEP_MS,
	type Timer,
	timerSince,
	withJitter,
} from "./schedule.ts";
import {
	beat,
	collect,
	openSession,
	type Session,
	type SessionOptions,
} from "./session.ts";
import type { Updates } from "./updates/updates.ts";

export interface RunOptions extends SessionOptions {
	/** Milliseconds to wait after a restart. By default, a random time of up to 30 s. */
	startDelayMs?: number | undefined;
	/** Milliseconds between two looks for an enrollment while there is none. */
	idleMs?: number | undefined;
	/** File that says how to enroll this device. Undefined if only `install` enrolls it. */
	configFile?: string | undefined;
	/** Name of the service manager that a package has set up for this agent. */
	serviceName?: string | undefined;
	/** Fetches newer programs. Undefined if this agent does not update itself. */
	updates?: Updates | undefined;
	/**
	 * File for this program's version, once the service has accepted a heartbeat. An older program
	 * tries this one and waits for the file.
	 */
	trialFile?: string | undefined;
}

const MAX_START_DELAY_MS = 30_000;

/**
 * Shortest wait in seconds before a rejected heartbeat is sent again. Sending it sooner would
 * change nothing.
 */
const REFUSED_SECONDS = 900;

/**
 * Sends heartbeats and reports until `signal` aborts, the folder is gone, or a newer program is ready
 * to be tried. While there is no
 * enrollment, or after the service has rejected the key, the function waits for the next
 * enrollment. With a config file, it makes the folder and enrolls the device itself.
 */
export async function run(options: RunOptions): Promise<void> {
	const { folder, log, signal, configFile } = options;
	if (configFile !== undefined) {
		await prepareFolder(folder);
		await writeMarker(folder, { service: options.serviceName ?? null });
	}
	const enrollment =
		configFile === undefined
			? undefined
			: enrollFromConfig(configFile, options);
	if (!(await readMarker(folder))) {
		throw new AgentError(
			`there is no agent in ${folder}; enroll this device with the install command, or name the agent's folder with --dir`,
		);
	}
	const requests = await openRequests(folder, log);
	let lock: Lock;
	try {
		lock = await takeLock(folder, true);
	} catch (error) {
		requests.close();
		throw error;
	}
	try {
		await requests.clear();
		await removeLeftovers(folder);
		await removeLeftovers(`${folder}/queue`);
		const troubles = makeTroubleLog(log);
		let isFirst = true;
		const stopped = stopsOf(options);
		while (!stopped.aborted && (await isOurs(lock, options))) {
			// Somebody who asks for a report has just enrolled this device.
			const arrived = requests.arrived();
			const credentials = await readCredentials(folder);
			if (credentials) {
				troubles.clear();
				await enrollment?.deleteKey();
				await serve(credentials, { lock, requests }, options, isFirst);
			} else {
				const trouble = enrollment
					? await enrollment.tryToEnroll()
					: "this device is not enrolled; the agent waits until you run the install command";
				if (trouble !== undefined) {
					troubles.say(trouble);
					await pause(
						options.idleMs ?? LONGEST_SLEEP_MS,
						AbortSignal.any([signal, arrived]),
					);
					await requests.list();
				}
			}
			isFirst = false;
		}
	} finally {
		requests.close();
		await lock.release();
	}
}

/** Returns a signal that ends the work: the agent is stopped, or a newer program is ready. */
const stopsOf = ({ signal, updates }: RunOptions) =>
	updates ? AbortSignal.any([signal, updates.ready]) : signal;

async function isOurs(lock: Lock, options: RunOptions): Promise<boolean> {
	const owner = await lock.touch();
	if (owner === "ours") return true;
	options.log.warn(
		owner === "nobody's"
			? `the agent's files in ${options.folder} are gone; the agent ends`
			: "another agent runs for this folder; this one ends",
	);
	return false;
}

/**
 * Works for one enrollment until it is removed or replaced by another one, or the agent is stopped.
 */
async function serve(
	credentials: Credentials,
	{ lock, requests }: { lock: Lock; requests: Requests },
	options: RunOptions,
	isStart: boolean,
): Promise<void> {
	const { folder, log, updates, trialFile } = options;
	const signal = stopsOf(options);
	// Checks that are still running when the enrollment ends must not add their results to the queue.
	const over = new AbortController();
	const session = await openSession(credentials, {
		...options,
		signal: AbortSignal.any([signal, over.signal]),
	});
	const { state } = session;
	log.info(`reporting to ${credentials.server_url}`);
	const isTrial = trialFile !== undefined;
	if (isStart && state.last_checks_at !== null && !isTrial) {
		// Many devices start in the same minute, for example in the morning or after a power failure.
		// The random delay spreads their first requests.
		const delayMs = options.startDelayMs ?? Math.random() * MAX_START_DELAY_MS;
		await pause(delayMs, AbortSignal.any([signal, requests.arrived()]));
	}
	// A program on trial does everything once, at once.
	const heartbeat = timerSince(
		isTrial ? null : state.last_heartbeat_at,
		state.heartbeat_interval_seconds,
	);
	const postures = timerSince(
		isTrial ? null : state.last_checks_at,
		state.posture_interval_seconds,
	);
	const hold = makeHold();
	const reportHold = makeHold();
	let collecting: Promise<void> | undefined;
	let collected = new AbortController();

	async function noteHeartbeat(outcome: Outcome | undefined): Promise<void> {
		hold.note(outcome, log);
		if (outcome?.kind === "trouble") return;
		if (outcome?.kind === "ok") {
			if (trialFile) await writeFileAtomically(trialFile, VERSION);
			updates?.look(session, outcome.body.newest_agent_version);
		}
		set(
			heartbeat,
			outcome?.kind === "refused"
				? Math.max(state.heartbeat_interval_seconds, REFUSED_SECONDS)
				: state.heartbeat_interval_seconds,
		);
	}

	function noteReport(outcome: Outcome | undefined): void {
		const isDisputed =
			outcome?.kind === "trouble" && outcome.foreignStatus === 400;
		// Heartbeats go on if only reports are answered with a foreign 400.
		(isDisputed ? reportHold : hold).note(outcome, log);
		if (!isDisputed) reportHold.note(undefined, log);
	}

	async function reportForRequest(): Promise<Once | undefined> {
		const done = await reportNow(session, {
			force: true,
			waitUntilMs: hold.demandedUntilMs(),
			note: async (route, outcome) =>
				route === "heartbeat" ? noteHeartbeat(outcome) : noteReport(outcome),
		});
		set(postures, state.posture_interval_seconds);
		return signal.aborted ? undefined : done;
	}

	while (!signal.aborted) {
		const stored = await readCredentials(folder);
		if (stored?.enrollment_id !== credentials.enrollment_id) break;
		if ((await lock.touch()) !== "ours") break;
		const asked = await requests.list();
		if (asked.length > 0) {
			log.info("somebody on this device has asked for a report");
			await collecting;
			await requests.answer(asked, reportForRequest);
			continue;
		}
		const step = chooseStep(
			{
				heartbeat,
				postures,
				hold: hold.timer,
				reportHold: reportHold.timer,
				question: state.rejection ? nextQuestion(state.rejection) : undefined,
				isActive: state.last_heartbeat_at !== null,
				isReportWaiting: await hasReports(session),
				isCollecting: collecting !== undefined,
			},
			Date.now(),
		);
		if (step.kind === "heartbeat") {
			const seconds = state.posture_interval_seconds;
			const outcome = await attempt(session, beat);
			await noteHeartbeat(outcome);
			if (outcome?.kind === "trouble") continue;
			if (state.posture_interval_seconds !== seconds) {
				postures.delayMs = withJitter(
					state.posture_interval_seconds,
					Math.random(),
				);
			}
		} else if (step.kind === "send") {
			noteReport(await attempt(session, sendNext));
		} else if (step.kind === "collect") {
			set(postures, state.posture_interval_seconds);
			// The loop does not wait for the checks, so heartbeats continue while they run.
			collecting = collect(session)
				.then(
					() => {},
					(error) => log.error(`the checks failed: ${error.message}`),
				)
				.finally(() => {
					collecting = undefined;
					collected.abort();
				});
		} else {
			session.client.rest();
			await pause(
				step.ms,
				AbortSignal.any([signal, collected.signal, requests.arrived()]),
			);
			if (collected.signal.aborted) collected = new AbortController();
		}
	}
	over.abort();
	await collecting;
	session.client.rest();
}

/** Does one step. An error of this machine counts as trouble, which the agent retries. */
async function attempt(
	session: Session,
	step: (session: Session) => Promise<Outcome | undefined>,
): Promise<Outcome | undefined> {
	try {
		return await step(session);
	} catch (error) {
		const reason = `the agent cannot work: ${(error as Error).message}`;
		session.troubles.request.say(reason, "error");
		return { kind: "trouble", reason };
	}
}

/** Makes a timer that is due when a failed step may be retried. */
function makeHold() {
	const timer: Timer = { lastMs: undefined, delayMs: 0 };
	let failures = 0;
	let isDemanded = false;
	return {
		timer,
		/** Returns until when the service has asked to wait, or a past time if it has not. */
		demandedUntilMs: () =>
			isDemanded ? dueAt(timer.lastMs, timer.delayMs, Date.now()) : 0,
		note(outcome: Outcome | undefined, log: Log): void {
			failures = outcome?.kind === "trouble" ? failures + 1 : 0;
			isDemanded =
				outcome?.kind === "trouble" && outcome.retryAfterSeconds !== undefined;
			if (outcome?.kind !== "trouble") return;
			timer.lastMs = Date.now();
			timer.delayMs = nextDelayMs({
				attempt: failures,
				retryAfterSeconds: outcome.retryAfterSeconds,
				random: Math.random(),
			});
			log.debug(`next attempt in ${Math.round(timer.delayMs / 1000)} seconds`);
		},
	};
}

function set(timer: Timer, intervalSeconds: number): void {
	timer.lastMs = Date.now();
	timer.delayMs = withJitter(intervalSeconds, Math.random());
}

/** Waits `ms` milliseconds, or less if `signal` aborts. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
	await sleep(ms, undefined, { signal }).catch(() => {});
}
