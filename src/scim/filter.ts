import { ScimError } from "./scim-error.ts";

/** Longest filter, in characters. */
export const MAX_FILTER = 1000;
/** Deepest nesting of parentheses, brackets and `not`. */
const MAX_DEPTH = 10;
/** Most comparisons in a filter. */
const MAX_COMPARISONS = 20;

export type Comparison =
	| "eq"
	| "ne"
	| "co"
	| "sw"
	| "ew"
	| "gt"
	| "ge"
	| "lt"
	| "le"
	| "pr";

export type Value = string | number | boolean | null;

/** A filter of RFC 7644 section 3.4.2.2. Names of attributes are in lower case, without their URN. */
export type Filter =
	| { kind: "compare"; path: string; operator: Comparison; value: Value }
	| { kind: "and" | "or"; left: Filter; right: Filter }
	| { kind: "not"; of: Filter }
	/** `emails[type eq "work"]`: one element of the attribute matches `of`. */
	| { kind: "element"; path: string; of: Filter };

/** A path of a PATCH operation, such as `name.givenName` or `emails[type eq "work"].value`. */
export interface Path {
	/** In lower case, without the URN of its schema. */
	attribute: string;
	filter?: Filter;
	/** In lower case. */
	sub?: string;
	/** True if the path begins with the URN of a schema that is not the core schema. */
	isExtension: boolean;
}

const COMPARISONS = new Set<string>([
	"eq",
	"ne",
	"co",
	"sw",
	"ew",
	"gt",
	"ge",
	"lt",
	"le",
	"pr",
]);

const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/;

type Token = { at: number } & (
	| { type: "(" | ")" | "[" | "]" | "end" }
	| { type: "word" | "string"; text: string }
);

/** Reads a filter. Throws invalidFilter if it is wrong or too long. */
export function parseFilter(text: string): Filter {
	const reader = new Reader(text, "invalidFilter");
	const filter = reader.readOr(0);
	reader.expectEnd();
	return filter;
}

/** Reads the path of a PATCH operation. Throws invalidPath if it is wrong or too long. */
export function parsePath(text: string): Path {
	const reader = new Reader(text, "invalidPath");
	const path = reader.readPath();
	reader.expectEnd();
	return path;
}

/**
 * Reads a text from left to right, and looks at each character once. Its limits bound the depth of
 * its calls.
 */
class Reader {
	readonly #text: string;
	readonly #errorType: "invalidFilter" | "invalidPath";
	#at = 0;
	#comparisons = 0;
	#next: Token;

	constructor(text: string, errorType: "invalidFilter" | "invalidPath") {
		this.#text = text;
		this.#errorType = errorType;
		if (text.length > MAX_FILTER) {
			throw this.#error(`must have at most ${MAX_FILTER} characters`);
		}
		this.#next = this.#readToken();
	}

	readOr(depth: number): Filter {
		let left = this.#readAnd(depth);
		while (this.#takeWord("or")) {
			left = { kind: "or", left, right: this.#readAnd(depth) };
		}
		return left;
	}

	readPath(): Path {
		const name = this.#expectWord("the name of an attribute");
		const { path, isExtension } = this.#pathOf(name);
		if (this.#next.type !== "[") {
			const [attribute = "", sub, ...more] = path.split(".");
			if (isExtension) return { attribute: path, isExtension };
			if (more.length > 0) throw this.#error("has too many dots");
			return { attribute, isExtension, ...(sub !== undefined && { sub }) };
		}
		this.#take();
		const filter = this.readOr(1);
		this.#expect("]");
		const rest = this.#next;
		if (rest.type === "end") return { attribute: path, filter, isExtension };
		const after = this.#expectWord("a sub-attribute").toLowerCase();
		if (!/^\.[a-z$][\w$-]*$/.test(after)) {
			throw this.#error("must end with ] or with ].attribute");
		}
		return { attribute: path, filter, sub: after.slice(1), isExtension };
	}

	expectEnd(): void {
		if (this.#next.type !== "end") {
			throw this.#error(`is wrong at character ${this.#next.at + 1}`);
		}
	}

	#readAnd(depth: number): Filter {
		let left = this.#readOne(depth);
		while (this.#takeWord("and")) {
			left = { kind: "and", left, right: this.#readOne(depth) };
		}
		return left;
	}

	#readOne(depth: number): Filter {
		if (depth >= MAX_DEPTH) {
			throw this.#error(`must be nested at most ${MAX_DEPTH} times`);
		}
		if (this.#next.type === "(") return this.#readGroup(depth);
		const name = this.#expectWord("the name of an attribute");
		if (name.toLowerCase() === "not" && this.#isOpening()) {
			return { kind: "not", of: this.#readGroup(depth) };
		}
		const { path } = this.#pathOf(name);
		if (this.#next.type === "[") {
			this.#take();
			const of = this.readOr(depth + 1);
			this.#expect("]");
			return { kind: "element", path, of };
		}
		return this.#readComparison(path);
	}

	#readGroup(depth: number): Filter {
		this.#expect("(");
		const filter = this.readOr(depth + 1);
		this.#expect(")");
		return filter;
	}

	#isOpening(): boolean {
		return this.#next.type === "(";
	}

