import { Text } from "@mantine/core";
import type { ListControls } from "../../list-search.ts";
import { NEWEST } from "../../register-orders.ts";

/** The filters and orders that the service knows only for the present, with their labels. */
const FILTERS: Record<string, string> = {
	freshness: "Freshness",
	reporting: "Reports",
	conflict: "Conflict",
	awaits_approval: "Waits for approval",
};
const ORDERS: Record<string, string> = {
	last_seen_at: "Last seen",
	failing_since: "Since",
};

/**
 * Returns the list without the filters and the order that a past day does not have, and their
 * labels. They stay in the address, so that they apply again in the present.
 */
export function heldInPast(list: ListControls): {
	list: ListControls;
	filters: string[];
	order: string | undefined;
	/** True if the list is that of a group. Its members are those of today. */
	hasGroup: boolean;
} {
	const { sort } = list.search;
	const order = sort === undefined ? undefined : ORDERS[sort];
	const names = Object.keys(list.filters).filter((name) => name in FILTERS);
	const { filter = {}, order_by: orderBy, ...input } = list.input;
	const kept = without(filter, names);
	const hasFilters = Object.keys(kept).length > 0;
	return {
		list: {
			...list,
			filters: without(list.filters, names),
			hasFilters,
			...(order !== undefined && { order: NEWEST }),
			input: {
				...input,
				...(order === undefined && orderBy && { order_by: orderBy }),
				...(hasFilters && { filter: kept }),
			},
		},
		filters: names.flatMap((name) => FILTERS[name] ?? []),
		order,
		hasGroup: list.filters.group_id !== undefined,
	};
}

function without<Value>(
	values: Record<string, Value>,
	names: readonly string[],
): Record<string, Value> {
	return Object.fromEntries(
		Object.entries(values).filter(([name]) => !names.includes(name)),
	);
}

/** Says which filters and which order a list of a past day leaves out, and what is of today. */
export function PresentOnly({
	filters,
	order,
	hasGroup,
}: Omit<ReturnType<typeof heldInPast>, "list">) {
	const parts = [
		...(filters.length === 1 ? [`the filter ${filters[0]}`] : []),
		...(filters.length > 1 ? [`the filters ${filters.join(", ")}`] : []),
		...(order === undefined ? [] : [`the order by ${order}`]),
	];
	return (
		<Text size="sm" role="note" mb="sm">
			Devices have the names, owners and systems of today
			{hasGroup && ", and the group has its devices of today"}.{" "}
			{parts.length > 0 &&
				`This list leaves out ${parts.join(" and ")}, known only for the present. They apply again when you go back to now.`}
		</Text>
	);
}
