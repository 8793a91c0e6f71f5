import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { findRecovery, longestGap, rateOf } from "../faults/recovery.ts";
import {
	brokenPromises,
	type Row,
	seconds,
	toMarkdown,
} from "../faults/report.ts";
import { conclude, runAndUndo, say, type Undo } from "../run.ts";
import { compare } from "../stored.ts";
import type { Machine } from "./machine.ts";
import { type HaStand, makeHaStand } from "./stand.ts";
import { BACKOFF_SPEED, DEVICES, type Ledger, Writers } from "./writers.ts";

const USAGE = `Usage: npm run bench:failover -- [options]

Runs two services behind HAProxy on a PostgreSQL with a synchronous standby, which Patroni and etcd
manage. All use the files in deploy/. Under load, the benchmark

  1. kills the primary's machine (kill -9 of all its processes) and starts it again,
  2. makes it the primary again,
  3. kills the standby's machine and starts it again,

and looks for every acknowledged write after each step. Needs Linux and Debian's packages. Takes
about five minutes.

  --only-kill      only kill the primary's machine
  --help           print this text

The exit code is 1 if an acknowledged write is lost or stored twice, if a valid key got 401, if an
answer was neither a success nor a 503, if a service ended unexpectedly, or if the earlier rate was
not reached again.
`;

const { values } = parseArgs({
	options: {
		"only-kill": { type: "boolean", default: false },
		help: { type: "boolean", default: false },
	},
});
const SECOND = 1_000;
const BEFORE_MS = 8_000;
/**
 * Milliseconds for which the load continues after the service has recovered. If it does not
 * recover, the load ends MOST_AFTER_MS after the event.
 */
const AFTER_MS = 5_000;
const MOST_AFTER_MS = 120_000;

interface Case {
	name: string;
	/** Causes the event under load. Resolves at once. */
	run: (stand: HaStand) => Promise<void>;
	/** Waits under load for the state that must follow the event. */
	until: (stand: HaStand) => Promise<unknown>;
}

interface CaseRow extends Row {
	/** Milliseconds between the event and that state. */
	wholeMs: number | undefined;
	/** The last output of a service that ended unexpectedly. */
	lastWords: string;
}

let gone: Machine | undefined;

const CASES: Case[] = [
	{
		name: "the primary's machine silent for 1 s, then killed (kill -9 of all its processes)",
		run: async (stand) => {
			const { primary } = await stand.untilSynchronous();
			gone = primary;
			// Between two processes on one machine, no data is ever in transit. Without this step, even a
			// standby that nobody waits for would have received every write, and the benchmark could not
			// show a loss.
			primary.silence();
			await sleep(SECOND);
			primary.kill();
		},
		until: (stand) => stand.untilAlone(),
	},
	{
		name: "it comes back, as a standby",
		run: async () => gone?.start(),
		until: (stand) => stand.untilSynchronous(),
	},
	{
		name: "primary and standby exchanged by hand",
		run: async (stand) => {
			const { primary, standby } = await stand.untilSynchronous();
			await switchOver(primary, standby);
		},
		until: (stand) => stand.untilSynchronous(),
	},
	{
		name: "the standby's machine killed",
		run: async (stand) => {
			const { standby } = await stand.untilSynchronous();
			gone = standby;
			standby.kill();
		},
		until: (stand) => stand.untilAlone(),
	},
	{
		name: "it comes back",
		run: async () => gone?.start(),
		until: (stand) => stand.untilSynchronous(),
	},
];

/** Exchanges the roles of the two machines with the same request as `patronictl switchover`. */
async function switchOver(primary: Machine, standby: Machine): Promise<void> {
	const answer = await fetch(`http://${primary.address}:8008/switchover`, {
		method: "POST",
		body: JSON.stringify({ leader: primary.name, candidate: standby.name }),
		signal: AbortSignal.timeout(60 * SECOND),
	});
	const text = await answer.text();
	if (!answer.ok) throw new Error(`switchover: ${answer.status} ${text}`);
}

async function runCase(
	{ name, run, until }: Case,
	stand: HaStand,
	writers: Writers,
): Promise<CaseRow> {
	say(name);
	const countCrashes = () =>
		stand.services.reduce((sum, { crashes }) => sum + crashes, 0);
	const crashesBefore = countCrashes();
	writers.start(stand.port);
	// The writers start one after the other within a second.
	await sleep(1_500);
	const beganAt = performance.now();
	await sleep(BEFORE_MS);
	const happenedAt = performance.now();
	const perSecond = rateOf(writers.ledger, beganAt, happenedAt);
	let wholeMs: number | undefined;
	const whole = run(stand)
		.then(() => until(stand))
		.then(() => {
			wholeMs = performance.now() - happenedAt;
		});
	// A failure is thrown further below, after the load has ended.
	whole.catch(() => {});
	let recoveredMs: number | undefined;
	for (;;) {
		const now = performance.now();
		const sinceMs = now - happenedAt;
		recoveredMs = recoveryOf(writers.ledger, happenedAt, now, perSecond);
		const isWhole = wholeMs !== undefined && sinceMs > wholeMs + AFTER_MS;
		if (isWhole && recoveredMs !== undefined) break;
		if (sinceMs > MOST_AFTER_MS) break;
		await sleep(250);
	}
	const endedAt = performance.now();
	const ledger = await writers.stop();
	await whole;
	const found = await stand.asOwner((client) =>
		compare(client, stand.fleet, ledger),
	);
	return {
		name,
		ledger,
		...found,
		acknowledged: ledger.acknowledgedAt.length,
		perSecond,
		unavailableMs: longestGap(ledger, happenedAt, endedAt).ms,
		recoveredMs,
		wholeMs,
		crashes: countCrashes() - crashesBefore,
		lastWords: stand.services
			.filter(({ crashes }) => crashes > 0)
			.map(({ log }) => log)
			.join("\n"),
	};
}

/**
 * Returns the milliseconds from the end of the longest pause until 90 % of the earlier rate is
 * reached. Returns 0 if there was no real pause.
 */
function recoveryOf(
	ledger: Ledger,
	happenedAt: number,
	now: number,
	perSecond: number,
): number | undefined {
	const { ms, endedAt } = longestGap(ledger, happenedAt, now);
	if (ms < SECOND) return 0;
	const furtherMs = findRecovery(ledger, endedAt, now, perSecond);
	return furtherMs === undefined ? undefined : endedAt - happenedAt + furtherMs;
}

const undo: Undo[] = [];

async function run(): Promise<number> {
	say("starting etcd, Patroni, HAProxy and two services");
	const making = makeHaStand(DEVICES);
	undo.push(() =>
		making.then(
			(stand) => stand.close(),
			() => {},
		),
	);
	const stand = await making;
	const { port, fleet, tenants } = stand;
	const version = await stand.asOwner(async (client) => {
		const { rows } = await client.query("show server_version");
		return rows[0].server_version;
	});
	const writers = new Writers(port, fleet, tenants);
	const rows: CaseRow[] = [];
	for (const each of values["only-kill"] ? CASES.slice(0, 1) : CASES) {
		rows.push(await runCase(each, stand, writers));
	}
	const whole = {
		heading: "Until synchronous again, or alone, s",
		cell: (row: CaseRow) => seconds(row.wholeMs),
	};
	const note = `agents back off ${BACKOFF_SPEED} times faster than in the field`;
	const broken = rows.flatMap((row) =>
		brokenPromises(row, true, [[row.lastWords === "", row.lastWords]]),
	);
	return conclude(toMarkdown(rows, whole, version, note), broken);
}

if (values.help) process.stdout.write(USAGE);
else await runAndUndo(run, undo);
