import { PatternAutomaton, SEARCH } from "./pattern-automaton.ts";

/**
 * Returns why a regular expression may take more than linear time, or undefined if it cannot.
 *
 * Matching takes more than linear time only under two conditions. The engine can read a growing
 * part of the text in more and more ways, and in the end the pattern does not match. Three forms of
 * pattern permit this:
 *
 * - A loop can read the same text in two ways, as in `(a+)+$`. The time is then exponential.
 * - Two loops that can read the same text follow each other, as in `a*a*$`.
 * - The search for the start of a match is the first of two such loops, as in `a+$` or `x.*y`.
 *
 * The function may report an expression that is in fact linear, because the automaton simplifies
 * conditions and large counts.
 */
export function whySuperLinear(pattern: RegExp): string | undefined {
	let automaton: PatternAutomaton;
	try {
		automaton = new PatternAutomaton(pattern);
	} catch (error) {
		return `it cannot be examined: it ${(error as Error).message}`;
	}
	const { next } = automaton;
	const reached = next.map((_, from) => reachedFrom(next, from));
	const graph = { ...automaton, reached };
	const loops = next
		.map((_, state) => state)
		.filter((state) => reached[state]?.has(state));
	for (const last of loops) {
		if (last === SEARCH || !canFail(automaton, last)) continue;
		for (const first of loops) {
			if (first === last && readsInTwoWays(graph, last)) {
				return "one of its loops reads the same text in two ways";
			}
			if (first === last || !reached[first]?.has(last)) continue;
			if (areLoopsInARow(graph, first, last)) {
				return first === SEARCH
					? "it scans the same text again from many starts"
					: "two of its loops read the same text";
			}
		}
	}
	return undefined;
}

interface Graph extends Pick<PatternAutomaton, "reads" | "next" | "matches"> {
	/** For each state, the states that can be reached from it. */
	reached: Set<number>[];
}

function reachedFrom(next: number[][], from: number): Set<number> {
	const reached = new Set<number>();
	const queue = [from];
	for (const state of queue) {
		for (const after of next[state] ?? []) {
			if (reached.has(after)) continue;
			reached.add(after);
			queue.push(after);
		}
	}
	return reached;
}

/** Returns true if some text does not match after the engine has reached `state`. */
function canFail(
	{ matches, matchesAtEnd, next, reads, all }: PatternAutomaton,
	state: number,
): boolean {
	const seen = new Set<string>();
	const queue = [[state]];
	for (const states of queue) {
		if (states.some((one) => matches.has(one))) continue;
		if (!states.some((one) => matchesAtEnd.has(one))) return true;
		const after = [...new Set(states.flatMap((one) => next[one] ?? []))];
		for (let character = 1n; character <= all; character <<= 1n) {
			const then = after.filter((one) => (reads[one] ?? 0n) & character);
			const key = then.join();
			if (seen.has(key)) continue;
			seen.add(key);
			queue.push(then);
		}
	}
	return false;
}

/**
 * Returns the states that follow `from` in the loop of `state`. A state after which the pattern has
 * matched is left out, because the engine never backtracks past it.
 */
function withinLoop(graph: Graph, from: number, state: number): number[] {
	return (graph.next[from] ?? []).filter(
		(after) => graph.reached[after]?.has(state) && !graph.matches.has(after),
	);
}

/** Returns true if two different ways lead from `state` back to it and read the same text. */
function readsInTwoWays(graph: Graph, state: number): boolean {
	const { reads } = graph;
	const seen = new Set<string>();
	const queue = [{ one: state, other: state, differ: false }];
	for (const { one, other, differ } of queue) {
		for (const [n, afterOne] of withinLoop(graph, one, state).entries()) {
			for (const [m, afterOther] of withinLoop(graph, other, state).entries()) {
				if (!((reads[afterOne] ?? 0n) & (reads[afterOther] ?? 0n))) continue;
				const then = {
					one: afterOne,
					other: afterOther,
					differ:
						differ || afterOne !== afterOther || (one === other && n !== m),
				};
				if (then.differ && afterOne === state && afterOther === state)
					return true;
				const key = Object.values(then).join();
				if (seen.has(key)) continue;
				seen.add(key);
				queue.push(then);
			}
		}
	}
	return false;
}

/**
 * Returns true if the same text leads from `first` back to `first`, from `first` to `last`, and
 * from `last` back to `last`.
 */
function areLoopsInARow(graph: Graph, first: number, last: number): boolean {
	const { next, reads, reached, matches } = graph;
	const seen = new Set<string>();
	const queue: [number, number, number][] = [[first, first, last]];
	for (const [inFirst, between, inLast] of queue) {
		// A search with the flag g continues after a match, so the way to the last loop may contain
		// one.
		const onward = (next[between] ?? []).filter(
			(after) =>
				(after === last || reached[after]?.has(last)) &&
				(first === SEARCH || !matches.has(after)),
		);
		for (const a of withinLoop(graph, inFirst, first)) {
			for (const c of withinLoop(graph, inLast, last)) {
				const common = (reads[a] ?? 0n) & (reads[c] ?? 0n);
				if (!common) continue;
				for (const b of onward) {
					if (!(common & (reads[b] ?? 0n))) continue;
					if (a === first && b === last && c === last) return true;
					const key = `${a} ${b} ${c}`;
					if (seen.has(key)) continue;
					seen.add(key);
					queue.push([a, b, c]);
				}
			}
		}
	}
	return false;
}
