import { existsSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";

const root = new URL("../..", import.meta.url);
const page = readFileSync(new URL("docs/asvs.md", root), "utf8");

/**
 * The numbers of the requirements of levels 1 and 2 in each section of ASVS 5.0.0, without chapters
 * 9 and 17.
 */
const SECTIONS: Record<string, string> = {
	"1.1": "1-2",
	"1.2": "1-9",
	"1.3": "1-11",
	"1.4": "1-3",
	"1.5": "1-2",
	"2.1": "1-3",
	"2.2": "1-3",
	"2.3": "1-4",
	"2.4": "1-1",
	"3.2": "1-2",
	"3.3": "1-4",
	"3.4": "1-6",
	"3.5": "1-5",
	"3.7": "1-2",
	"4.1": "1-3",
	"4.2": "1-1",
	"4.3": "1-2",
	"4.4": "1-4",
	"5.1": "1-1",
	"5.2": "1-3",
	"5.3": "1-2",
	"5.4": "1-3",
	"6.1": "1-3",
	"6.2": "1-12",
	"6.3": "1-4",
	"6.4": "1-4",
	"6.5": "1-5",
	"6.6": "1-3",
	"6.8": "1-4",
	"7.1": "1-3",
	"7.2": "1-4",
	"7.3": "1-2",
	"7.4": "1-5",
	"7.5": "1-2",
	"7.6": "1-2",
	"8.1": "1-2",
	"8.2": "1-3",
	"8.3": "1-1",
	"8.4": "1-1",
	"10.1": "1-2",
	"10.2": "1-2",
	"10.3": "1-4",
	"10.4": "1-11",
	"10.5": "1-5",
	"10.6": "1-2",
	"10.7": "1-3",
	"11.1": "1-2",
	"11.2": "1-3",
	"11.3": "1-3",
	"11.4": "1-4",
	"11.5": "1-1",
	"11.6": "1-1",
	"12.1": "1-3",
	"12.2": "1-2",
	"12.3": "1-4",
	"13.1": "1-1",
	"13.2": "1-5",
	"13.3": "1-2",
	"13.4": "1-5",
	"14.1": "1-2",
	"14.2": "1-4",
	"14.3": "1-3",
	"15.1": "1-3",
	"15.2": "1-3",
	"15.3": "1-7",
	"16.1": "1-1",
	"16.2": "1-5",
	"16.3": "1-4",
	"16.4": "1-3",
	"16.5": "1-3",
};

const rows = [...page.matchAll(/^\| (\d+\.\d+\.\d+) \|(.*)\|$/gm)].map(
	([, number = "", rest = ""]) => ({
		number,
		cells: rest.split(" | ").map((cell) => cell.trim()),
	}),
);
const filesIn = (text: string) =>
	[...text.matchAll(/`(\w[\w./-]*\.(?:ts|tsx|md|sql|json|conf|cfg))`/g)].map(
		([, path = ""]) => path,
	);

test("every requirement of levels 1 and 2 has exactly one line", () => {
	const wanted = Object.entries(SECTIONS).flatMap(([section, range]) => {
		const [first = 0, last = 0] = range.split("-").map(Number);
		return Array.from(
			{ length: last - first + 1 },
			(_, index) => `${section}.${first + index}`,
		);
	});
	expect(rows.map(({ number }) => number).sort()).toEqual(wanted.sort());
});

test("each answer is yes, no or not applicable, with a reason unless it is yes, and names files and a test", () => {
	for (const { number, cells } of rows) {
		const [, answer = "", where = "", shown = ""] = cells;
		expect(cells, number).toHaveLength(4);
		expect(answer, number).toMatch(/^(yes|no: .{5}|not applicable: .{5})/);
		if (!answer.startsWith("not applicable")) {
			expect(filesIn(where), number).not.toEqual([]);
		}
		if (shown !== "–")
			expect(shown, number).toMatch(/^`test\/[^`]+\.test\.ts`$/);
	}
});

test("every file and test that is named exists", () => {
	const named = [...new Set(filesIn(page))];
	expect(named.length).toBeGreaterThan(60);
	expect(named.filter((path) => !existsSync(new URL(path, root)))).toEqual([]);
});
