import { z } from "zod";
import { type Filter, parseFilter } from "./filter.ts";
import { invalidValue, ScimError } from "./scim-error.ts";

/** Resources on a page if the client names no number, and at most. */
export const PAGE = 100;

export interface ListQuery {
	/** Counted from 1. */
	startIndex: number;
	count: number;
	filter: Filter | undefined;
	/** Names in lower case. Undefined means all. */
	attributes: Set<string> | undefined;
	excluded: Set<string>;
}

/** A parameter without a value is like one that is left out. */
const number = z.preprocess(
	(value) => (value === "" || value === null ? undefined : value),
	z.coerce.number().int().optional(),
);

const PARAMETERS = z.object({
	startindex: number,
	count: number,
	filter: z.string().optional(),
	attributes: z.union([z.string(), z.array(z.string())]).optional(),
	excludedattributes: z.union([z.string(), z.array(z.string())]).optional(),
});

const MAX_NAMES = 2000;
const MAX_START = 1_000_000;

/** Reads the parameters of a list, from the address or from the body of a search request. */
export function readListQuery(given: Record<string, unknown>): ListQuery {
	const lower = Object.fromEntries(
		Object.entries(given).map(([name, value]) => [name.toLowerCase(), value]),
	);
	const parsed = PARAMETERS.safeParse(lower);
	if (!parsed.success) {
		const [issue] = parsed.error.issues;
		throw invalidValue(`${issue?.path.join(".")}: ${issue?.message}`);
	}
	const { startindex = 1, count = PAGE, filter } = parsed.data;
	const attributes = namesIn(parsed.data.attributes);
	const excluded = namesIn(parsed.data.excludedattributes) ?? new Set();
	if (attributes && excluded.size > 0) {
		throw new ScimError(
			400,
			"attributes and excludedAttributes cannot be given together",
			"invalidValue",
		);
	}
	return {
		// RFC 7644 section 3.4.2.4 takes smaller numbers as 1 and as 0.
		startIndex: Math.min(Math.max(startindex, 1), MAX_START),
		count: Math.min(Math.max(count, 0), PAGE),
		filter: filter === undefined ? undefined : parseFilter(filter),
		attributes,
		excluded,
	};
}

function namesIn(
	given: string | string[] | undefined,
): Set<string> | undefined {
	const text = [given ?? ""].flat().join(",");
	if (text.length > MAX_NAMES) {
		throw invalidValue(`attributes: at most ${MAX_NAMES} characters`);
	}
	const names = text
		.split(",")
		.map((name) =>
			name
				.trim()
				.toLowerCase()
				.replace(/^urn:ietf:params:scim:schemas:core:2\.0:(?:user|group):/, ""),
		)
		.filter((name) => name !== "");
	return names.length > 0 ? new Set(names) : undefined;
}

type Resource = Record<string, unknown>;

/** Leaves out the attributes that the client does not want. `id` and `schemas` always stay. */
export function project(
	resource: Resource,
	{ attributes, excluded }: Pick<ListQuery, "attributes" | "excluded">,
): Resource {
	const keep = (path: string) =>
		attributes ? attributes.has(path) : !excluded.has(path);
	const isWanted = (name: string) =>
		keep(name) ||
		[...(attributes ?? [])].some((wanted) => wanted.startsWith(`${name}.`));
	return Object.fromEntries(
		Object.entries(resource)
			.filter(
				([name]) =>
					name === "id" || name === "schemas" || isWanted(name.toLowerCase()),
			)
			.map(([name, value]) => [
				name,
				attributes?.has(name.toLowerCase())
					? value
					: projectPart(name.toLowerCase(), value, keep, attributes),
			]),
	);
}

function projectPart(
	name: string,
	value: unknown,
	keep: (path: string) => boolean,
	attributes: Set<string> | undefined,
): unknown {
	if (Array.isArray(value)) {
		return value.map((one) => projectPart(name, one, keep, attributes));
	}
	if (typeof value !== "object" || value === null) return value;
	if (!attributes && name === "schemas") return value;
	return Object.fromEntries(
		Object.entries(value).filter(([sub]) =>
			keep(`${name}.${sub.toLowerCase()}`),
		),
	);
}

/** Writes a page of a list as RFC 7644 section 3.4.2 describes it. */
export function listResponse(
	resources: Resource[],
	total: number,
	startIndex: number,
): Resource {
	return {
		schemas: ["urn:ietf:params:scim:api:messages:2.0:ListResponse"],
		totalResults: total,
		startIndex,
		itemsPerPage: resources.length,
		Resources: resources,
	};
}
