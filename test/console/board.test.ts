import { describe, expect, test } from "vitest";
import {
	type Comparison,
	changeOf,
	namesInWords,
} from "../../console/src/pages/reports/board/board.ts";
import { monthsBefore } from "../../console/src/pages/reports/board/periods.ts";

describe("the day that the board summary compares with", () => {
	test.each([
		["2026-11-26", 1, "2026-10-26"],
		["2026-11-26", 3, "2026-08-26"],
		["2026-11-26", 12, "2025-11-26"],
		["2026-03-31", 1, "2026-02-28"],
		["2024-03-31", 1, "2024-02-29"],
		["2026-05-31", 3, "2026-02-28"],
		["2024-02-29", 12, "2023-02-28"],
		["2026-01-15", 1, "2025-12-15"],
		["2026-03-01", 3, "2025-12-01"],
	])("before %s by %i months is %s", (day, months, before) => {
		expect(monthsBefore(day, months)).toBe(before);
	});
});

describe("a change is an arrow, a number and words", () => {
	const figure = (rest: Partial<Comparison>): Comparison => ({
		label: "Overdue work",
		now: 3,
		before: 1,
		unit: "",
		good: "less",
		...rest,
	});
	test.each([
		[{}, "up", "worse", "Up 2, worse"],
		[{ now: 1, before: 3 }, "down", "better", "Down 2, better"],
		[{ good: "more" }, "up", "better", "Up 2, better"],
		[{ good: "neither" }, "up", "neutral", "Up 2"],
		[{ now: 1 }, "same", "neutral", "No change"],
		[
			{ now: 88.1, before: 85.9, unit: "%", good: "more" },
			...["up", "better", "Up 2.2 points, better"],
		],
		[
			{ now: 0, before: 1, unit: "%", good: "more" },
			...["down", "worse", "Down 1 point, worse"],
		],
	] as const)("%j", (rest, direction, tone, text) => {
		expect(changeOf(figure(rest as Partial<Comparison>))).toMatchObject({
			direction,
			tone,
			text,
		});
	});

	test("it is not known if one of the two figures is not", () => {
		expect(changeOf(figure({ before: null }))).toBeUndefined();
		expect(changeOf(figure({ now: null }))).toBeUndefined();
	});
});

test("a decision names the first records and says how many more there are", () => {
	const decision = { kind: "", text: "", names: ["Fire", "Flood"] };
	expect(namesInWords({ ...decision, count: 2 })).toBe("Fire; Flood");
	expect(namesInWords({ ...decision, count: 14 })).toBe(
		"Fire; Flood; and 12 more",
	);
});
