import { List, Paper, Stack, Text, Title } from "@mantine/core";

/** Says what the agent sends and what it does not send. docs/agent.md has the details. */
export function WhatIsCollected() {
	return (
		<Paper
			component="section"
			withBorder
			p="md"
			aria-labelledby="what-is-collected"
		>
			<Stack gap="sm">
				<Title order={2} id="what-is-collected">
					What your devices report
				</Title>
				<Text size="sm">
					The agent changes nothing on your device. Every few minutes it says
					that the device is there, and every hour it reports its checks, unless
					your organization chose other times.
				</Text>
				<Title order={3}>It sends</Title>
				<List size="sm" spacing={4}>
					<List.Item>
						the hostname, the operating system and its version, and the agent's
						version
					</List.Item>
					<List.Item>
						the hardware's UUID and serial number, by which Assay recognizes the
						device
					</List.Item>
					<List.Item>
						the result of each check, and the few facts behind it that you see
						on this page
					</List.Item>
				</List>
				<Title order={3}>It never sends</Title>
				<List size="sm" spacing={4}>
					<List.Item>
						files, their names, or the programs that you run
					</List.Item>
					<List.Item>web addresses, Wi-Fi networks or locations</List.Item>
					<List.Item>
						account names, keys, or the text of any configuration
					</List.Item>
				</List>
				<Text size="sm">
					The members of your organization in Assay see it. The history of each
					check is kept as long as the device.
				</Text>
			</Stack>
		</Paper>
	);
}
