import { expect, test } from "vitest";
import { compareWithOneDay } from "../../console/src/parts/plots/trend.ts";

const DAYS = ["2026-08-31", "2026-09-30", "2026-10-31", "2026-11-29"];

/** Returns the day with which each figure is compared, given its values on the days. */
const comparedDays = (...figures: (number | null)[][]) =>
	compareWithOneDay(
		figures.map((values, at) => ({
			label: `Figure ${at}`,
			unit: "",
			points: DAYS.map((day, index) => ({ day, value: values[index] ?? null })),
		})),
	).map(({ comparedWith }) => comparedWith);

test("all figures of a view are compared with the first day on which all of them are known", () => {
	expect(
		comparedDays([null, null, 80, 90], [9, 9, 8, 7], [null, 2, 1, 0]),
	).toEqual(["2026-10-31", "2026-10-31", "2026-10-31"]);
	expect(comparedDays([null, 8, 9, 7])).toEqual(["2026-09-30"]);
});

test("without such a day before today, each figure is compared with its own first day", () => {
	expect(comparedDays([80, null, null, 90], [null, 8, 8, 7])).toEqual([
		undefined,
		undefined,
	]);
	expect(comparedDays()).toEqual([]);
});
