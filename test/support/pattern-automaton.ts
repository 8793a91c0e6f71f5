import { type AST, RegExpParser } from "@eslint-community/regexpp";

/** The state of the search for the start of a match, which tries every character of the text. */
export const SEARCH = 0;
/** The state after a line break. With the flag m, `^` matches there. */
const LINE_START = 1;

/** Conditions under which a way through the pattern can be taken, as bits. */
const AT_START = 1;
const AT_LINE_START = 2;
const AT_END = 4;
const AT_LINE_END = 8;
const PERHAPS = 16;

/** The largest number of rounds. A repetition that may have more rounds counts as endless. */
const MOST_ROUNDS = 30;
const MAX_STATES = 3_000;

/** A state with which a part begins or ends, and the condition under which it does. */
interface Way {
	state: number;
	when: number;
}

interface Part {
	first: Way[];
	last: Way[];
	/**
	 * The conditions under which the part reads nothing. There is one entry for each way to do so.
	 */
	empty: number[];
}

const NOTHING: Part = { first: [], last: [], empty: [0] };

/**
 * The automaton of a regular expression. It has a state for each character of the pattern, and an
 * edge for each way to get from one character to the next. Unlike an automaton in a textbook, it
 * keeps every way, because a backtracking engine tries all of them.
 *
 * The automaton assumes the worst about a condition such as `\b` or a lookahead. It counts as true
 * where the pattern continues and as false where the pattern would match. The constructor throws
 * for parts that it cannot express, such as a backreference.
 */
export class PatternAutomaton {
	/** For each state, the characters that it reads, as bits. */
	readonly reads: bigint[] = [];
	/** For each state, the states that follow it, once for each way. */
	readonly next: number[][] = [];
	/**
	 * The states after which the pattern has matched, at any place or only at the end of the text.
	 */
	readonly matches = new Set<number>();
	readonly matchesAtEnd = new Set<number>();
	/** All characters of the alphabet, as bits. */
	readonly all: bigint;
	readonly #isMultiline: boolean;
	readonly #flags: string;
	readonly #alphabet: string[];
	readonly #lineBreak: bigint;
	readonly #classes = new Map<string, bigint>();

