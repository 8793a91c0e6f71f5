import { expect, test } from "vitest";
import { relativeTo } from "../../console/src/parts/relative-time.ts";

/** Returns the time in the reader's zone in words, on Sunday the 29th, shortly after half past eight. */
const at = (day: number, hour: number, minute = 0) =>
	relativeTo(
		new Date(2026, 10, day, hour, minute),
		new Date(2026, 10, 29, 8, 35).getTime(),
	);

test("days are those of the reader's calendar", () => {
	expect(at(28, 14)).toBe("18 hours ago");
	expect(at(28, 8)).toBe("yesterday");
	expect(at(27, 14, 19)).toBe("2 days ago");
	expect(at(27, 0, 1)).toBe("2 days ago");
	expect(at(30, 9)).toBe("tomorrow");
	expect(at(32, 0)).toBe("in 3 days");
});

test("other times have the largest unit that fits, in numbers", () => {
	expect(at(29, 8, 35)).toBe("now");
	expect(at(29, 8, 34)).toBe("1 minute ago");
	expect(at(22, 8)).toBe("1 week ago");
	expect(at(-10, 8)).toBe("1 month ago");
	expect(at(29 + 366, 9)).toBe("in 1 year");
});
