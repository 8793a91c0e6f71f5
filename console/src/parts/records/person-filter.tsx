import type { ListControls } from "../../list-search.ts";
import { namedFilter } from "../filter-width.ts";
import { ME, NONE, ReferencePicker } from "./reference-picker.tsx";

/**
 * Filters a list by a person in a field such as `owner_id`. "Mine" stays `owner=me` in the address,
 * so a bookmark or a shared view shows every reader their own records.
 */
export function PersonFilter({
	list,
	name,
	label,
	isNullable,
	organizationId,
	width,
}: {
	list: ListControls;
	/** Name of the filter by the person's id. It ends with `_id`. */
	name: string;
	label: string;
	isNullable: boolean;
	organizationId: string;
	width: number;
}) {
	const byName = name.replace(/_id$/, "");
	const { [name]: id, [byName]: text } = list.filters;
	const value = text === ME ? ME : id === null ? NONE : id;
	return (
		<ReferencePicker
			organizationId={organizationId}
			kind="people"
			{...namedFilter(label, width)}
			// The filter is narrower than the names and mail addresses in its list.
			comboboxProps={{ width: 280, position: "bottom-start" }}
			me="Mine"
			{...(isNullable ? { none: "Unassigned" } : undefined)}
			value={value === undefined ? null : String(value)}
			onChange={(chosen) =>
				list.setFilters({
					[byName]: chosen === ME ? ME : undefined,
					[name]:
						chosen === NONE
							? null
							: chosen === ME
								? undefined
								: (chosen ?? undefined),
				})
			}
		/>
	);
}