	constructor({ source, flags }: RegExp) {
		const unicode = flags.includes("u");
		const unicodeSets = flags.includes("v");
		const pattern = new RegExpParser().parsePattern(source, 0, source.length, {
			unicode,
			unicodeSets,
		});
		this.#isMultiline = flags.includes("m");
		this.#flags = flags.replace(/[^isuv]/g, "");
		this.#alphabet = alphabetOf(source, unicode || unicodeSets);
		this.all = (1n << BigInt(this.#alphabet.length)) - 1n;
		this.#lineBreak = this.#charactersOf("[\\n\\r\\u2028\\u2029]");
		this.#addState(this.all);
		this.#addState(this.#lineBreak);
		const { first, last } = this.#alternatives(pattern);
		for (const { state, when } of last) {
			if (when === 0) this.matches.add(state);
			if (!(when & PERHAPS)) this.matchesAtEnd.add(state);
		}
		if (flags.includes("y")) return;
		this.next[SEARCH]?.push(SEARCH, LINE_START);
		for (const { state, when } of first) {
			if (when & AT_START) continue;
			this.next[when & AT_LINE_START ? LINE_START : SEARCH]?.push(state);
		}
	}

	#addState(reads: bigint): number {
		if (this.reads.length >= MAX_STATES) throw new Error("is too large");
		this.next.push([]);
		return this.reads.push(reads) - 1;
	}

	/** Asks the engine itself which characters belong to a class such as `[^\s;]`. */
	#charactersOf(raw: string): bigint {
		const known = this.#classes.get(raw);
		if (known !== undefined) return known;
		const one = new RegExp(`^(?:${raw})$`, this.#flags);
		let bits = 0n;
		for (const [at, character] of this.#alphabet.entries()) {
			if (one.test(character)) bits |= 1n << BigInt(at);
		}
		this.#classes.set(raw, bits);
		return bits;
	}

	#alternatives({ alternatives }: { alternatives: AST.Alternative[] }): Part {
		const parts = alternatives.map(({ elements }) =>
			elements
				.map((element) => this.#element(element))
				.reduce((before, after) => this.#join(before, after), NOTHING),
		);
		return {
			first: parts.flatMap(({ first }) => first),
			last: parts.flatMap(({ last }) => last),
			empty: fewWays(parts.flatMap(({ empty }) => empty)),
		};
	}

	#element(element: AST.Element): Part {
		switch (element.type) {
			case "Character":
			case "CharacterSet":
			case "CharacterClass":
			case "ExpressionCharacterClass": {
				const state = this.#addState(this.#charactersOf(element.raw));
				const way = { state, when: 0 };
				return { first: [way], last: [way], empty: [] };
			}
			case "Group":
			case "CapturingGroup":
				return this.#alternatives(element);
			case "Quantifier":
				return this.#repeat(element);
			case "Assertion":
				return this.#assertion(element);
			case "Backreference":
				throw new Error("has a backreference");
		}
	}

	#assertion(assertion: AST.Assertion): Part {
		switch (assertion.kind) {
			case "start":
				return when(this.#isMultiline ? AT_LINE_START : AT_START);
			case "end":
				return when(this.#isMultiline ? AT_LINE_END : AT_END);
			case "word":
				return when(PERHAPS);
			case "lookahead":
				// A lookahead reads the text in separate states, from which no way continues.
				return { ...when(PERHAPS), first: this.#alternatives(assertion).first };
			case "lookbehind":
				if (/[*+{]/.test(assertion.raw)) throw new Error("repeats backwards");
				return when(PERHAPS);
		}
	}

	#repeat({ element, min, max }: AST.Quantifier): Part {
		const once = () => this.#element(element);
		let whole = NOTHING;
		if (isEndless(element, min, max)) {
			// More required rounds would only make it harder for the pattern to match, so one is enough.
			const part = once();
			this.#follow(part.last, part.first);
			return min === 0 ? orNothing(part) : part;
		}
		for (let round = 1; round <= min; round++) {
			whole = this.#join(whole, once());
		}
		let rest = NOTHING;
		for (let round = min; round < max; round++) {
			rest = orNothing(this.#join(once(), rest));
		}
		return this.#join(whole, rest);
	}

	#join(before: Part, after: Part): Part {
		this.#follow(before.last, after.first);
		return {
			first: [...before.first, ...under(after.first, before.empty)],
			last: [...after.last, ...under(before.last, after.empty)],
			empty: fewWays(
				before.empty.flatMap((one) => after.empty.map((other) => one | other)),
			),
		};
	}

	/** Adds the edges from the end of one part to the beginning of the next. */
	#follow(from: Way[], to: Way[]): void {
		for (const { state, when: before } of from) {
			for (const { state: following, when: after } of to) {
				const condition = before | after;
				if (condition & (AT_START | AT_END)) continue;
				const breaksBefore = (this.reads[state] ?? 0n) & this.#lineBreak;
				const breaksAfter = (this.reads[following] ?? 0n) & this.#lineBreak;
				if (condition & AT_LINE_START && !breaksBefore) continue;
				if (condition & AT_LINE_END && !breaksAfter) continue;
				this.next[state]?.push(following);
			}
		}
	}
}

/**
 * Returns true for a repetition without a limit. It also returns true if the number of rounds
 * varies so much that the repetition is as slow. This is the case for `\S{1,64}`, and for
 * `(\w{1,20}\s?){1,20}`, which repeats a part that varies itself.
 */
function isEndless(element: AST.Element, min: number, max: number): boolean {
	if (min === max) return false;
	return max > MOST_ROUNDS || (max > 3 && /[*+?}]/.test(element.raw));
}

function when(condition: number): Part {
	return { ...NOTHING, empty: [condition] };
}

function orNothing(part: Part): Part {
	return { ...part, empty: fewWays([...part.empty, 0]) };
}

/** Returns each way combined with each of the conditions. */
function under(ways: Way[], conditions: number[]): Way[] {
	return conditions.flatMap((condition) =>
		ways.map(({ state, when }) => ({ state, when: when | condition })),
	);
}

/**
 * Keeps at most two ways to read nothing under the same condition, because two are as slow as many.
 */
function fewWays(conditions: number[]): number[] {
	return [...new Set(conditions)].flatMap((condition) =>
		conditions.filter((other) => other === condition).slice(0, 2),
	);
}

/**
 * Characters that do not belong to any class of ASCII characters, such as blanks, letters, a mark
 * and an emoji.
 */
const BEYOND_ASCII = [
	0xa0, 0xdf, 0xe9, 0x130, 0x17f, 0x301, 0x200b, 0x2028, 0x212a, 0x4e2d, 0xd800,
	0xfeff, 0x1f600,
];

/** Returns characters between which patterns distinguish, including those in the pattern itself. */
function alphabetOf(source: string, isUnicode: boolean): string[] {
	const codes = new Set(BEYOND_ASCII);
	for (let code = 0; code < 128; code++) codes.add(code);
	const escaped = [...source.matchAll(/\\[ux]\{?([0-9a-fA-F]{2,6})/g)];
	const named = [
		...[...source].map((character) => character.codePointAt(0) ?? 0),
		...escaped.map(([, hex = ""]) => Number.parseInt(hex, 16)),
	];
	for (const code of named) {
		for (const near of [code - 1, code, code + 1]) codes.add(near);
	}
	const highest = isUnicode ? 0x10ffff : 0xffff;
	return [...codes]
		.filter((code) => code >= 0 && code <= highest)
		.map((code) => String.fromCodePoint(code));
}
