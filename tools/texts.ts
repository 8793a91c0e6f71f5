import { readdir, readFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { parseSync } from "rolldown/utils";

/**
 * Prints every text that a person or an AI client can read, in the form `file:line: [kind] text`.
 *
 *     npm run texts                      all of them
 *     npm run texts -- error help        only these kinds
 *     npm run texts -- src/devices       only this folder or file
 *
 * The program reads the syntax tree, so it finds a text no matter where in the code it is. An
 * expression inside a text is printed in braces.
 */
export const KINDS = [
	"error",
	"help",
	"description",
	"console",
	"log",
	"demo",
	"other",
] as const;
export type Kind = (typeof KINDS)[number];

export interface Text {
	line: number;
	kind: Kind;
	text: string;
}

const ROOT = join(import.meta.dirname, "..");
const FOLDERS = ["src", "agent", "simulator", "console", "bin", "tools"];
const DEMO = /^(src\/demo|console\/screenshots)\//;
const SOURCE_FILE = /\.(ts|tsx|js)$/;

interface Node {
	type: string;
	start: number;
	end: number;
	[key: string]: unknown;
}

/** Properties and JSX attributes whose value people read even if it is a single word. */
const SPOKEN =
	/^(title|label|labels|heading|header|description|placeholder|message|help|about|noun|nouns|summary|hint|empty|confirm|text|legend|alt|error|reason|ariaLabel|aria-label|aria-valuetext|aria-description)$/;
/** Attributes whose value is code, such as class names, styles and drawing instructions. */
const CODE =
	/^(className|style|styles|classNames|d|viewBox|transform|href|to|from|key|id|role|rel|type|autoComplete|w|h|gridTemplateColumns|transition)$/;
/** Matches codes such as bad_request, which are for programs. */
const IDENTIFIER = /^[a-z0-9]+(_[a-z0-9]+)+$/;
const HELP_CALLS =
	/^(description|option|requiredOption|argument|addHelpText|summary|usage|helpOption|createOption|createArgument)$/;
const LOG_CALLS = /^(trace|debug|info|warn|fatal)$/;
const SQL =
	/^\s*(--|\(?\s*(select|insert into|update \S+ (\w+ )?set|delete from|with( recursive)? \w+|create|alter|drop|set|do \$|begin|commit|rollback|copy|grant|revoke|reset|vacuum|analyze|lock|truncate|notify|listen|case when|cross join|left join|join|from|where|and|or|order by|group by|returning|on conflict|explain|refresh|values|exists|union)\b(?![,.!?;]| (the|a|an|it|this|that|your|you|one|all|not|how)\b))/;

/**
 * Returns the texts of a source file, in their order in the file. `parsed` is its syntax tree, if the
 * caller has it.
 */
export function collectTexts(
	path: string,
	source: string,
	parsed = parseSync(path, source),
): Text[] {
	const { program, errors } = parsed;
	if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message}`);
	const starts = lineStarts(source);
	const found: Text[] = [];

	const add = (node: Node, parents: Node[], raw: string) => {
		const text = raw.replace(/\s+/g, " ").trim();
		const spoken = isSpoken(parents);
		if (!/\p{L}/u.test(text) || IDENTIFIER.test(text)) return;
		if (!spoken && !isProse(text)) return;
		if (!spoken && SQL.test(raw)) return;
		found.push({
			line: lineAt(starts, node.start),
			kind: kindOf(path, parents),
			text,
		});
	};

	// The nodes around the one that is visited. A list of its own for each node took a third longer.
	const parents: Node[] = [];
	const visit = (node: Node): void => {
		if (isSilent(node, parents)) return;
		let inner: Iterable<Node>;
		if (node.type.startsWith("JSX") && hasJsxWords(node)) {
			add(node, [...parents, node], jsxText(node, source));
			inner = attributesIn(node);
		} else if (isWords(node)) {
			add(node, parents, wordsIn(node, source));
			inner = expressionsIn(node);
		} else inner = childrenOf(node);
		parents.push(node);
		for (const child of inner) visit(child);
		parents.pop();
	};
	visit(program as unknown as Node);
	return found;
}

function hasJsxWords({ type, children }: Node): boolean {
	return (
		(type === "JSXElement" || type === "JSXFragment") &&
		(children as Node[]).some(isJsxWords)
	);
}

function childrenOf(node: Node): Node[] {
	const children: Node[] = [];
	const add = (value: unknown) => {
		if (typeof value === "object" && value !== null && "type" in value) {
			children.push(value as Node);
		}
	};
	for (const name in node) {
		const value = node[name];
		if (Array.isArray(value)) for (const each of value) add(each);
		else add(value);
	}
	return children;
}

/**
 * Returns true for text that nobody reads: imports, types, SQL, keys, patterns and attributes that
 * hold code.
 */
function isSilent(node: Node, parents: Node[]): boolean {
	if (/^(Import|ExportAll|TS)/.test(node.type)) {
		return !/^TS(As|Satisfies|NonNull)/.test(node.type);
	}
	if (node.type === "JSXAttribute") {
		return CODE.test((node.name as { name?: string }).name ?? "");
	}
	const parent = parents.at(-1);
	if (!parent) return false;
	if (parent.type === "Property" || parent.type === "MemberExpression") {
		if (parent.key === node || parent.property === node) return true;
	}
	if (parent.type === "Property") {
		const attribute = parents.findLast(({ type }) => type === "JSXAttribute");
		if (attribute && CODE.test(nameOf(parent.key))) return true;
	}
	if (/^(TaggedTemplate|Export)/.test(parent.type) && parent.source === node) {
		return true;
	}
	return parent.type === "CallExpression" && callName(parent) === "query";
}

/** Returns true for a string, a template, or a sum of these. */
function isWords(node: Node): boolean {
	if (node.type === "Literal") return typeof node.value === "string";
	if (node.type === "TemplateLiteral") return true;
	return (
		node.type === "BinaryExpression" &&
		node.operator === "+" &&
		[node.left, node.right].some((side) => isWords(side as Node))
	);
}

function wordsIn(node: Node, source: string): string {
	if (node.type === "Literal" && typeof node.value === "string") {
		return node.value;
	}
	if (node.type === "BinaryExpression" && node.operator === "+") {
		return (
			wordsIn(node.left as Node, source) + wordsIn(node.right as Node, source)
		);
	}
	if (node.type === "TemplateLiteral") {
		const expressions = node.expressions as Node[];
		return (node.quasis as { value: { cooked: string } }[])
			.map(({ value }, index) => {
				const expression = expressions[index];
				return value.cooked + (expression ? inBraces(expression, source) : "");
			})
			.join("");
	}
	return inBraces(node, source);
}

function expressionsIn(node: Node): Node[] {
	if (node.type === "TemplateLiteral") return node.expressions as Node[];
	if (node.type !== "BinaryExpression") return [];
	return [node.left as Node, node.right as Node].flatMap((side) =>
		isWords(side) ? expressionsIn(side) : [side],
	);
}

function isJsxWords(node: Node): boolean {
	return node.type === "JSXText" && /\p{L}/u.test(node.value as string);
}

/** Returns the sentence that an element shows, including the words of the elements inside it. */
function jsxText(node: Node, source: string): string {
	return (node.children as Node[])
		.map((child) => {
			if (child.type === "JSXText") return child.value as string;
			if (child.type === "JSXElement" || child.type === "JSXFragment") {
				return jsxText(child, source);
			}
			const expression = child.expression as Node | undefined;
			if (!expression || expression.type === "JSXEmptyExpression") return "";
			return isWords(expression)
				? wordsIn(expression, source)
				: inBraces(expression, source);
		})
		.join("");
}

/** Returns the parts of a JSX sentence that may contain further texts. */
function attributesIn(node: Node): Node[] {
	const opening = node.openingElement as { attributes: Node[] } | undefined;
	return [
		...(opening?.attributes ?? []),
		...(node.children as Node[]).flatMap((child) => {
			if (child.type === "JSXElement" || child.type === "JSXFragment") {
				return attributesIn(child);
			}
			const expression = child.expression as Node | undefined;
			return expression && !isWords(expression) ? [expression] : [];
		}),
	];
}

function inBraces(node: Node, source: string): string {
	const code = source.slice(node.start, node.end).replace(/\s+/g, " ");
	return `{${code.length > 40 ? "…" : code}}`;
}

function isSpoken(parents: Node[]): boolean {
	for (const node of parents.toReversed()) {
		if (/^JSX(Element|Fragment)$/.test(node.type)) return true;
		if (node.type === "JSXAttribute") return SPOKEN.test(nameOf(node.name));
		if (node.type === "Property") return SPOKEN.test(nameOf(node.key));
		if (/Call|Function|Statement|Declarat/.test(node.type)) return false;
	}
	return false;
}

/** Returns true for a sentence, and false for a code, a path or a list of class names. */
function isProse(text: string): boolean {
	const words = text.split(" ").filter((word) => /\p{L}{2}/u.test(word));
	const plain = words.filter((word) =>
		/^[("“]?\p{L}[\p{L}’'-]*[)"”.,:;?!…]*$/u.test(word),
	);
	return plain.length >= 2 && plain.length >= words.length / 2;
}

function kindOf(path: string, parents: Node[]): Kind {
	if (path.startsWith("console/src")) return "console";
	if (DEMO.test(path)) return "demo";
	for (const node of parents.toReversed()) {
		if (node.type === "ThrowStatement") return "error";
		if (node.type === "NewExpression" || node.type === "CallExpression") {
			const name = callName(node);
			if (/Error$|^badFields$|^busy$|^refine$|^addIssue$/.test(name)) {
				return "error";
			}
			if (HELP_CALLS.test(name)) return "help";
			if (LOG_CALLS.test(name)) return "log";
			if (name === "describe") return "description";
		}
		if (node.type === "Property") {
			const key = nameOf(node.key);
			if (key === "message" || key === "error") return "error";
			if (SPOKEN.test(key)) return "description";
		}
	}
	return path.startsWith("src/registers/") ? "description" : "other";
}

function callName(node: Node): string {
	const callee = node.callee as Node;
	return nameOf(callee.type === "MemberExpression" ? callee.property : callee);
}

function nameOf(node: unknown): string {
	const { name, value } = node as { name?: unknown; value?: unknown };
	return String(name ?? value ?? "");
}

/** Returns the offsets at which the lines of a source file start. */
export function lineStarts(source: string): number[] {
	const starts = [0];
	for (
		let at = source.indexOf("\n");
		at >= 0;
		at = source.indexOf("\n", at + 1)
	) {
		starts.push(at + 1);
	}
	return starts;
}

/** Returns the number of the line that an offset is in. */
export function lineAt(starts: number[], offset: number): number {
	return starts.findLastIndex((start) => start <= offset) + 1;
}

/** Returns the paths of all files in these folders that we wrote, in order. */
export async function listFiles(folders: string[]): Promise<string[]> {
	const lists = await Promise.all(
		folders.map((folder) =>
			readdir(join(ROOT, folder), { recursive: true, withFileTypes: true }),
		),
	);
	return lists
		.flat()
		.filter((entry) => entry.isFile())
		.map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
		.filter((path) => !/(^|\/)(dist|node_modules)\//.test(path))
		.sort();
}

if (import.meta.main) {
	const wanted = process.argv.slice(2);
	const kinds = wanted.filter((word) => KINDS.includes(word as Kind));
	const places = wanted.filter((word) => !KINDS.includes(word as Kind));
	for (const path of await listFiles(FOLDERS)) {
		if (!SOURCE_FILE.test(path)) continue;
		if (places.length > 0 && !places.some((place) => path.startsWith(place))) {
			continue;
		}
		const source = await readFile(join(ROOT, path), "utf8");
		for (const { line, kind, text } of collectTexts(path, source)) {
			if (kinds.length > 0 && !kinds.includes(kind)) continue;
			process.stdout.write(`${path}:${line}: [${kind}] ${text}\n`);
		}
	}
}
