import { Text } from "@mantine/core";
import { isLater } from "../../../../src/agent-packages/release.ts";
import { isOwnAgent } from "../../../../src/devices/agent-name.ts";
import { useAgentPackages } from "../../parts/devices/agent-packages.ts";
import type { Device } from "../../parts/devices/device-words.tsx";

/**
 * Shows the version of a device's agent, the newest one for its platform if that is later, and the
 * name of an agent that is not Assay's.
 */
export function AgentVersion({
	device: { agent_name: name, agent_version: version, platform },
}: {
	device: Pick<Device, "agent_name" | "agent_version" | "platform">;
}) {
	const { data } = useAgentPackages();
	const isOwn = isOwnAgent(name);
	const newest = isOwn && platform ? data?.newest[platform] : undefined;
	return (
		<Text span size="sm">
			{!isOwn && `${name} `}
			{version ?? "–"}
			{newest && version && isLater(newest, version) && (
				<Text span size="sm" c="dimmed">
					{" "}
					(newest: {newest})
				</Text>
			)}
		</Text>
	);
}
