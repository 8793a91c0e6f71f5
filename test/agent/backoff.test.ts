import { expect, test } from "vitest";
import { nextDelayMs } from "../../agent/backoff.ts";

const seconds = (attempt: number, random: number, retryAfterSeconds?: number) =>
	nextDelayMs({ attempt, random, retryAfterSeconds }) / 1000;

test("the first failure is waited out for 15 seconds, whatever the chance", () => {
	expect([seconds(1, 0), seconds(1, 0.5), seconds(1, 1)]).toEqual([15, 15, 15]);
});

test("the longest wait doubles to 30 minutes and stays there", () => {
	const longest = [2, 3, 4, 5, 6, 7, 8, 9, 1000].map((attempt) =>
		seconds(attempt, 1),
	);
	expect(longest).toEqual([30, 60, 120, 240, 480, 960, 1800, 1800, 1800]);
});

test("the jitter is taken of the capped time: after a long outage any second of it is as likely", () => {
	expect([0.25, 0.5, 0.75].map((random) => seconds(30, random))).toEqual([
		450, 900, 1350,
	]);
});

test("no wait is so short that it is no wait", () => {
	expect(seconds(5, 0)).toBe(1);
});

test("what the server asks for is waited in any case, and jitter is added", () => {
	expect(seconds(1, 0, 120)).toBe(120);
	expect(seconds(1, 1, 120)).toBe(135);
	expect(seconds(9, 0.5, 3600)).toBe(3600 + 900);
});

test("a Retry-After of a year is taken for a day", () => {
	expect(seconds(1, 0, 365 * 86_400)).toBe(86_400);
});

test("after an outage of four hours the return of 20,000 devices is spread over the half hour", () => {
	const outageMs = 4 * 3_600_000;
	// A generator of its own, so that the numbers are the same in every run.
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
	// Evenly over 30 minutes would be 3.3 % a minute.
	expect(Math.max(...minutes)).toBeLessThan(0.08 * returns.length);
	expect(Math.max(...returns)).toBeLessThanOrEqual(1_800_000);
});
