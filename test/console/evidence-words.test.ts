import { expect, test } from "vitest";
import { evidenceInWords } from "../../console/src/pages/devices/evidence-words.ts";
import { daysInWords, formatDay } from "../../console/src/parts/days.ts";
import { formatTime } from "../../console/src/parts/time-formats.ts";

test("days and times in evidence are written as people write them", () => {
	expect(evidenceInWords("2026-10-14")).toBe(formatDay("2026-10-14"));
	expect(formatDay("2026-10-14")).not.toBe("2026-10-14");
	for (const time of ["2026-10-14T08:00:00Z", "2026-10-14T08:00:00.5+02:00"]) {
		expect(evidenceInWords(time)).toBe(formatTime(time));
		expect(formatTime(time)).not.toBe(time);
	}
});

test.each([
	"10.0.26100",
	"2026-10",
	"build 2026-10-14",
	"2026-99-99",
	"2026-10-14T99:00:00Z",
	12,
])("other evidence, such as %s, stays as the agent sent it", (value) => {
	expect(evidenceInWords(value)).toBe(String(value));
});

test("a sentence about a day names it in words", () => {
	expect(daysInWords("security updates ended on 2026-10-14")).toBe(
		`security updates ended on ${formatDay("2026-10-14")}`,
	);
});
