import { Button, Stack, Table, Text, Title } from "@mantine/core";
import { useState } from "react";
import { CalendarDate } from "../../parts/time.tsx";
import { CallsChart } from "./calls-chart.tsx";
import {
	type ApiToken,
	type DayOfUse,
	everyDay,
	totalsOf,
	USAGE_DAYS,
} from "./token-words.tsx";

/**
 * Shows how a token was used: the calls of each day, as a chart or as a table, and the calls of
 * each tool.
 */
export function TokenUsage({ token }: { token: ApiToken }) {
	const [isTable, setIsTable] = useState(false);
	const { calls } = totalsOf(token);
	if (calls === 0) {
		return (
			<Text size="sm" c="dimmed">
				No calls in the last {USAGE_DAYS} days.
			</Text>
		);
	}
	const days = everyDay(token, Date.now());
	return (
		<Stack gap="lg">
			<section aria-label="Calls per day">
				<Title order={3} mb={4}>
					Calls per day
				</Title>
				<Text size="sm" mb="sm">
					{summaryOf(token, days)}
				</Text>
				{isTable ? (
					<Counts
						heading="Day (UTC)"
						rows={days
							.filter((day) => day.calls > 0)
							.toReversed()
							.map(({ day, ...counts }) => ({
								...counts,
								key: day,
								name: <CalendarDate value={day} />,
							}))}
					/>
				) : (
					<CallsChart days={days} />
				)}
				<Button
					variant="subtle"
					size="compact-xs"
					mt="xs"
					onClick={() => setIsTable(!isTable)}
				>
					{isTable ? "Show as a chart" : "Show as a table"}
				</Button>
			</section>
			<section aria-label="By tool">
				<Title order={3} mb={4}>
					By tool
				</Title>
				<Counts
					heading="Tool"
					rows={token.usage.tools.map(({ tool, ...counts }) => ({
						...counts,
						key: tool,
						name: tool,
					}))}
				/>
			</section>
		</Stack>
	);
}

/** Returns a sentence that summarizes the chart. */
function summaryOf(token: ApiToken, days: DayOfUse[]): string {
	const { calls, errors } = totalsOf(token);
	const busy = days.filter((day) => day.calls > 0).length;
	const most = Math.max(...days.map((day) => day.calls));
	const failed = errors === 0 ? "none" : errors.toLocaleString();
	return `${calls.toLocaleString()} ${calls === 1 ? "call" : "calls"} on ${busy} of the last ${USAGE_DAYS} days, at most ${most.toLocaleString()} per day; ${failed} failed.`;
}

function Counts({
	heading,
	rows,
}: {
	heading: string;
	rows: {
		key: string;
		name: React.ReactNode;
		calls: number;
		errors: number;
	}[];
}) {
	return (
		<Table>
			<Table.Thead>
				<Table.Tr>
					<Table.Th scope="col">{heading}</Table.Th>
					<Table.Th scope="col" ta="right">
						Calls
					</Table.Th>
					<Table.Th scope="col" ta="right">
						Errors
					</Table.Th>
				</Table.Tr>
			</Table.Thead>
			<Table.Tbody>
				{rows.map(({ key, name, calls, errors }) => (
					<Table.Tr key={key}>
						<Table.Td style={{ overflowWrap: "anywhere" }}>{name}</Table.Td>
						<Table.Td className="figures" ta="right">
							{calls.toLocaleString()}
						</Table.Td>
						<Table.Td className="figures" ta="right">
							{errors.toLocaleString()}
						</Table.Td>
					</Table.Tr>
				))}
			</Table.Tbody>
		</Table>
	);
}
