import { afterEach, expect, test, vi } from "vitest";
import { makeLog, makeTroubleLog } from "../../agent/log.ts";

afterEach(() => {
	vi.useRealTimers();
});

test("two problems that alternate are each logged at most hourly, and again after they were over", () => {
	vi.useFakeTimers({
		toFake: ["Date"],
		now: new Date("2026-11-21T12:00:00Z"),
	});
	const lines: string[] = [];
	const troubles = makeTroubleLog(
		makeLog("info", (line) => {
			lines.push(line);
		}),
	);
	for (let minute = 0; minute < 60; minute += 5) {
		vi.setSystemTime(Date.parse("2026-11-21T12:00:00Z") + minute * 60_000);
		troubles.say("the state cannot be stored");
		troubles.say("a report cannot be stored");
	}
	expect(lines).toHaveLength(2);
	vi.setSystemTime(new Date("2026-11-21T13:00:00Z"));
	troubles.say("a report cannot be stored");
	expect(lines).toHaveLength(3);
	expect(troubles.clear()).toBe(true);
	expect(troubles.clear()).toBe(false);
	troubles.say("a report cannot be stored");
	expect(lines).toHaveLength(4);
});
