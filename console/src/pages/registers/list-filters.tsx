import { Checkbox } from "@mantine/core";
import { memo, useState } from "react";
import type {
	FilterDescription,
	KindDescription,
} from "../../kind-description.ts";
import type { ListControls } from "../../list-search.ts";
import { clearButton } from "../../parts/clear-button.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { FoldedFilters } from "../../parts/folded-filters.tsx";
import { Picker } from "../../parts/picker.tsx";
import { PersonFilter } from "../../parts/records/person-filter.tsx";
import {
	NONE,
	ReferencePicker,
} from "../../parts/records/reference-picker.tsx";
import { NOT_DECIDED_CHOICE } from "../../parts/records/undecided.ts";
import { useValuesInUse } from "../../parts/records/values-in-use.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import {
	BandFilter,
	DueFilter,
	PeriodFilter,
	ReminderFilter,
} from "./range-filters.tsx";

/**
 * Widths in px. On a screen of usual size, the search field and the filters of a register fit on
 * one line.
 */
const WIDTH = 180;
/** Least width of one of several filters, and the largest one of many. */
const [LEAST, MOST] = [104, 140];
/** Returns the width of a label with its padding and the arrow, in px. An M or W is wider. */
const widthOfLabel = (label: string) =>
	48 + 8 * label.length + (/^[MW]/.test(label) ? 6 : 0);
const FEW = 4;
const MANY = 5;

export interface FilterProps {
	filter: FilterDescription;
	list: ListControls;
	organizationId: string;
	kind: RegisterKind;
	/** The width of the control in px. */
	width: number;
}

/** Renders a control for each filter of the list. On a narrow screen, a button opens them. */
export const ListFilters = memo(function ListFilters({
	kind,
	...rest
}: Omit<FilterProps, "filter" | "width" | "kind"> & {
	kind: KindDescription;
}) {
	const count = kind.filters.length;
	const widthOf = (label: string) =>
		count <= FEW
			? WIDTH
			: Math.min(
					count > MANY ? MOST : WIDTH,
					Math.max(LEAST, widthOfLabel(label)),
				);
	if (kind.filters.length === 0) return null;
	return (
		<FoldedFilters list={rest.list}>
			{kind.filters.map((filter) => (
				<FilterControl
					key={filter.name}
					filter={filter}
					width={widthOf(filter.label)}
					kind={kind.kind}
					{...rest}
				/>
			))}
		</FoldedFilters>
	);
});

function FilterControl(props: FilterProps) {
	const { filter, list, organizationId, width } = props;
	const { name, label, choices, reference } = filter;
	const value = list.filters[name];
	if (name === "treatment") return <TreatmentFilter {...props} />;
	// It belongs to the filter Treatment.
	if (name === IS_UNDECIDED) return null;
	if (name === "is_accepted") {
		// Only links set it, for example in the board summary.
		return value === undefined ? null : (
			<FilterChip
				label={value === true ? "Accepted" : "Decided, not accepted"}
				remove="Remove the filter by decision"
				onRemove={() => list.setFilter(name, undefined)}
			/>
		);
	}
	if (filter.type === "score") return <BandFilter {...props} />;
	if (filter.type === "due") return <DueFilter {...props} />;
	if (filter.type === "period") return <PeriodFilter {...props} />;
	if (filter.type === "reminder") return <ReminderFilter {...props} />;
	// The list has no room for its control. The addresses in daily events contain it.
	if (name === "lacks_signatures" && value !== false) {
		return value === true ? (
			<FilterChip
				label="Signatures missing"
				remove="Remove the filter Signatures missing"
				onRemove={() => list.setFilter(name, undefined)}
			/>
		) : null;
	}
	if (filter.type === "flag" && value !== false) {
		const whenChecked = choices?.[0]?.value ?? true;
		return (
			<Checkbox
				label={FLAGS[name] ?? label}
				checked={value === whenChecked}
				onChange={({ currentTarget }) =>
					list.setFilter(name, currentTarget.checked ? whenChecked : undefined)
				}
				pb={8}
			/>
		);
	}
	if (reference === "people" && /_id$/.test(name)) {
		return (
			<PersonFilter
				list={list}
				name={name}
				label={label}
				organizationId={organizationId}
				width={width}
				isNullable={filter.isNullable}
			/>
		);
	}
	if (reference) {
		return (
			<ReferencePicker
				organizationId={organizationId}
				kind={reference}
				{...namedFilter(label, width)}
				{...(filter.isNullable
					? {
							none: `No ${label.toLowerCase()}`,
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
			<Picker
				{...namedFilter(label, width)}
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

const IS_UNDECIDED = "is_undecided";

/**
 * Filters risks by their treatment. A suggested risk has the stored treatment Mitigated before
 * anybody has decided, so it is a choice of its own, as the list shows it.
 */
function TreatmentFilter({ filter, list, width }: FilterProps) {
	const { name, label, choices = [] } = filter;
	const value = list.filters[name];
	return (
		<Picker
			{...namedFilter(label, width)}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			data={[...choices, NOT_DECIDED_CHOICE]}
			value={
				list.filters[IS_UNDECIDED] === true
					? NOT_DECIDED_CHOICE.value
					: value === undefined
						? null
						: String(value)
			}
			onChange={(chosen) =>
				list.setFilters({
					[name]:
						chosen === NOT_DECIDED_CHOICE.value
							? undefined
							: (chosen ?? undefined),
					[IS_UNDECIDED]:
						chosen === NOT_DECIDED_CHOICE.value
							? true
							: chosen === "MITIGATED"
								? false
								: undefined,
				})
			}
		/>
	);
}

/** Labels of on/off filters whose name does not explain the filter. */
const FLAGS: Record<string, string> = {
	exclude_contract_ended: "Hide ended contracts",
	is_contradicted: "Contradicted",
};

/** Filters by an exact value. The control offers the values that the register uses. */
function NameFilter({
	filter: { name, label },
	kind,
	list,
	organizationId,
	width,
}: FilterProps) {
	const value = list.filters[name];
	const chosen =
		value === undefined || value === null ? undefined : String(value);
	const [isIdle, setIdle] = useState(true);
	const used = useValuesInUse(organizationId, kind, name, !isIdle);
	const values = used.values.map(({ value: one, count }) => ({
		value: one,
		label: `${one} (${count.toLocaleString()})`,
	}));
	const isKnown = values.some((one) => one.value === chosen);
	return (
		<Picker
			{...namedFilter(label, width)}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			comboboxProps={{ width: "max-content", position: "bottom-start" }}
			onDropdownOpen={() => setIdle(false)}
			data={
				chosen === undefined || isKnown
					? values
					: [{ value: chosen, label: chosen }, ...values]
			}
			value={chosen ?? null}
			onChange={(one) => list.setFilter(name, one ?? undefined)}
			nothingFoundMessage={
				used.isPending
					? "Loading …"
					: used.isError
						? "The values could not be loaded. Type again to retry."
						: "No value in use matches"
			}
		/>
	);
}
