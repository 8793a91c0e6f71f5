import { Anchor, Code, Select, Stack, Table, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { CopyField } from "../../parts/copy-field.tsx";
import {
	type AgentPackage,
	PACKAGES_PATH,
	useAgentPackages,
} from "../../parts/devices/agent-packages.ts";
import type { PLATFORMS } from "../../parts/devices/device-words.tsx";

/**
 * Lists the packages for a platform with their checksums, and the commands that install the chosen
 * one and enroll the device. Shows `otherwise` if the service offers none.
 */
export function AgentDownloads({
	platform,
	commandsOf,
	otherwise = null,
}: {
	platform: keyof typeof PLATFORMS;
	commandsOf: (chosen: AgentPackage) => string;
	otherwise?: ReactNode;
}) {
	const { data, isPending } = useAgentPackages();
	const [file, setFile] = useState<string | null>(null);
	const packages = data?.packages.filter((each) => each.platform === platform);
	const chosen = packages?.find((each) => each.file === file) ?? packages?.[0];
	if (isPending) return null;
	if (!data || !packages || !chosen) return otherwise;
	return (
		<Stack gap="sm">
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
			{packages.length > 1 && (
				<Select
					label="Commands for"
					data={packages.map((each) => each.file)}
					value={chosen.file}
					onChange={setFile}
					allowDeselect={false}
					maw={360}
				/>
			)}
			<CopyField
				label="Commands that install the package and enroll the device"
				value={commandsOf(chosen)}
			/>
		</Stack>
	);
}
