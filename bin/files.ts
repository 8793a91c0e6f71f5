import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { parseSync } from "rolldown/utils";
import { collectTexts, lineAt, lineStarts, listFiles } from "./texts.ts";

/**
 * Prints the files that fit the words of a change best, each with its sentence that fits best.
 *
 *     npm run files -- WORDS
 *
 * A search compares the words with the path of each file, the names that the file declares, its
 * comments, and the texts that it shows to people and models. A rare word counts more than a
 * frequent one, and several words in one sentence count more than the same words in several.
 */
const FOLDERS =
	"agent bench bin console deploy docs release simulator sql src".split(" ");
const SOURCE_FILE = /\.(ts|tsx|js)$/;
const COMMENTED_FILE = /\.(sql|css|md|ya?ml|conf|service|timer|html)$|file$/;
/** The result of all migrations, and the reasons why something is as it is. */
const LEFT_OUT = /^(sql\/schema\.sql|docs\/decisions\/)/;

/** Number of files that a search prints. */
const SHOWN = 10;

/** Words that say nothing about the place of a change. */
const IGNORED = new Set(
	"a an and are as at be before by can change does each every for from has have how if in into is it its many may must new no not of on one or so some that the their them then there these this to until what when where which who why with without".split(
		" ",
	),
);
/** Words for which the name of a constant says MAX. */
const LARGEST = new Set(
	"biggest highest largest limit limits longest maximum most".split(" "),
);

type Statement = ReturnType<typeof parseSync>["program"]["body"][number];

/** A comment, a text or the name of a declaration. */
interface Sentence {
	line: number;
	text: string;
	weight: number;
	stems: Set<string>;
}

/** What a search knows of a file. */
export interface IndexedFile {
	path: string;
	inPath: Set<string>;
	sentences: Sentence[];
	/** All words of the path and the sentences. */
	stems: Set<string>;
}

export interface FoundFile {
	path: string;
	line: number;
	text: string;
}

/** Returns the words of a text, cut so that `links`, `linked` and `linking` are one word. */
function stemsOf(text: string): string[] {
	return text
		.replace(/(\p{Ll}|\d)(\p{Lu})/gu, "$1 $2")
		.toLowerCase()
		.split(/[^\p{L}\p{N}]+/u)
		.filter((word) => word.length > 1 && !IGNORED.has(word))
		.map((word) => (LARGEST.has(word) ? "max" : stemOf(word)));
}

function stemOf(word: string): string {
	if (word.length < 4) return word;
	return word
		.replace(/(ies|ied)$/, "y")
		.replace(/(ations?|ings?|ed|es|s)$/, "")
		.replace(/e$/, "")
		.replace(/(.)\1$/, "$1");
}

/** Returns what a search compares with a file. */
export function indexFile(path: string, source: string): IndexedFile {
	let sentences: Sentence[] = [];
	if (SOURCE_FILE.test(path)) sentences = sentencesOfProgram(path, source);
	else if (COMMENTED_FILE.test(path)) sentences = commentsAndHeadings(source);
	const inPath = new Set(stemsOf(path));
	const stems = new Set(inPath);
	for (const sentence of sentences) {
		for (const stem of sentence.stems) stems.add(stem);
	}
	return { path, inPath, sentences, stems };
}

function sentencesOfProgram(path: string, source: string): Sentence[] {
	const { program, comments } = parseSync(path, source);
	const starts = lineStarts(source);
	const names = new Map(
		program.body.map((statement) => [statement.start, namesIn(statement)]),
	);
	const found: Sentence[] = [];
	for (const { start, end, text } of joinLines(comments, source)) {
		const next = end + (source.slice(end).match(/^\s*/)?.[0].length ?? 0);
		const stems = new Set(stemsOf(`${text} ${names.get(next) ?? ""}`));
		names.delete(next);
		found.push({ line: lineAt(starts, start), text, weight: 1.5, stems });
	}
	for (const [start, text] of names) {
		const stems = new Set(stemsOf(text));
		found.push({ line: lineAt(starts, start), text, weight: 1.5, stems });
	}
	for (const { line, text } of collectTexts(path, source)) {
		found.push({ line, text, weight: 1, stems: new Set(stemsOf(text)) });
	}
	return found;
}

