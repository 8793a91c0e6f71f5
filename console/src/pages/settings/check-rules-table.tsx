import { Table, Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { platformLabel } from "../../parts/devices/device-words.tsx";

export type Policy = OutputOf<"getDevicePolicy">["policy"];

/** Shows the rules to those who may not change them. */
export function CheckRulesTable({ policy }: { policy: Policy }) {
	return (
		<>
			<Table.ScrollContainer minWidth={560}>
				<Table>
					<Table.Thead>
						<Table.Tr>
							<Table.Th>Check</Table.Th>
							<Table.Th>Required on</Table.Th>
							<Table.Th>Grace</Table.Th>
							<Table.Th>Grace of new devices</Table.Th>
							<Table.Th>Nonconformity</Table.Th>
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{policy.checks.map((rule) => (
							<Table.Tr key={rule.check_key}>
								<Table.Td>{rule.check_name ?? rule.check_key}</Table.Td>
								<Table.Td>
									{rule.is_required
										? rule.platforms.map(platformLabel).join(", ")
										: "Not required"}
								</Table.Td>
								<Table.Td>{rule.grace_days} days</Table.Td>
								<Table.Td>{rule.new_device_grace_days} days</Table.Td>
								<Table.Td>
									{rule.opens_nonconformity
										? `${rule.severity === "MAJOR" ? "Major" : "Minor"}, one ${rule.per_device ? "a device" : "for the check"}`
										: "None"}
								</Table.Td>
							</Table.Tr>
						))}
					</Table.Tbody>
				</Table>
			</Table.ScrollContainer>
			<Text size="sm">Longest silence: {policy.max_silence_days} days</Text>
		</>
	);
}
