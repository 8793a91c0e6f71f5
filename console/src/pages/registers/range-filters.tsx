import { clearButton } from "../../parts/clear-button.ts";
import { formatDay } from "../../parts/days.ts";
import { FilterChip } from "../../parts/filter-chip.tsx";
import { namedFilter } from "../../parts/filter-width.ts";
import { Picker } from "../../parts/picker.tsx";
import { BANDS, MAX_SCORE } from "../../parts/records/risk-scores.ts";
import { formatTime } from "../../parts/time-formats.ts";
import { inDays, OVERDUE } from "../../relative-filters.ts";
import type { FilterProps } from "./list-filters.tsx";

interface Preset {
	label: string;
	/** The filters that the preset sets. It removes the other filters of the range. */
	values: Record<string, string | number>;
}

/** Offers a few usual ranges for the filters that form a range. */
function RangeFilter({
	list,
	width,
	label,
	names,
	presets,
	describe,
}: Pick<FilterProps, "list" | "width"> & {
	label: string;
	names: readonly string[];
	presets: readonly Preset[];
	/**
	 * Returns the label of a range in the address that is not one of the usual ranges. Its arguments
	 * are the values of `names`.
	 */
	describe: (...values: unknown[]) => string;
}) {
	const given = names.map((name) => list.filters[name]);
	const isSet = given.some((value) => value !== undefined);
	const found = presets.find(({ values }) =>
		names.every((name, index) => values[name] === given[index]),
	);
	const other = isSet && !found ? [describe(...given)] : [];
	return (
		<Picker
			{...namedFilter(label, width)}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			comboboxProps={{ width: "max-content", position: "bottom-start" }}
			data={[...presets.map((preset) => preset.label), ...other]}
			value={found?.label ?? other[0] ?? null}
			onChange={(chosen) => {
				const { values = {} } =
					presets.find((preset) => preset.label === chosen) ?? {};
				list.setFilters(
					Object.fromEntries(names.map((name) => [name, values[name]])),
				);
			}}
		/>
	);
}

/** Filters by the band of a score. A band stands for both ends of a range. */
export function BandFilter({ filter, list, width }: FilterProps) {
	const { name, label } = filter;
	const names = [`min_${name}`, `max_${name}`] as const;
	return (
		<RangeFilter
			list={list}
			width={width}
			label={label.replace(/ score$/, "")}
			names={names}
			presets={[...BANDS].reverse().map(({ label: band, min, max }) => ({
				label: `${band} (${min} to ${max})`,
				values: { [names[0]]: min, [names[1]]: max },
			}))}
			describe={(min, max) => `${min ?? 1} to ${max ?? MAX_SCORE}`}
		/>
	);
}

/** Shows a filter by the day of a review or an expiry, which the home page sets. */
export function ReminderFilter({
	filter: { name, label },
	list,
}: Pick<FilterProps, "filter" | "list">) {
	const names = [name, `${name}_from`, `${name}_until`] as const;
	const [value, from, until] = names.map((each) => list.filters[each]);
	if (value === undefined && from === undefined && until === undefined) {
		return null;
	}
	const words =
		value === undefined
			? fromUntil(from, until, formatDay)
			: value === OVERDUE
				? "overdue"
				: inTheNext(Number.parseInt(String(value), 10)).toLowerCase();
	return (
		<FilterChip
			label={`${label}: ${words}`}
			remove={`Remove the filter ${label}`}
			onRemove={() =>
				list.setFilters(
					Object.fromEntries(names.map((each) => [each, undefined])),
				)
			}
		/>
	);
}

/** The periods that the filter by due date offers. */
const DUE_WITHIN_DAYS = [7, 14, 90];

/** Filters by the due date. */
export function DueFilter({ filter, list, width }: FilterProps) {
	return (
		<RangeFilter
			list={list}
			width={width}
			label={filter.label}
			names={["due", "due_from", "due_until"]}
			presets={[
				{ label: "Overdue", values: { due: OVERDUE } },
				...DUE_WITHIN_DAYS.map((days) => ({
					label: inTheNext(days),
					values: { due: inDays(days) },
				})),
			]}
			describe={(due, from, until) =>
				due === undefined
					? fromUntil(from, until, formatDay)
					: inTheNext(Number.parseInt(String(due), 10))
			}
		/>
	);
}

const RECENT_DAYS = [1, 7, 30, 365];

/** Filters by the time of an event, such as the last 7 days. */
export function PeriodFilter({ filter, list, width }: FilterProps) {
	const { name } = filter;
	return (
		<RangeFilter
			list={list}
			width={width}
			label={filter.label}
			names={[`${name}_last`, `${name}_from`, `${name}_until`]}
			presets={RECENT_DAYS.map((days) => ({
				label: inTheLast(days),
				values: { [`${name}_last`]: inDays(days) },
			}))}
			describe={(last, from, until) =>
				last === undefined
					? fromUntil(from, until, formatTime)
					: inTheLast(Number.parseInt(String(last), 10))
			}
		/>
	);
}

const inTheNext = (days: number) => `In the next ${days} days`;
const inTheLast = (days: number) =>
	days === 1 ? "Since yesterday" : `In the last ${days} days`;

function fromUntil(
	from: unknown,
	until: unknown,
	format: (value: string) => string,
): string {
	return [
		from === undefined ? "" : `from ${format(String(from))}`,
		until === undefined ? "" : `until ${format(String(until))}`,
	]
		.join(" ")
		.trim();
}
