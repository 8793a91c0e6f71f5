import { Group, Select, Stack, Text, Title } from "@mantine/core";
import {
	DATE_ORDERS,
	type DateOrder,
	readDay,
} from "../../../../src/csv/dates.ts";
import type { OutputOf } from "../../api.ts";
import { formatDay } from "../../parts/days.ts";
import type { DateOrders } from "./unknown-values.ts";

type DateColumn = OutputOf<"importRecords">["date_columns"][number];

const WORDS: Record<DateOrder, string> = {
	DMY: "Day first",
	MDY: "Month first",
};

/**
 * Asks once for each column with dates such as 03/04/2026 whether the day or the month comes first.
 * If other dates of the column say it, shows how they are read, and lets the reader change it.
 */
export function DateOrderFields({
	columns,
	orders,
	onChange,
}: {
	columns: readonly DateColumn[];
	orders: DateOrders;
	onChange: (orders: DateOrders) => void;
}) {
	if (columns.length === 0) return null;
	return (
		<Stack gap="xs" mb="md" component="section" aria-label="Order of dates">
			<Title order={3}>
				{columns.some(({ order }) => order === null)
					? "Does the day or the month come first?"
					: "How dates are read"}
			</Title>
			<Text size="sm" c="dimmed">
				In some dates of the file, either number could be the month.
			</Text>
			<Group gap="sm" align="flex-end">
				{columns.map(({ field, column, value, count, order }) => (
					<Select
						key={field}
						label={`“${value}” in ${column} (${count === 1 ? "1 line" : `${count.toLocaleString()} lines`})`}
						placeholder="Choose the order"
						w={260}
						maw="100%"
						styles={{ label: { overflowWrap: "anywhere" } }}
						data={DATE_ORDERS.map((one) => ({
							value: one,
							label: labelOf(value, one),
						}))}
						value={orders[field] ?? order}
						onChange={(chosen) =>
							chosen && onChange({ ...orders, [field]: chosen as DateOrder })
						}
						allowDeselect={false}
					/>
				))}
			</Group>
		</Stack>
	);
}

/** Returns an order with the day that the date is in it, such as "Day first: Apr 3, 2026". */
function labelOf(date: string, order: DateOrder): string {
	const day = readDay(date, order);
	return day ? `${WORDS[order]}: ${formatDay(day)}` : WORDS[order];
}
