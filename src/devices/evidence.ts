import type { Evidence } from "./terms.ts";

/**
 * Deepest nesting of evidence that is stored. Neither JSON.stringify nor jsonb can process evidence
 * that is nested thousands of levels deep.
 */
const MAX_DEPTH = 100;

/**
 * Largest number of keys and values that evidence may have in a report with very many. 100 results
 * with as many stay below the number that a body may have without this limit.
 */
const MAX_VALUES = 490;

/** Returns the evidence, or a note in its place if it is nested too deep to be stored. */
export function shallowEvidence(evidence: Evidence): Evidence {
	return isShallow(evidence, MAX_DEPTH)
		? evidence
		: { omitted: `The evidence has more than ${MAX_DEPTH} levels.` };
}

function isShallow(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return true;
	if (levels === 0) return false;
	for (const inner of Object.values(value)) {
		if (!isShallow(inner, levels - 1)) return false;
	}
	return true;
}

/** Returns the evidence, or a note in its place if it is too deep or has too many values. */
export function smallEvidence(evidence: Evidence): Evidence {
	const shallow = shallowEvidence(evidence);
	return countValues(shallow) <= MAX_VALUES
		? shallow
		: {
				omitted: `The evidence has more than ${MAX_VALUES} keys and values.`,
			};
}

/** Counts the keys of objects and the values of arrays and objects. */
function countValues(value: unknown): number {
	if (typeof value !== "object" || value === null) return 1;
	if (Array.isArray(value)) {
		return value.reduce<number>((sum, inner) => sum + countValues(inner), 0);
	}
	const inner = Object.values(value);
	return inner.reduce<number>(
		(sum, each) => sum + countValues(each),
		inner.length,
	);
}
