import { beforeEach, expect, test } from "vitest";
import type { TestConsole } from "../support/console-session.ts";
import { auditEntries } from "../support/people.ts";
import { testImports } from "./imports.ts";

// biome-ignore lint/suspicious/noExplicitAny: an answer's shape depends on the call.
type Json = any;

const imports = testImports();
const { tryImport, doImport } = imports;
let served: TestConsole;
let organization_id: string;
beforeEach(() => {
	({ served, organization_id } = imports);
});

const TEXTS = [
	"description",
	"root_cause",
	"corrective_action",
	"effectiveness_check",
];
const LONG = "ā".repeat(4_990);
const HEADING = ["reference_id", ...TEXTS].join(",");

/** Adds nonconformities with this text in four fields, and returns lines that shorten the fields. */
async function addTexts(count: number, text: string): Promise<string[]> {
	const ids = Array.from({ length: count }, (_, n) => `LONG-${n}`);
	const added = await doImport("nonconformity", [
		HEADING,
		...ids.map((id) => [id, ...TEXTS.map(() => text)].join(",")),
	]);
	expect(added.add).toBe(count);
	return ids.map((id) => `${id},x,x,x,x`);
}

test("an answer has at most some megabytes of changes, and counts the lines that it tells in brief", async () => {
	const lines = await addTexts(2_000, "ā".repeat(300));
	const result = await tryImport("nonconformity", [HEADING, ...lines]);
	expect(JSON.stringify(result).length).toBeLessThan(3_000_000);
	expect(result).toMatchObject({ update: 2_000, wrong: 0 });
	const [first] = result.lines;
	expect(Object.keys(first.changes)).toEqual(TEXTS);
	expect(first.left_out).toBe(0);
	for (const { before, after } of Object.values<Json>(first.changes)) {
		expect(before).toBe(`${"ā".repeat(199)}…`);
		expect(after).toBe("x");
	}
	const brief = result.lines.filter(({ left_out }: Json) => left_out > 0);
	expect(result.brief_lines).toBe(brief.length);
	expect(result.lines.at(-1)).toMatchObject({
		line: 2_001,
		outcome: "UPDATE",
		changes: {},
		left_out: 4,
	});
	expect(result.lines).toHaveLength(2_000);
});

test("an import changes the records whose long texts its answer cuts, and logs the whole texts", async () => {
	const lines = [HEADING, ...(await addTexts(3, LONG))];
	const { plan } = await tryImport("nonconformity", lines);
	const before = (await auditEntries(served.database, organization_id)).length;
	const done = await doImport("nonconformity", lines, { plan });
	expect(done).toMatchObject({ update: 3, brief_lines: 0 });
	expect(done.lines.map(({ id }: Json) => id)).not.toContain(null);
	const entries = await auditEntries(served.database, organization_id);
	const noted = entries
		.slice(before)
		.filter(({ record_kind }: Json) => record_kind === "nonconformity");
	expect(noted).toHaveLength(3);
	for (const { changes } of noted as Json[]) {
		expect(changes.root_cause).toEqual({ before: LONG, after: "x" });
	}
});

test("after the longest answer, a wrong line keeps one problem that no meaning of a value solves", async () => {
	const lines = Array.from({ length: 6_000 }, () => "x,y,IGNORED,6,9");
	const result = await tryImport("risk", [
		"name,category,treatment,inherent_likelihood,inherent_impact",
		...lines,
	]);
	expect(result.wrong).toBe(6_000);
	expect(JSON.stringify(result).length).toBeLessThan(4_000_000);
	const [first] = result.lines;
	const last = result.lines.at(-1);
	expect(first.issues).toHaveLength(3);
	expect(first.issues[0].unknown_value).toBe("IGNORED");
	expect(first.left_out).toBe(0);
	expect(last.issues).toEqual([first.issues[1]]);
	expect(last.issues[0].unknown_value).toBe(null);
	expect(last.left_out).toBe(2);
	expect(result.brief_lines).toBeGreaterThan(0);
});
