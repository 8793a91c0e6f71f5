import { afterEach, expect, test } from "vitest";
import {
	dayOf,
	endOfDay,
	lastDayOf,
	setTimeZone,
	startOfDay,
} from "../../console/src/parts/days.ts";

afterEach(() => setTimeZone(undefined));

test("a day begins at midnight in the organization's time zone", () => {
	setTimeZone("Asia/Kathmandu");
	expect(startOfDay("2026-11-23")).toBe("2026-11-22T18:15:00.000Z");
	expect(dayOf(new Date("2026-11-22T18:14:59Z"))).toBe("2026-11-22");
	expect(dayOf(new Date("2026-11-22T18:15:00Z"))).toBe("2026-11-23");
});

test.each([
	["2026-03-29", "2026-03-28T23:00:00.000Z", "2026-03-29T22:00:00.000Z"],
	["2026-10-25", "2026-10-24T22:00:00.000Z", "2026-10-25T23:00:00.000Z"],
])("the day on which the clocks change, %s, has 23 or 25 hours", (day, from, until) => {
	setTimeZone("Europe/Paris");
	expect([startOfDay(day), endOfDay(day)]).toEqual([from, until]);
});

test("a day whose midnight does not exist begins an hour later", () => {
	setTimeZone("Africa/Cairo");
	expect(startOfDay("2026-04-24")).toBe("2026-04-23T22:00:00.000Z");
	expect(endOfDay("2026-04-23")).toBe("2026-04-23T22:00:00.000Z");
});

test("the last day of a period is the organization's, and a period that ends within a day has none", () => {
	setTimeZone("UTC");
	expect(lastDayOf("2026-12-26T23:59:59.000Z")).toBe("2026-12-26");
	expect(lastDayOf("2026-12-27T00:00:00.000Z")).toBe("2026-12-26");
	expect(lastDayOf("2026-12-26T18:30:00.000Z")).toBeUndefined();
	setTimeZone("America/New_York");
	expect(lastDayOf("2026-12-27T04:59:59.000Z")).toBe("2026-12-26");
	expect(lastDayOf("2026-12-26T23:59:59.000Z")).toBeUndefined();
});
