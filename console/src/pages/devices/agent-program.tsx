import { Anchor, Code, Text } from "@mantine/core";
import {
	type AgentProgram,
	PACKAGES_PATH,
	useAgentProgram,
} from "../../parts/devices/agent-packages.ts";
import { TextLink } from "../../parts/links.tsx";

/**
 * Offers the agent as one file for Node, with its checksum. Every service has this file. `children`
 * shows the commands for it. The guide opens in another tab, because the page may show a token only
 * once.
 */
export function AgentProgramDownload({
	children,
}: {
	children: (program: AgentProgram) => React.ReactNode;
}) {
	const { data: program } = useAgentProgram();
	if (!program) return null;
	return (
		<>
			<Text size="sm">
				The agent is one file,{" "}
				<Anchor href={PACKAGES_PATH + program.file} download size="sm">
					{program.file}
				</Anchor>{" "}
				({program.version}, {Math.ceil(program.bytes / 1000)} KB). It needs{" "}
				<Anchor
					href="https://nodejs.org/en/download"
					target="_blank"
					rel="noreferrer"
					size="sm"
				>
					Node 24 or later
				</Anchor>
				. The operator of this service can also offer packages that need no
				Node, as the{" "}
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
				explains. SHA-256:{" "}
				<Code style={{ wordBreak: "break-all" }}>{program.sha256}</Code>
			</Text>
			{children(program)}
		</>
	);
}
