import type { PoolClient } from "pg";
import type { z } from "zod";
import { badFields, type FieldIssue } from "../errors.ts";

/**
 * A filter of a list. It consists of the value that a caller gives and of a condition on a row `t`.
 */
export interface Filter {
	schema: z.ZodType;
	/** The end of a range that the value sets, such as the least score. `of` names the range. */
	bound?: { of: string; end: "least" | "greatest" };
	/** True if the index of every order has the field, so that no record is looked up for it. */
	isInOrders?: true;
	/** Returns the condition. `parameter` is the placeholder of the value. */
	sql: (parameter: string, value?: unknown) => string;
	/**
	 * Returns a condition for statements that count all matching rows, if it costs less there than
	 * `sql`, which also has to find the first rows of a list soon.
	 */
	countSql?: (parameter: string, value?: unknown) => string | undefined;
	/**
	 * Returns the parameter for a value. The default is the value itself. `given` contains the values
	 * of all filters of the call.
	 */
	toParameter?: (value: unknown, given: Record<string, unknown>) => unknown;
	/**
	 * Finds what the condition needs, before the statement is made. `toParameter` gets the result in
	 * place of the value.
	 */
	resolve?: (
		client: PoolClient,
		organizationId: string,
		value: unknown,
	) => Promise<unknown>;
	/**
	 * True if a cursor belongs to what `resolve` found, such as the person whom "me" means. By default
	 * it belongs to the value of the caller, because what a group contains may change between pages.
	 */
	isPinned?: true;
	/** The condition if the value is null. Without it, callers may not give null. */
	whenNull?: string;
	/**
	 * The conditions for true and for false. They replace `sql`, so that each of them can use an
	 * index.
	 */
	flag?: { true: string; false: string };
	/**
	 * Returns why no record can have the value, and what can be asked for instead. Undefined means
	 * that some record might. It is called only when a list has no rows, so that a misspelled value
	 * is an error and not an empty list.
	 */
	whyNone?: (
		client: PoolClient,
		organizationId: string,
		value: unknown,
	) => Promise<string | undefined>;
}

/** Adds the conditions of the given filters to a statement that returns or counts rows. */
export function addFilters(
	conditions: string[],
	parameter: (value: unknown) => string,
	filters: Record<string, Filter>,
	given: Record<string, unknown>,
	purpose: "rows" | "count" = "rows",
): void {
	for (const [name, value] of Object.entries(given)) {
		if (value === undefined) continue;
		const filter = filters[name];
		if (!filter) continue;
		if (value === null) conditions.push(filter.whenNull ?? "false");
		else if (filter.flag)
			conditions.push(filter.flag[value ? "true" : "false"]);
		else {
			const converted = filter.toParameter
				? filter.toParameter(value, given)
				: value;
			const placeholder = parameter(converted);
			const counting =
				purpose === "count" ? filter.countSql?.(placeholder, value) : undefined;
			conditions.push(counting ?? filter.sql(placeholder, value));
		}
	}
}

/** Returns the values of the filters, after those that have a `resolve` found what they need. */
export async function resolveFilters(
	client: PoolClient,
	filters: Record<string, Filter>,
	organizationId: string | undefined,
	given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const resolved = { ...given };
	for (const [name, value] of Object.entries(given)) {
		const resolve = filters[name]?.resolve;
		if (!resolve || value === undefined || value === null) continue;
		resolved[name] = await resolve(client, organizationId ?? "", value);
	}
	return resolved;
}

/** Throws a bad_request that names each filter whose value no record can have. */
export async function rejectImpossible(
	client: PoolClient,
	filters: Record<string, Filter>,
	{
		organization_id,
		filter = {},
	}: { organization_id?: string | undefined; filter?: object | undefined },
): Promise<void> {
	const issues: FieldIssue[] = [];
	for (const [name, value] of Object.entries(filter)) {
		if (value === undefined || value === null) continue;
		const message = await filters[name]?.whyNone?.(
			client,
			organization_id ?? "",
			value,
		);
		if (message) issues.push({ field: `filter.${name}`, message });
	}
	if (issues.length > 0) throw badFields(issues);
}

/**
 * Returns an issue for each greatest value of a range that is below its least one, because no record
 * can match. `given` has numbers, dates or times with offset.
 */
export function rangeIssues(
	filters: Record<string, Pick<Filter, "bound">>,
	given: Record<string, unknown>,
): FieldIssue[] {
	const ends = Object.entries(given).flatMap(([name, value]) => {
		const bound = filters[name]?.bound;
		if (!bound || value === undefined || value === null) return [];
		const isTime = typeof value === "string";
		const place = isTime ? Date.parse(value) : Number(value);
		return [{ ...bound, name, place, isTime }];
	});
	return ends.flatMap(({ of, end, name, place, isTime }) => {
		if (end === "least") return [];
		const least = ends.find(
			(other) =>
				other.of === of && other.end === "least" && other.place > place,
		);
		const wrong = isTime ? "must not be before" : "must not be less than";
		return least ? [{ field: name, message: `${wrong} ${least.name}` }] : [];
	});
}

/** Returns a check for the schema of filters, which rejects ranges that no record can match. */
export const rangeCheck =
	(filters: Record<string, Pick<Filter, "bound">>) =>
	(given: Record<string, unknown>, context: z.RefinementCtx): void => {
		for (const { field, message } of rangeIssues(filters, given)) {
			context.addIssue({ code: "custom", path: [field], message });
		}
	};
