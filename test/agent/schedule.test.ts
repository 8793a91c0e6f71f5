import { expect, test } from "vitest";
import {
	chooseStep,
	dueAt,
	type Situation,
	sleepMs,
	timerSince,
	withJitter,
} from "../../agent/schedule.ts";

const NOW = Date.parse("2026-11-21T12:00:00Z");
const idle: Situation = {
	heartbeat: { lastMs: NOW, delayMs: 300_000 },
	postures: { lastMs: NOW, delayMs: 3_600_000 },
	hold: { lastMs: undefined, delayMs: 0 },
	reportHold: { lastMs: undefined, delayMs: 0 },
	question: undefined,
	isActive: true,
	isReportWaiting: false,
	isCollecting: false,
};
const never = { lastMs: undefined, delayMs: 1000 };

test("work that was never done is due at once", () => {
	expect(dueAt(undefined, 300_000, NOW)).toBe(NOW);
});

test("a restart waits for the rest of the interval since the last success", () => {
	expect(dueAt(NOW - 100_000, 300_000, NOW)).toBe(NOW + 200_000);
	expect(timerSince("2026-11-21T11:00:00Z", 300).lastMs).toBe(NOW - 3_600_000);
	expect(timerSince(null, 300).lastMs).toBeUndefined();
});

test("the agent does not go silent when the clock is set back", () => {
	expect(dueAt(NOW + 86_400_000, 300_000, NOW)).toBe(NOW);
	// If the clock is corrected by a second, the agent must not report a second time.
	expect(dueAt(NOW + 1000, 300_000, NOW)).toBe(NOW + 301_000);
});

test("intervals differ by up to a tenth", () => {
	expect([0, 0.5, 1].map((random) => withJitter(300, random))).toEqual([
		270_000, 300_000, 330_000,
	]);
});

test("a sleep is never longer than a minute, so that a suspended laptop catches up", () => {
	expect(sleepMs([NOW + 3_600_000, Infinity], NOW)).toBe(60_000);
	expect(sleepMs([NOW + 5000, NOW + 9000], NOW)).toBe(5000);
	expect(sleepMs([NOW - 5000], NOW)).toBe(0);
});

const steps: [string, Partial<Situation>, string][] = [
	["sleeps when nothing is due", {}, "sleep"],
	["sends a heartbeat when it is due", { heartbeat: never }, "heartbeat"],
	[
		"sends a heartbeat before reports",
		{ heartbeat: never, isReportWaiting: true },
		"heartbeat",
	],
	["sends the waiting reports", { isReportWaiting: true }, "send"],
	[
		"sends nothing after a 401 until it may ask",
		{
			heartbeat: never,
			isReportWaiting: true,
			question: { lastMs: NOW, delayMs: 300_000 },
		},
		"sleep",
	],
	[
		"asks with a heartbeat, not with a report",
		{
			isReportWaiting: true,
			question: { lastMs: NOW - 300_000, delayMs: 300_000 },
		},
		"heartbeat",
	],
	[
		"runs the checks even while the key is in doubt",
		{ postures: never, question: { lastMs: NOW, delayMs: 300_000 } },
		"collect",
	],
	[
		"holds reports back while they get a foreign 400",
		{ isReportWaiting: true, reportHold: { lastMs: NOW, delayMs: 15_000 } },
		"sleep",
	],
	[
		"sends heartbeats although reports get a foreign 400",
		{
			heartbeat: never,
			isReportWaiting: true,
			reportHold: { lastMs: NOW, delayMs: 15_000 },
		},
		"heartbeat",
	],
	["runs the checks when they are due", { postures: never }, "collect"],
	[
		"does not run the checks twice at a time",
		{ postures: never, isCollecting: true },
		"sleep",
	],
	[
		"runs no check before the first heartbeat",
		{ postures: never, isActive: false },
		"sleep",
	],
	[
		"sends nothing before the first heartbeat",
		{ isReportWaiting: true, isActive: false },
		"sleep",
	],
	[
		"sends nothing while it backs off",
		{
			heartbeat: never,
			isReportWaiting: true,
			hold: { lastMs: NOW, delayMs: 15_000 },
		},
		"sleep",
	],
	[
		"runs the checks even while it backs off",
		{ postures: never, hold: { lastMs: NOW, delayMs: 15_000 } },
		"collect",
	],
];
test.each(steps)("the agent %s", (_, change, step) => {
	expect(chooseStep({ ...idle, ...change }, NOW).kind).toBe(step);
});

test("the agent sleeps until the back-off is over, not until the heartbeat", () => {
	const step = chooseStep(
		{ ...idle, heartbeat: never, hold: { lastMs: NOW, delayMs: 15_000 } },
		NOW,
	);
	expect(step).toEqual({ kind: "sleep", ms: 15_000 });
});
