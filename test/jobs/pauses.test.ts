import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Pauses } from "../../src/jobs/pauses.ts";

beforeEach(() => {
	vi.useFakeTimers({ toFake: ["performance"] });
});
afterEach(() => {
	vi.useRealTimers();
});

test.each([
	1, 20, 500,
])("the steps of %i busy organizations together take a twentieth of the time", (busy) => {
	const pauses = new Pauses();
	const stepMs = 100;
	const beganMs = performance.now();
	let workedMs = 0;
	while (performance.now() - beganMs < 1_000_000) {
		for (let organization = 0; organization < busy; organization++) {
			if (pauses.isPaused(String(organization))) continue;
			vi.advanceTimersByTime(stepMs);
			workedMs += stepMs;
			pauses.begin(String(organization), stepMs, 20, busy);
		}
		vi.advanceTimersByTime(500);
	}
	const share = workedMs / (performance.now() - beganMs);
	expect(share).toBeLessThan(1 / 19);
	expect(share).toBeGreaterThan(1 / 25);
});

test("an organization that has had no step does not wait for the others", () => {
	const pauses = new Pauses();
	pauses.begin("large", 10_000, 20, 1);
	expect(pauses.isPaused("large")).toBe(true);
	expect(pauses.isPaused("small")).toBe(false);
});