type Comment = ReturnType<typeof parseSync>["comments"][number];

/** Returns the texts of the comments. Lines of a comment that follow each other are one text. */
function joinLines(comments: Comment[], source: string) {
	const joined: { start: number; end: number; text: string }[] = [];
	let former: Comment | undefined;
	for (const comment of comments) {
		const { type, value, start, end } = comment;
		const text = value
			.replace(/^\s*\*+ ?/gm, " ")
			.replace(/\s+/g, " ")
			.trim();
		const last = joined.at(-1);
		const isNext =
			type === "Line" &&
			former?.type === "Line" &&
			/^\n\s*$/.test(source.slice(former.end, start));
		if (isNext && last) {
			last.text += ` ${text}`;
			last.end = end;
		} else joined.push({ start, end, text });
		former = comment;
	}
	return joined.filter(({ text }) => !text.startsWith("biome-ignore"));
}

/** Returns the names that a statement declares, or "". */
function namesIn(statement: Statement): string {
	const declaration =
		"declaration" in statement ? statement.declaration : statement;
	if (!declaration) return "";
	let ids: unknown[] = [];
	if ("declarations" in declaration) {
		ids = declaration.declarations.map(({ id }) => id);
	} else if ("id" in declaration) ids = [declaration.id];
	return ids
		.map((id) => (id as { name?: string } | null)?.name ?? "")
		.join(" ");
}

function commentsAndHeadings(source: string): Sentence[] {
	return source.split("\n").flatMap((line, index) => {
		const [, text] = line.match(/^\s*(?:--|#+|\/\*+|\*)\s+(.*)/) ?? [];
		if (!text) return [];
		return { line: index + 1, text, weight: 1, stems: new Set(stemsOf(text)) };
	});
}

/** Returns the files that have at least one of the words, the one that fits best first. */
export function searchFiles(files: IndexedFile[], words: string): FoundFile[] {
	const values = new Map<string, number>();
	for (const stem of stemsOf(words)) {
		const having = files.filter(({ stems }) => stems.has(stem)).length;
		values.set(stem, Math.log(1 + files.length / (1 + having)));
	}
	const valueIn = (stems: Set<string>) => {
		let sum = 0;
		for (const [stem, value] of values) if (stems.has(stem)) sum += value;
		return sum;
	};

	const scored = files.map((file) => {
		let best = file.sentences[0];
		let most = 0;
		for (const sentence of file.sentences) {
			const value =
				(sentence.weight * valueIn(sentence.stems)) /
				(1 + sentence.stems.size / 60);
			if (value > most) [best, most] = [sentence, value];
		}
		const score = most + valueIn(file.inPath) + 1.5 * valueIn(file.stems);
		// A benchmark uses the words of what it measures, and is seldom what somebody wants to change.
		return {
			file,
			best,
			score: score * (/^bench\//.test(file.path) ? 0.7 : 1),
		};
	});
	return scored
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.map(({ file: { path }, best }) => ({
			path,
			line: best?.line ?? 1,
			text: best?.text ?? "",
		}));
}

/** Reads every file that a search compares. */
export async function indexFiles(): Promise<IndexedFile[]> {
	const root = join(import.meta.dirname, "..");
	const paths = await listFiles(FOLDERS);
	return Promise.all(
		paths
			.filter((path) => !LEFT_OUT.test(path))
			.map(async (path) =>
				indexFile(path, await readFile(join(root, path), "utf8")),
			),
	);
}

if (import.meta.main) {
	const words = process.argv.slice(2).join(" ");
	const found = searchFiles(await indexFiles(), words);
	if (found.length === 0) {
		console.error(
			"No file has one of these words. Name the subject of the change:\n",
		);
		console.error("    npm run files -- days until a session ends");
		process.exitCode = 1;
	}
	const lines = found.slice(0, SHOWN).map(({ path, line, text }) => {
		const short = text.length > 160 ? `${text.slice(0, 159)}…` : text;
		return `${path}:${line}: ${short}\n`;
	});
	process.stdout.write(lines.join(""));
}
