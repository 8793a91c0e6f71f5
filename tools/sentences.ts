import { parseSync } from "rolldown/utils";
import { stemsOf } from "./search-words.ts";
import { collectTexts, lineAt, lineStarts } from "./texts.ts";

/** A part of a file that a search compares and may print. */
export interface Sentence {
	line: number;
	text: string;
	weight: number;
	/** True for a comment or a text for people. False for a name, or code with a name in it. */
	explains: boolean;
	stems: Set<string>;
}

const SOURCE_FILE = /\.(ts|tsx|js)$/;
const COMMENTED_FILE = /\.(sql|css|md|ya?ml|conf|service|timer|html)$|file$/;
/** Matches names of headers and files such as user-agent, and constants such as IN_GRACE or LOW. */
const NAME_IN_STRING =
	/^([A-Za-z]\w*([-.][A-Za-z0-9]+)+|[A-Z][A-Z0-9]+(_[A-Z0-9]+)*)$/;

type Program = ReturnType<typeof parseSync>["program"];
type Statement = Program["body"][number];
type Comment = ReturnType<typeof parseSync>["comments"][number];

/** Returns the sentences of a file by which a search finds it. */
export function sentencesOf(path: string, source: string): Sentence[] {
	if (SOURCE_FILE.test(path)) return sentencesOfProgram(path, source);
	return COMMENTED_FILE.test(path) ? commentsAndHeadings(source) : [];
}

function sentence(line: number, text: string, weight: number): Sentence {
	return { line, text, weight, explains: false, stems: new Set(stemsOf(text)) };
}

function sentencesOfProgram(path: string, source: string): Sentence[] {
	const parsed = parseSync(path, source);
	const { program, comments } = parsed;
	const starts = lineStarts(source);
	const at = (offset: number) => lineAt(starts, offset);
	const names = new Map(
		program.body.map((statement) => [
			statement.start,
			declared(statement, source),
		]),
	);
	const found: Sentence[] = [];
	for (const { start, end, text } of joinLines(comments, source)) {
		const next = end + (source.slice(end).match(/^\s*/)?.[0].length ?? 0);
		const name = names.get(next);
		names.delete(next);
		const whole = name ? `${name}: ${text}` : text;
		found.push({ ...sentence(at(start), whole, 1.5), explains: true });
	}
	for (const [start, text] of names) {
		if (text !== "") found.push(sentence(at(start), text, 1.5));
	}
	for (const { line, text } of collectTexts(path, source, parsed)) {
		found.push({ ...sentence(line, text, 1), explains: true });
	}
	for (const { start, text } of namesInStrings(program, source)) {
		found.push(sentence(at(start), text, 1));
	}
	return found;
}

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

/** Returns the names that a statement declares, a constant with its value if that is short. */
function declared(statement: Statement, source: string): string {
	const declaration =
		"declaration" in statement ? statement.declaration : statement;
	if (!declaration) return "";
	if ("declarations" in declaration) {
		return declaration.declarations
			.map(({ id, start, end }) => {
				const code = source.slice(start, end).replace(/\s+/g, " ");
				return code.length <= 80
					? code
					: ((id as { name?: string }).name ?? "");
			})
			.join(" ");
	}
	if (!("id" in declaration)) return "";
	return (declaration.id as { name?: string } | null)?.name ?? "";
}

/** Returns the strings that look like names: a list of them as one text, any other with its line. */
function namesInStrings(program: Program, source: string) {
	const found = new Map<number, string>();
	const visit = (value: unknown): void => {
		if (Array.isArray(value)) {
			for (const each of value) visit(each);
			return;
		}
		if (typeof value !== "object" || value === null || !("type" in value)) {
			return;
		}
		const { type, start, end } = value as Statement;
		if (type.startsWith("Import") || type.startsWith("JSX")) return;
		const { elements } = value as { elements?: unknown[] };
		if (elements?.length && elements.every(isNameInString)) {
			found.set(start, source.slice(start, end).replace(/\s+/g, " "));
		} else if (isNameInString(value)) {
			const from = source.lastIndexOf("\n", start) + 1;
			const to = `${source}\n`.indexOf("\n", end);
			found.set(from, source.slice(from, to).trim());
		} else for (const each of Object.values(value)) visit(each);
	};
	visit(program.body);
	return [...found].map(([start, text]) => ({ start, text }));
}

function isNameInString(node: unknown): boolean {
	const { value } = (node ?? {}) as { value?: unknown };
	return typeof value === "string" && NAME_IN_STRING.test(value);
}

function commentsAndHeadings(source: string): Sentence[] {
	return source.split("\n").flatMap((line, index) => {
		const [, text] = line.match(/^\s*(?:--|#+|\/\*+|\*)\s+(.*)/) ?? [];
		return text ? [{ ...sentence(index + 1, text, 1), explains: true }] : [];
	});
}
