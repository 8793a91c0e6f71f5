import { expect, test } from "vitest";
import { findSections } from "../../console/src/pages/help/find-sections.ts";
import { readDocument } from "../../console/src/parts/markdown/tokens.ts";

const DOCUMENTS = [
	{
		name: "devices",
		title: "Devices",
		blocks: readDocument(
			[
				"# Devices",
				"A device reports, see [the words](glossary.md#people).",
				"## How long is `grace`?",
				"Until the limit of the policy.",
				"## Reports",
				"A silence is longer than the limit. It is no residual error.",
			].join("\n\n"),
		),
	},
	{
		name: "glossary",
		title: "Glossary",
		blocks: readDocument(
			`# Glossary\n\n## Words\n\n| word | meaning |\n|---|---|\n| residual risk | what is left |\n| silence | ${"a long text ".repeat(30)}without a report |`,
		),
	},
];

const find = (words: string) =>
	findSections(DOCUMENTS, words).map(({ title, heading, hash }) =>
		[title, heading, hash].filter((part) => part !== undefined).join(" / "),
	);

test("a search of the documents finds the sections that contain all words", () => {
	expect(find("LIMIT silence")).toEqual(["Devices / Reports / reports"]);
	expect(find("limit nothing")).toEqual([]);
	expect(find(" ")).toEqual([]);
	expect(find("device reports")).toContain("Devices");
});

test("headings and the rows of a glossary come first", () => {
	expect(find("residual")).toEqual([
		"Glossary / Words / words",
		"Devices / Reports / reports",
	]);
	expect(find("grace")).toEqual([
		"Devices / How long is grace? / how-long-is-grace",
	]);
});

test("an excerpt is short, shows the words, and has no addresses", () => {
	const [first] = findSections(DOCUMENTS, "reports, see");
	expect(first?.excerpt).toBe("A device reports, see the words.");
	// If only the heading has the words, the excerpt is the beginning of its section.
	const [beginning] = findSections(DOCUMENTS, "how long");
	expect(beginning?.excerpt).toBe("Until the limit of the policy.");
	const [end] = findSections(DOCUMENTS, "without");
	expect(end?.excerpt).toMatch(/^… [^…]*text without a report$/);
	const start = findSections(DOCUMENTS, "silence").find(
		({ name }) => name === "glossary",
	);
	expect(start?.excerpt).toMatch(/^silence: a long text [^…]* …$/);
	expect(start?.excerpt.length).toBeLessThan(210);
});
