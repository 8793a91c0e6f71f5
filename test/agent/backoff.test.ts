import { expect, test } from "vitest";
import { nextDelayMs } from "../../agent/backoff.ts";

const seconds = (attempt: number, random: number, retryAfterSeconds?: number) =>
	nextDelayMs({ attempt, random, retryAfterSeconds }) / 1000;

test("after the first failure the agent waits 15 seconds, whatever the jitter", () => {
	expect([seconds(1, 0), seconds(1, 0.5), seconds(1, 1)]).toEqual([15, 15, 15]);
});

test("the longest wait doubles to 30 minutes and stays there", () => {
	const longest = [2, 3, 4, 5, 6, 7, 8, 9, 1000].map((attempt) =>
		seconds(attempt, 1),
	);
	expect(longest).toEqual([30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
});

test("the random share is taken after the cap, so after a long outage every second is equally likely", () => {
	expect([0.25, 0.5, 0.75].map((random) => seconds(30, random))).toEqual([
		450, 900, 1350,
	]);
});

test("the wait is never zero", () => {
	expect(seconds(5, 0)).toBe(1);
});

test("the wait is at least the server's Retry-After, with jitter added", () => {
	expect(seconds(1, 0, 120)).toBe(120);
	expect(seconds(1, 1, 120)).toBe(135);
	expect(seconds(9, 0.5, 3600)).toBe(3600 + 900);
});

test("a Retry-After of a year counts as a day", () => {
	expect(seconds(1, 0, 365 * 86_400)).toBe(86_400);
});

test("20,000 devices return evenly over half an hour after an outage of four hours", () => {
	const outageMs = 4 * 3_600_000;
	// A seeded generator gives the same numbers in every run.
	let seed = 1;
	const random = () => {
		seed = (seed * 48_271) % 2_147_483_647;
		return seed / 2_147_483_647;
	};
	const returns = Array.from({ length: 20_000 }, () => {
		let atMs = random() * 300_000;
		for (let attempt = 1; atMs < outageMs; attempt++) {
			atMs += nextDelayMs({ attempt, random: random() });
		}
		return atMs - outageMs;
	});
	const minutes = new Array<number>(31).fill(0);
	for (const ms of returns) {
		const minute = Math.floor(ms / 60_000);
		minutes[minute] = (minutes[minute] ?? 0) + 1;
	}
	// If the devices returned evenly over 30 minutes, 3.3 % would return in each minute.
	expect(Math.max(...minutes)).toBeLessThan(0.08 * returns.length);
	expect(Math.max(...returns)).toBeLessThanOrEqual(1_800_000);
});
