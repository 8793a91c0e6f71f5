import { Select } from "@mantine/core";
import { clearButton } from "../../parts/clear-button.ts";
import { dayAfter, lastDays, todayHere } from "../../parts/days.ts";
import { BANDS, MAX_SCORE } from "../../parts/records/risk-scores.ts";
import { formatDay, formatTime } from "../../parts/time.tsx";
import type { FilterProps } from "./list-filters.tsx";

type Ends = Record<string, string | number>;

interface Preset {
	label: string;
	/** The two ends of the range. An end that is missing is open. */
	ends: Ends;
}

/** Offers a few usual ranges for two filters that form a range. */
function RangeFilter({
	list,
	width,
	label,
	names,
	presets,
	describe,
}: Pick<FilterProps, "list" | "width"> & {
	label: string;
	names: readonly [string, string];
	presets: readonly Preset[];
	/** Returns the label of a range in the address that is not one of the usual ranges. */
	describe: (from: unknown, until: unknown) => string;
}) {
	const [from, until] = names.map((name) => list.filters[name]);
	const isSet = from !== undefined || until !== undefined;
	const found = presets.find(
		({ ends }) => ends[names[0]] === from && ends[names[1]] === until,
	);
	const other = isSet && !found ? [describe(from, until)] : [];
	return (
		<Select
			aria-label={label}
			placeholder={label}
			w={width}
			clearable
			clearButtonProps={clearButton(`Clear ${label}`)}
			comboboxProps={{ width: "max-content", position: "bottom-start" }}
			data={[...presets.map((preset) => preset.label), ...other]}
			value={found?.label ?? other[0] ?? null}
			onChange={(chosen) => {
				const { ends = {} } =
					presets.find((preset) => preset.label === chosen) ?? {};
				list.setFilters(
					Object.fromEntries(names.map((name) => [name, ends[name]])),
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
				ends: { [names[0]]: min, [names[1]]: max },
			}))}
			describe={(min, max) => `${min ?? 1} to ${max ?? MAX_SCORE}`}
		/>
	);
}

const SOON_DAYS = [14, 90];

/** Filters by the due date. */
export function DueFilter({ filter, list, width }: FilterProps) {
	const today = todayHere();
	return (
		<RangeFilter
			list={list}
			width={width}
			label={filter.label}
			names={["due_from", "due_until"]}
			presets={[
				{ label: "Overdue", ends: { due_until: dayAfter(today, -1) } },
				...SOON_DAYS.map((days) => ({
					label: `In the next ${days} days`,
					ends: { due_from: today, due_until: dayAfter(today, days) },
				})),
			]}
			describe={(from, until) =>
				[
					from === undefined ? "" : `from ${formatDay(String(from))}`,
					until === undefined ? "" : `until ${formatDay(String(until))}`,
				]
					.join(" ")
					.trim()
			}
		/>
	);
}

const RECENT_DAYS = [1, 7, 30, 365];

/** Filters by the time of an event, such as the last 7 days. */
export function PeriodFilter({ filter, list, width }: FilterProps) {
	const names = [`${filter.name}_from`, `${filter.name}_until`] as const;
	return (
		<RangeFilter
			list={list}
			width={width}
			label={filter.label}
			names={names}
			presets={RECENT_DAYS.map((days) => {
				// Both ends are midnight, so that the address stays the same for a day.
				const [from, until] = lastDays(days);
				return {
					label: days === 1 ? "Since yesterday" : `In the last ${days} days`,
					ends: { [names[0]]: from, [names[1]]: until },
				};
			})}
			describe={(from, until) =>
				[
					from === undefined ? "" : `from ${formatTime(String(from))}`,
					until === undefined ? "" : `until ${formatTime(String(until))}`,
				]
					.join(" ")
					.trim()
			}
		/>
	);
}
