/** A part of a list or an object that differs. Its end is undefined where the part is missing. */
export interface ChangedPart {
	/** The name of the part in its object, or undefined for an element of a list. */
	name?: string;
	before: unknown;
	after: unknown;
}

/**
 * Returns the parts that were added, removed or changed between two lists or two objects, or
 * undefined if the values are neither. An empty end counts as an empty list or object. The order of
 * a list does not matter. Elements with an id are compared by it.
 */
export function changedParts(
	before: unknown,
	after: unknown,
): ChangedPart[] | undefined {
	const isEither = (is: (value: unknown) => boolean) =>
		(is(before) || is(after)) &&
		[before, after].every((value) => (value ?? "") === "" || is(value));
	if (isEither(Array.isArray)) {
		return partsOf(byIdentity(before), byIdentity(after)).map(
			({ name: _, ...ends }) => ends,
		);
	}
	return isEither(isObject)
		? partsOf(byName(before), byName(after))
		: undefined;
}

/**
 * Returns both ends of a change. Of two lists or two objects, they contain only the parts that
 * differ, and `unchanged` counts the others. Other ends, such as a list in another order, are
 * returned whole.
 */
export function changedEnds(
	before: unknown,
	after: unknown,
): { before: unknown; after: unknown; unchanged: number } {
	const areBoth = [before, after].every(
		(end) => typeof end === "object" && end !== null,
	);
	const parts = areBoth ? changedParts(before, after) : undefined;
	if (!parts?.length) return { before, after, unchanged: 0 };
	const only = (end: "before" | "after") => {
		const differing = parts.filter((part) => part[end] !== undefined);
		return Array.isArray(before)
			? differing.map((part) => part[end])
			: Object.fromEntries(differing.map((part) => [part.name, part[end]]));
	};
	const kept = only("before");
	return {
		before: kept,
		after: only("after"),
		unchanged: sizeOf(before) - sizeOf(kept),
	};
}

const sizeOf = (value: unknown) => Object.keys(value as object).length;

function partsOf(
	before: Map<string, unknown>,
	after: Map<string, unknown>,
): (ChangedPart & { name: string })[] {
	return [...new Set([...before.keys(), ...after.keys()])]
		.map((name) => ({
			name,
			before: before.get(name),
			after: after.get(name),
		}))
		.filter(
			(part) => JSON.stringify(part.before) !== JSON.stringify(part.after),
		);
}

const byIdentity = (list: unknown) =>
	new Map(
		(Array.isArray(list) ? list : []).map((one) => [identityOf(one), one]),
	);

const byName = (object: unknown) =>
	new Map(isObject(object) ? Object.entries(object) : []);

function identityOf(element: unknown): string {
	return isObject(element) && typeof element.id === "string"
		? element.id
		: JSON.stringify(element);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
