import { Autocomplete, Checkbox, Select } from "@mantine/core";
import { useState } from "react";
import type {
	FilterDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { AnyRecord } from "../../kinds.ts";
import type { ListControls } from "../../list-search.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { FoldedFilters } from "../../parts/folded-filters.tsx";
import {
	NONE,
	ReferencePicker,
} from "../../parts/records/reference-picker.tsx";
import { BandFilter, DueFilter, PeriodFilter } from "./range-filters.tsx";

/**
 * Widths in px. On a screen of usual size, the search field and the filters of a register fit on
 * one line.
 */
const WIDTHS = { few: 180, many: 140 };
const FEW = 4;

export interface FilterProps {
	filter: FilterDescription;
	list: ListControls;
	organizationId: string;
	/** The rows of the current page. Filters suggest values from them. */
	rows: readonly AnyRecord[];
	/** The width of the control in px. */
	width: number;
}

/** Renders a control for each filter of the list. On a narrow screen, a button opens them. */
export function ListFilters({
	kind,
	...rest
}: Omit<FilterProps, "filter" | "width"> & { kind: KindDescription }) {
	const width = kind.filters.length > FEW ? WIDTHS.many : WIDTHS.few;
	if (kind.filters.length === 0) return null;
	return (
		<FoldedFilters list={rest.list}>
			{kind.filters.map((filter) => (
				<FilterControl
					key={filter.name}
					filter={filter}
					width={width}
					{...rest}
				/>
			))}
		</FoldedFilters>
	);
}

function FilterControl(props: FilterProps) {
	const { filter, list, organizationId, width } = props;
	const { name, label, choices, reference } = filter;
	const value = list.filters[name];
	if (filter.type === "score") return <BandFilter {...props} />;
	if (filter.type === "due") return <DueFilter {...props} />;
	if (filter.type === "period") return <PeriodFilter {...props} />;
	if (filter.type === "flag" && value !== false) {
		return (
			<Checkbox
				label={FLAGS[name] ?? label}
				checked={value === true}
				onChange={({ currentTarget }) =>
					list.setFilter(name, currentTarget.checked || undefined)
				}
				pb={8}
			/>
		);
	}
	if (reference) {
		return (
			<ReferencePicker
				organizationId={organizationId}
				kind={reference}
				aria-label={label}
				placeholder={label}
				w={width}
				{...(filter.isNullable
					? {
							none:
								reference === "people"
									? "Unassigned"
									: `No ${label.toLowerCase()}`,
						}
					: undefined)}
				value={
					value === null ? NONE : value === undefined ? null : String(value)
				}
				onChange={(id) =>
					list.setFilter(name, id === NONE ? null : (id ?? undefined))
				}
			/>
		);
	}
	if (choices) {
		return (
			<Select
				aria-label={label}
				placeholder={label}
				w={width}
				clearable
				clearButtonProps={clearButton(`Clear ${label}`)}
				data={[...choices]}
				value={value === undefined ? null : String(value)}
				onChange={(chosen) => list.setFilter(name, chosen ?? undefined)}
			/>
		);
	}
	if (filter.type === "name") return <NameFilter {...props} />;
	// These filters have no control. An address may still contain them, for example after a click in
	// the risk matrix.
	return value === undefined ? null : (
		<FilterChip
			label={`${label}: ${value === false ? "no" : String(value)}`}
			remove={`Remove the filter ${label}`}
			onRemove={() => list.setFilter(name, undefined)}
		/>
	);
}

/** Labels of on/off filters whose name does not explain the filter. */
const FLAGS: Record<string, string> = {
	exclude_contract_ended: "Hide ended contracts",
};

/** Filters by an exact value. The control suggests values from the current page. */
function NameFilter({
	filter: { name, label },
	list,
	rows,
	width,
}: FilterProps) {
	const value = list.filters[name];
	const inAddress = value === undefined || value === null ? "" : String(value);
	const [typed, setTyped] = useState<string | null>(null);
	const apply = (text: string) => {
		setTyped(null);
		if (text.trim() !== inAddress) {
			list.setFilter(name, text.trim() || undefined);
		}
	};
	const seen = new Set(rows.map((row) => row[name]).filter(Boolean));
	return (
		<Autocomplete
			aria-label={label}
			placeholder={label}
			w={width}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			data={[...seen].map(String)}
			value={typed ?? inAddress}
			onChange={setTyped}
			onOptionSubmit={apply}
			onClear={() => apply("")}
			onBlur={() => typed !== null && apply(typed)}
			onKeyDown={({ key }) => key === "Enter" && apply(typed ?? inAddress)}
		/>
	);
}
