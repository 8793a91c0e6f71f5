import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { collectTexts } from "../../tools/texts.ts";

const PAGE = `
import { Text } from "a library";
type Size = "very small" | "very large";
export function Page({ name }: { name: string }) {
	return (
		<Box className="one two three" aria-label="Owner">
			<Text size="sm">
				Hello {name}, press <Kbd>Enter</Kbd> to
				go on.
			</Text>
			<Button title={busy ? "Saving" : "Save it now"}>Save</Button>
		</Box>
	);
}
`;

test("a JSX sentence is one text, including its attributes and excluding class names, types and imports", () => {
	expect(collectTexts("console/src/page.tsx", PAGE)).toEqual([
		{ line: 6, kind: "console", text: "Owner" },
		{ line: 7, kind: "console", text: "Hello {name}, press Enter to go on." },
		{ line: 11, kind: "console", text: "Save" },
		{ line: 11, kind: "console", text: "Saving" },
		{ line: 11, kind: "console", text: "Save it now" },
	]);
});

test("errors, help, descriptions and log lines have different kinds, and SQL is left out", () => {
	const source = `
		throw new AppError("bad_request", \`there is no \${kind} \` + "with this id");
		badFields([{ field: "name", message: "is required" }]);
		program.command("run").description("start the agent").option("--json", "print JSON");
		const risk = { about: "Something that may go wrong", title: "name" };
		log.warn("could not send it");
		client.query("select the from devices");
		const sql = \`update devices set name = $1\`;
		schema.describe("Person who owns it");
	`;
	expect(
		collectTexts("src/x.ts", source).map(({ kind, text }) => [kind, text]),
	).toEqual([
		["error", "there is no {kind} with this id"],
		["error", "is required"],
		["help", "start the agent"],
		["help", "print JSON"],
		["description", "Something that may go wrong"],
		["description", "name"],
		["log", "could not send it"],
		["description", "Person who owns it"],
	]);
});

test.each([
	"agent/command.ts",
	"console/src/pages/settings/token-usage.tsx",
	"src/registers/risk.ts",
	"src/validation.ts",
])("%s: each text is found at the line where it starts", (path) => {
	const source = readFileSync(join(import.meta.dirname, "../..", path), "utf8");
	const texts = collectTexts(path, source);
	expect(texts.length).toBeGreaterThan(5);
	const lines = source.split("\n");
	for (const { line, text } of texts) {
		const from = lines.slice(line - 1).join(" ");
		const firstWord = text.match(/[\p{L}]{2,}/u)?.[0] ?? "";
		expect(from).toContain(firstWord);
	}
});
