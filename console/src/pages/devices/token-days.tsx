import { Select } from "@mantine/core";

const DAYS = [1, 7, 30, 90, 365];
export const DEFAULT_DAYS = 7;

/** Asks how long an enrollment token stays valid. */
export function TokenDays({
	value,
	onChange,
	error,
}: {
	value: number;
	onChange: (days: number) => void;
	error?: React.ReactNode;
}) {
	return (
		<Select
			label="The token expires after"
			description="It works once. Choose only as long as you need to install the agent."
			data={DAYS.map((days) => ({
				value: String(days),
				label: days === 1 ? "1 day" : `${days} days`,
			}))}
			value={String(value)}
			onChange={(days) => onChange(Number(days))}
			allowDeselect={false}
			error={error}
			maw={420}
		/>
	);
}
