import { Code, Text } from "@mantine/core";
import { COMMAND } from "../../command.ts";
import { useAgentPackages } from "../../parts/devices/agent-packages.ts";
import { TextLink } from "../../parts/links.tsx";

/**
 * Says where the agent comes from if the service offers no packages of it, so that nobody is stuck.
 * The guide opens in another tab, because the page may show a token only once.
 */
export function NoAgentPackages() {
	const { data } = useAgentPackages();
	if (data !== null) return null;
	return (
		<Text size="sm">
			This service offers no download of the agent yet. The operator of the
			service builds the packages and sets ASSAY_AGENT_DIR to their folder, as
			the{" "}
			<TextLink
				to="/help/$page"
				params={{ page: "agent" }}
				hash="packages"
				target="_blank"
				underline="always"
				inherit
			>
				guide to the agent
			</TextLink>{" "}
			explains. To try the agent, take its token and start it on the computer
			that runs Assay, in Assay's folder:{" "}
			<Code>
				{COMMAND} agent install --no-service --server {location.origin}
			</Code>
			, then <Code>{COMMAND} agent once</Code>.
		</Text>
	);
}
