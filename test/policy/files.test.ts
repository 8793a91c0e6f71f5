import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import {
	type IndexedFile,
	indexFile,
	indexFiles,
	searchFiles,
} from "../../tools/files.ts";
import { stemOf } from "../../tools/search-words.ts";

const ROOT = join(import.meta.dirname, "../..");
let files: IndexedFile[];

beforeAll(async () => {
	files = await indexFiles();
});

/** Returns true if a file has a comment or a text, and not only names. */
const hasSentence = ({ sentences }: IndexedFile) =>
	sentences.some(
		({ text, explains }) => explains && text.split(" ").length >= 3,
	);

test("every program file has a sentence by which `npm run files` finds it", () => {
	const programs = files.filter(({ path }) => /\.(ts|tsx|js)$/.test(path));
	expect(programs.length).toBeGreaterThan(1000);
	const silent = programs.filter((file) => !hasSentence(file));
	expect(silent.map(({ path }) => path)).toEqual([]);
});

test("a file with names only has no such sentence", () => {
	expect(hasSentence(indexFile("src/a.ts", "export const a = 1;"))).toBe(false);
	const documented = indexFile(
		"src/a.ts",
		"/** Days until a thing ends. */\nexport const a = 1;",
	);
	expect(hasSentence(documented)).toBe(true);
});

test("the example of a search in CONTRIBUTING.md finds the file of the change", async () => {
	const guide = await readFile(join(ROOT, "CONTRIBUTING.md"), "utf8");
	const words = guide.match(/npm run files -- (days .+)/)?.[1] ?? "";
	const found = searchFiles(files, words).map(({ path }) => path);
	expect(found).toContain("src/sign-in/session-lifetime.ts");
});

/** Changes for which CONTRIBUTING.md has no row, and the file of each. */
const CHANGES = [
	["accent color and fonts", "console/src/theme.ts"],
	["the logo", "console/src/shell/brand.tsx"],
	["color and icon of a state", "console/src/parts/status-badge.tsx"],
	["color of a risk's band", "console/src/parts/records/risk-scores.ts"],
	["how the console shows an error", "console/src/parts/error-state.tsx"],
	["commands in the search dialog", "console/src/shell/search-commands.ts"],
	["how percentages are rounded", "src/units.ts"],
	["what the pass rate counts", "src/devices/pass-rate.ts"],
	["default page size of a list", "src/records/page-sizes.ts"],
	["guard against formulas in CSV files", "src/csv/text.ts"],
	["types of files that evidence accepts", "src/files/file-types.ts"],
	["default heartbeat interval", "src/devices/terms.ts"],
	["when a device is stale", "src/devices/device-record.ts"],
	["days of grace of a check", "src/devices/check-rules.ts"],
	["most devices of one call", "src/devices/fleet-limits.ts"],
	["link to My devices, days it works", "src/my-devices/links.ts"],
	["mail with an invitation", "src/organizations/invitation-mail.ts"],
	["weekly mail to owners", "src/notifications/device-digest-mail.ts"],
	["form of a chat message", "src/notifications/chat-payloads.ts"],
	["signature of a webhook's delivery", "src/webhooks/signature.ts"],
	["days until a session ends", "src/sign-in/session-lifetime.ts"],
	["what a new password must be", "src/sign-in/password-rules.ts"],
	["most API tokens of a user", "src/tokens/api-token-operations.ts"],
	["a security header", "src/http/security-headers.ts"],
	["prompts for AI clients", "src/mcp/prompts.ts"],
	[
		"signature algorithms of a SAML provider",
		"src/sign-in/saml/signed-assertion.ts",
	],
	["deleting closed organizations", "src/organizations/closures.ts"],
	["tables that a backup leaves out", "src/backup/tables.ts"],
	["a value of the Helm chart", "deploy/helm/assay/values.yaml"],
] as const;
/** A comment that somebody words anew may hide a file from one search, and not from many. */
const MOST_MISSED = 5;

test("a search prints the file of nearly every change that has no row", () => {
	const missed = CHANGES.filter(
		([words, path]) =>
			!searchFiles(files, words).some((found) => found.path === path),
	);
	expect(missed.slice(MOST_MISSED)).toEqual([]);
});

/** Searches files that consist of these sources only. */
function search(sources: Record<string, string>, words: string) {
	const index = Object.entries(sources).map(([path, source]) =>
		indexFile(path, source),
	);
	return searchFiles(index, words);
}

test("a rare word counts more than a frequent one, and endings do not count", () => {
	const sources = {
		"src/one.ts": "/** Devices that wait. */\nexport const one = 1;",
		"src/two.ts": "/** Devices that fail. */\nexport const two = 2;",
		"src/three.ts": "/** Rounding a figure. */\nexport const three = 3;",
	};
	const [first] = search(sources, "rounded device");
	expect(first).toEqual({
		path: "src/three.ts",
		lines: [{ line: 1, text: "three = 3: Rounding a figure." }],
	});
	expect(search(sources, "how many of the nowhere")).toEqual([]);
});

test.each([
	["revoke", "revokes revoked revoking"],
	["remind", "reminds reminded reminder reminders"],
	["validate", "validated validation"],
	["policy", "policies"],
	["enroll", "enrolled enrollment"],
])("endings of “%s” do not count: %s", (word, others) => {
	for (const other of others.split(" ")) {
		expect(stemOf(other)).toBe(stemOf(word));
	}
});

test("a synonym finds a file, and the word itself finds a better one", () => {
	const sources = {
		"src/one.ts": "/** Time to wait. */\nexport const one = 1;",
		"src/two.ts": "/** Time of the delay. */\nexport const two = 2;",
		"src/three.ts": "/** Time of a report. */\nexport const three = 3;",
	};
	const paths = search(sources, "delay").map(({ path }) => path);
	expect(paths).toEqual(["src/two.ts", "src/one.ts"]);
});

test("a word with a hyphen finds it whole before its parts, also in a string", () => {
	const sources = {
		"src/one.ts": "/** The agent of a user. */\nexport const one = 1;",
		"src/two.ts": 'export const two = { "user-agent": 2 };',
	};
	const [first] = search(sources, "User-Agent");
	expect(first).toEqual({
		path: "src/two.ts",
		lines: [{ line: 1, text: 'two = { "user-agent": 2 }' }],
	});
});

test("a choice of a field finds the list of the choices", () => {
	const sources = {
		"src/one.ts": 'const RATINGS = [\n\t"LOW",\n\t"HIGH",\n];',
		"src/two.ts": "const ratings = 1;",
	};
	const [first] = search(sources, "ratings HIGH");
	expect(first).toEqual({
		path: "src/one.ts",
		lines: [{ line: 1, text: 'RATINGS = [ "LOW", "HIGH", ]' }],
	});
});

test("a folder that only uses things comes after the files of the product", () => {
	const source = "/** Longest time of a session. */\nexport const one = 1;";
	for (const folder of ["bench", "simulator", "src/demo", "src/starters"]) {
		const sources = { [`${folder}/one.ts`]: source, "src/two.ts": source };
		const paths = search(sources, "time of one session").map(
			({ path }) => path,
		);
		expect(paths).toEqual(["src/two.ts", `${folder}/one.ts`]);
	}
});

test("a comment is shown before a bare name", () => {
	const source =
		"export interface Dialog {\n\t/** The question of the dialog, with its buttons. */\n\ttext: string;\n}";
	const [first] = search({ "src/one.ts": source }, "dialog");
	expect(first?.lines.map(({ line }) => line)).toEqual([2, 1]);
});
