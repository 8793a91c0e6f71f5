import { Alert, Anchor, Code, List, Select, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { Platform } from "../../../../src/devices/terms.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { CopyField } from "../../parts/copy-field.tsx";
import {
	type AgentPackage,
	type AgentPackages,
	PACKAGES_PATH,
	useAgentPackages,
} from "../../parts/devices/agent-packages.ts";
import { TextLink } from "../../parts/links.tsx";

/**
 * Lists the packages for a platform with their checksums, and the commands that install the chosen
 * one and enroll the device. Shows `otherwise` if the service offers none.
 */
export function AgentDownloads({
	platform,
	commandsOf,
	noteOf,
	otherwise = null,
}: {
	platform: Platform;
	commandsOf: (chosen: AgentPackage) => string;
	/** Says what may be added to the commands. */
	noteOf?: (chosen: AgentPackage) => ReactNode;
	otherwise?: ReactNode;
}) {
	const { data, isPending } = useAgentPackages();
	const [file, setFile] = useState<string | null>(null);
	const packages = data?.packages.filter((each) => each.platform === platform);
	const chosen = packages?.find((each) => each.file === file) ?? packages?.[0];
	if (isPending) return null;
	const withheld = data && data.withheld.length > 0 && (
		<Withheld files={data.withheld} />
	);
	if (!data || !packages || !chosen) {
		return (
			<>
				{withheld}
				{otherwise}
			</>
		);
	}
	return (
		<Stack gap="sm">
			{withheld}
			<Text size="sm" fw={600}>
				Packages of agent {data.version}
			</Text>
			<CardTable
				label={`Packages of agent ${data.version}`}
				minWidth={420}
				columns={["Package", "Size", "SHA-256"]}
				rows={packages.map(({ file, bytes, sha256 }) => ({
					key: file,
					cells: [
						<Anchor
							key="file"
							href={PACKAGES_PATH + file}
							download
							size="sm"
							style={{ overflowWrap: "anywhere" }}
						>
							{file}
						</Anchor>,
						<span key="size" style={{ whiteSpace: "nowrap" }}>
							{Math.ceil(bytes / 1_000_000)} MB
						</span>,
						<Code key="sha256" style={{ overflowWrap: "anywhere" }}>
							{sha256}
						</Code>,
					],
				}))}
			/>
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
				label="Commands that download the package, compare its checksum, install it and enroll the device"
				value={commandsOf(chosen)}
			/>
			{noteOf?.(chosen)}
			{data.is_signed && platform === "LINUX" && (
				<Text size="sm">
					Devices can also install and update the agent from this service's
					signed apt and yum repository, as the{" "}
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
					explains.
				</Text>
			)}
		</Stack>
	);
}

/** Largest number of files that the warning names. */
const SHOWN = 5;

/** Says which files of the operator's folder the service does not offer, and why. */
function Withheld({ files }: { files: AgentPackages["withheld"] }) {
	const more = files.length - SHOWN;
	return (
		<Alert
			color="orange"
			variant="outline"
			icon={<IconAlertTriangle aria-hidden />}
			title="Some packages are not offered"
		>
			<List size="sm" style={{ overflowWrap: "anywhere" }}>
				{files.slice(0, SHOWN).map(({ file, reason }) => (
					<List.Item key={file}>
						{file} {reason}.
					</List.Item>
				))}
			</List>
			<Text size="sm" mt="xs">
				{more > 0 && `And ${more} more. `}
				The operator of this service can build or copy them again.
			</Text>
		</Alert>
	);
}