	#readComparison(path: string): Filter {
		if (++this.#comparisons > MAX_COMPARISONS) {
			throw this.#error(`must have at most ${MAX_COMPARISONS} comparisons`);
		}
		const word = this.#expectWord("an operator such as eq").toLowerCase();
		if (!COMPARISONS.has(word)) {
			throw this.#error(
				"must use the operators eq, ne, co, sw, ew, gt, ge, lt, le or pr",
			);
		}
		const operator = word as Comparison;
		const value = operator === "pr" ? null : this.#readValue();
		return { kind: "compare", path, operator, value };
	}

	#readValue(): Value {
		const token = this.#take();
		if (token.type === "string") return token.text;
		if (token.type === "word") {
			const word = token.text.toLowerCase();
			if (word === "true") return true;
			if (word === "false") return false;
			if (word === "null") return null;
			if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(word)) return Number(word);
		}
		throw this.#error(
			"must compare with a text in double quotes, a number, true, false or null",
		);
	}

	/** Removes the URN of the schema from a name. */
	#pathOf(name: string): { path: string; isExtension: boolean } {
		const lower = name.toLowerCase();
		const path = lower.replace(CORE, "");
		const isExtension = path.startsWith("urn:");
		if (!isExtension && !/^[a-z$][\w$.-]*$/.test(path)) {
			throw this.#error("must begin with the name of an attribute");
		}
		return { path, isExtension };
	}

	#takeWord(word: string): boolean {
		const { type } = this.#next;
		if (type !== "word" || this.#next.text.toLowerCase() !== word) return false;
		this.#take();
		return true;
	}

	#expectWord(what: string): string {
		const token = this.#take();
		if (token.type !== "word") {
			throw this.#error(`must have ${what} at character ${token.at + 1}`);
		}
		return token.text;
	}

	#expect(type: "(" | ")" | "]"): void {
		const token = this.#take();
		if (token.type !== type) {
			throw this.#error(`must have ${type} at character ${token.at + 1}`);
		}
	}

	#take(): Token {
		const token = this.#next;
		this.#next = this.#readToken();
		return token;
	}

	#readToken(): Token {
		const text = this.#text;
		while (text[this.#at] === " ") this.#at++;
		const at = this.#at;
		const first = text[at];
		if (first === undefined) return { type: "end", at };
		if (first === "(" || first === ")" || first === "[" || first === "]") {
			this.#at++;
			return { type: first, at };
		}
		return first === '"' ? this.#readString(at) : this.#readWord(at);
	}

	#readWord(at: number): Token {
		let end = at;
		while (
			end < this.#text.length &&
			!' ()[]"'.includes(this.#text[end] ?? "")
		) {
			end++;
		}
		this.#at = end;
		return { type: "word", at, text: this.#text.slice(at, end) };
	}

	/** Reads a string as JSON writes it. */
	#readString(at: number): Token {
		let end = at + 1;
		while (end < this.#text.length && this.#text[end] !== '"') {
			end += this.#text[end] === "\\" ? 2 : 1;
		}
		this.#at = end + 1;
		try {
			const text: string = JSON.parse(this.#text.slice(at, end + 1));
			if (!/\p{Cc}/u.test(text) && text.isWellFormed()) {
				return { type: "string", at, text };
			}
		} catch {
			// The text ends too early, or has an escape that JSON does not know.
		}
		throw this.#error(`has a wrong text at character ${at + 1}`);
	}

	#error(what: string): ScimError {
		const name = this.#errorType === "invalidFilter" ? "filter" : "path";
		return new ScimError(400, `${name} ${what}`, this.#errorType);
	}
}
