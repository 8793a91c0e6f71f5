import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { stemsOf, synonymsOf } from "./search-words.ts";
import { type Sentence, sentencesOf } from "./sentences.ts";
import { listFiles } from "./texts.ts";

/**
 * Prints the files that fit the words of a change best, each with its lines that fit best.
 *
 *     npm run files -- WORDS
 *
 * A search compares the words with the path of each file, the names that the file declares, its
 * comments, the texts that it shows to people and models, and strings that look like names. A rare
 * word counts more than a frequent one, and several words in one sentence count more than the same
 * words in several.
 */
const FOLDERS =
	"agent bench bin console deploy docs release simulator sql src tools".split(
		" ",
	);
/** The result of all migrations, the reasons why something is as it is, and the table of synonyms. */
const LEFT_OUT =
	/^(sql\/schema\.sql|docs\/decisions\/|tools\/search-words\.ts)/;
/** Folders that only use things. Their files have the words of a change and are seldom its place. */
const USERS = /^(bench|simulator|console\/screenshots|src\/(demo|starters))\//;

/** Number of files that a search prints, and the most lines of each. */
const SHOWN_FILES = 10;
const SHOWN_LINES = 2;
const SHOWN_CHARACTERS = 160;

/** Part of the value of a word that a synonym has. */
const SYNONYM = 0.6;

/** A file as a search sees it. */
export interface IndexedFile {
	path: string;
	inPath: Set<string>;
	sentences: Sentence[];
	/** All words of the path and the sentences. */
	stems: Set<string>;
}

export interface FoundFile {
	path: string;
	lines: { line: number; text: string }[];
}

/** Returns what a search compares with a file. */
export function indexFile(path: string, source: string): IndexedFile {
	const sentences = sentencesOf(path, source);
	const inPath = new Set(stemsOf(path));
	const stems = new Set(inPath);
	for (const sentence of sentences) {
		for (const stem of sentence.stems) stems.add(stem);
	}
	return { path, inPath, sentences, stems };
}

type Measure = (stems: Set<string>) => number;

/** Returns a function that says how much of the words a set of stems has. */
function measureOf(files: IndexedFile[], words: string): Measure {
	const rarity = (stem: string) => {
		let having = 0;
		for (const { stems } of files) if (stems.has(stem)) having += 1;
		return Math.log(1 + files.length / (1 + having));
	};
	// The values of each word and its synonyms. Only the best one that a file has counts.
	const values = [...new Set(stemsOf(words))].map((stem) =>
		[
			{ stem, value: rarity(stem) },
			...synonymsOf(stem).map((other) => ({
				stem: other,
				value: SYNONYM * Math.min(rarity(stem), rarity(other)),
			})),
		].sort((a, b) => b.value - a.value),
	);
	return (stems) => {
		let sum = 0;
		for (const word of values) {
			sum += word.find(({ stem }) => stems.has(stem))?.value ?? 0;
		}
		return sum;
	};
}

/** Returns the files that fit the words best, the best one first. Each has one of the words. */
export function searchFiles(files: IndexedFile[], words: string): FoundFile[] {
	const measure = measureOf(files, words);
	const worthOf = ({ weight, stems }: Sentence) =>
		(weight * measure(stems)) / (1 + stems.size / 60);
	return files
		.map((file) => {
			const score =
				Math.max(0, ...file.sentences.map(worthOf)) +
				measure(file.inPath) +
				1.5 * measure(file.stems);
			return { file, score: USERS.test(file.path) ? score / 2 : score };
		})
		.filter(({ score }) => score > 0)
		.sort((a, b) => b.score - a.score)
		.slice(0, SHOWN_FILES)
		.map(({ file: { path, sentences } }) => ({
			path,
			lines: linesToShow(sentences, worthOf),
		}));
}

/** Chooses the lines that fit best and explain a hit. A bare name explains less than a comment. */
function linesToShow(
	sentences: Sentence[],
	worthOf: (sentence: Sentence) => number,
) {
	const best = new Map<number, { text: string; value: number }>();
	for (const sentence of sentences) {
		const { line, text, explains } = sentence;
		const isBare = !explains || text.split(" ").length < 3;
		const value = worthOf(sentence) / (isBare ? 3 : 1);
		if (value > (best.get(line)?.value ?? 0)) best.set(line, { text, value });
	}
	return [...best]
		.sort(([, a], [, b]) => b.value - a.value)
		.slice(0, SHOWN_LINES)
		.map(([line, { text }]) => ({ line, text }));
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

function short(text: string): string {
	if (text.length <= SHOWN_CHARACTERS) return text;
	return `${text.slice(0, SHOWN_CHARACTERS - 1)}…`;
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
	const printed = found.map(({ path, lines }) => {
		const [first, ...others] = lines;
		const more = others.map(
			({ line, text }) => `    ${line}: ${short(text)}\n`,
		);
		return `${path}:${first?.line ?? 1}: ${short(first?.text ?? "")}\n${more.join("")}`;
	});
	process.stdout.write(printed.join(""));
}
