import { Text } from "@mantine/core";
import {
	isBehind,
	useAgentPackages,
} from "../../parts/devices/agent-packages.ts";

/** Shows the version of a device's agent, and the newest one if it is later. */
export function AgentVersion({ version }: { version: string | null }) {
	const newest = useAgentPackages().data?.version;
	return (
		<Text size="sm">
			{version ?? "–"}
			{newest && isBehind(version, newest) && (
				<Text span size="sm" c="dimmed">
					{" "}
					(newest: {newest})
				</Text>
			)}
		</Text>
	);
}
