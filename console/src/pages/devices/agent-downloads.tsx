import { Anchor, Code, Table, Text } from "@mantine/core";
import type { PLATFORMS } from "../../parts/devices/device-words.tsx";
import { PACKAGES_PATH, useAgentPackages } from "./agent-packages.ts";

/** Lists the packages for a platform with their checksums, if the service offers any. */
export function AgentDownloads({
	platform,
}: {
	platform: keyof typeof PLATFORMS;
}) {
	const { data } = useAgentPackages();
	const packages = data?.packages.filter((each) => each.platform === platform);
	if (!data || !packages?.length) return null;
	return (
		<div>
			<Text size="sm" fw={600}>
				Packages of agent {data.version}
			</Text>
			<Table.ScrollContainer minWidth={420}>
				<Table aria-label={`Packages of agent ${data.version}`} fz="sm">
					<Table.Thead>
						<Table.Tr>
							<Table.Th>Package</Table.Th>
							<Table.Th>Size</Table.Th>
							<Table.Th>SHA-256</Table.Th>
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{packages.map(({ file, bytes, sha256 }) => (
							<Table.Tr key={file}>
								<Table.Td>
									<Anchor href={PACKAGES_PATH + file} download size="sm">
										{file}
									</Anchor>
								</Table.Td>
								<Table.Td style={{ whiteSpace: "nowrap" }}>
									{Math.ceil(bytes / 1_000_000)} MB
								</Table.Td>
								<Table.Td style={{ wordBreak: "break-all" }}>
									<Code>{sha256}</Code>
								</Table.Td>
							</Table.Tr>
						))}
					</Table.Tbody>
				</Table>
			</Table.ScrollContainer>
		</div>
	);
}
