import { Stack, Table, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import {
	CHECK_STATES,
	COMPLIANCES,
} from "../../parts/devices/device-words.tsx";

type Effects = NonNullable<OutputOf<"updateDevicePolicy">["effects"]>;

/** Shows how many devices a change of the policy moves from one state to another. */
export function PolicyEffects({ effects }: { effects: Effects }) {
	const rows = [
		...changesOf(
			"All checks",
			effects.compliance,
			(state) => COMPLIANCES[state].label,
		),
		...effects.checks.flatMap((check) =>
			changesOf(
				check.check_name ?? check.check_key,
				check,
				(state) => CHECK_STATES[state],
			),
		),
	];
	if (rows.length === 0) {
		return <Text size="sm">No device changes its state now.</Text>;
	}
	return (
		<Stack gap="xs">
			<Text size="sm">Numbers of active devices:</Text>
			<Table>
				<Table.Thead>
					<Table.Tr>
						<Table.Th>Check</Table.Th>
						<Table.Th>State</Table.Th>
						<Table.Th ta="right">Now</Table.Th>
						<Table.Th ta="right">Then</Table.Th>
					</Table.Tr>
				</Table.Thead>
				<Table.Tbody>
					{rows.map((row) => (
						<Table.Tr key={`${row.of} ${row.state}`}>
							<Table.Td>{row.of}</Table.Td>
							<Table.Td>{row.state}</Table.Td>
							<Table.Td className="figures" ta="right">
								{row.before.toLocaleString()}
							</Table.Td>
							<Table.Td className="figures" ta="right">
								{row.after.toLocaleString()}
							</Table.Td>
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Stack>
	);
}

function changesOf<State extends string>(
	of: string,
	{
		before,
		after,
	}: { before: Record<State, number>; after: Record<State, number> },
	labelOf: (state: State) => string,
) {
	return (Object.keys(before) as State[])
		.filter((state) => before[state] !== after[state])
		.map((state) => ({
			of,
			state: labelOf(state),
			before: before[state],
			after: after[state],
		}));
}
