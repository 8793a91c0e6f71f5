import { Group, Text } from "@mantine/core";
import { IconAlertTriangleFilled } from "@tabler/icons-react";
import { useOrganization } from "../../organization.ts";
import type { Column } from "../../parts/data-table.tsx";
import {
	complianceOf,
	conflictLabel,
	type Device,
	DeviceState,
	isCurrent,
	platformLabel,
	withExcepted,
} from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { PlainText } from "../../parts/plain-text.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime, RelativeTime } from "../../parts/time.tsx";
import { AgentVersion } from "./agent-version.tsx";
import { checkLabel, inOrder } from "./checks.ts";

/** Returns the columns of the list. `nameOf` names a device so that no two in the list look alike. */
export const columnsWith = (
	nameOf: (device: Device) => string,
): readonly Column<Device>[] => [
	{
		id: "name",
		header: "Device",
		width: 230,
		sort: "name",
		cell: (device) => <Name device={device} name={nameOf(device)} />,
	},
	{
		id: "state",
		header: "Status",
		width: 115,
		cell: (device) => (
			<>
				<DeviceState device={device} />
				{device.compliance && (
					<PlainText size="xs" c="dimmed">
						{complianceOf(device)?.label}
					</PlainText>
				)}
			</>
		),
	},
	{
		id: "checks",
		header: "Checks",
		cell: (device) => <Checks device={device} />,
	},
	{
		id: "owner",
		header: "Owner",
		width: 140,
		cell: ({ owner_id, owner_name, claimed_owner_name }) =>
			owner_id ? (
				<>
					<PlainText size="sm">{owner_name}</PlainText>
					{claimed_owner_name && (
						<PlainText size="xs" c="dimmed">
							Claimed for {claimed_owner_name}
						</PlainText>
					)}
				</>
			) : claimed_owner_name ? (
				<>
					<PlainText size="sm">{claimed_owner_name}</PlainText>
					<PlainText size="xs" c="dimmed">
						Claimed, not confirmed
					</PlainText>
				</>
			) : (
				<PlainText size="sm" c="dimmed">
					Unassigned
				</PlainText>
			),
	},
	{
		id: "platform",
		header: "Platform",
		cell: ({ platform, os_version }) => (
			<>
				{/* Systems such as "Windows 11 Pro 25H2 (26200.7171)" need this width to fit in two lines. */}
				<PlainText size="sm" miw={130}>
					{platform ? platformLabel(platform) : "–"}
				</PlainText>
				<PlainText size="xs" c="dimmed" lineClamp={2} {...BREAKS}>
					{os_version}
				</PlainText>
			</>
		),
	},
	{
		id: "seen",
		header: "Last seen",
		width: 140,
		sort: "last_seen_at",
		firstDirection: "desc",
		cell: ({ last_seen_at }) => <RelativeTime value={last_seen_at} />,
	},
	{
		id: "serial",
		header: "Serial number",
		isExtra: true,
		cell: ({ serial_number }) => (
			<PlainText size="sm">{serial_number ?? "–"}</PlainText>
		),
	},
	{
		id: "agent",
		header: "Agent version",
		isExtra: true,
		cell: (device) => <AgentVersion device={device} />,
	},
	{
		id: "added",
		header: "Added",
		isExtra: true,
		sort: "created_at",
		firstDirection: "desc",
		cell: ({ created_at }) => <DateTime value={created_at} />,
	},
	{
		id: "enrolled",
		header: "Enrolled",
		isExtra: true,
		cell: ({ enrolled_at }) => <DateTime value={enrolled_at} />,
	},
];

/**
 * Host names break across lines instead of being cut off, because they often differ only at their
 * end.
 */
const BREAKS = { style: { overflowWrap: "anywhere" } } as const;

function Name({ device, name }: { device: Device; name: string }) {
	const { day } = useOrganization();
	return (
		<>
			<TextLink
				to="/o/$org/devices/$id"
				params={{ org: device.organization_id, id: device.id }}
				search={day ? { tab: "history", at: day } : {}}
				className="data-table-link"
				size="sm"
				fw={500}
				lineClamp={3}
				title={name}
				{...BREAKS}
			>
				{name}
			</TextLink>
			{device.hostname && !name.startsWith(device.hostname) && (
				<PlainText
					size="xs"
					c="dimmed"
					lineClamp={3}
					title={device.hostname}
					{...BREAKS}
				>
					{device.hostname}
				</PlainText>
			)}
			{device.awaits_approval && <Warning words="Waits for approval" />}
			{device.conflicts.map((kind) => (
				<Warning key={kind} words={conflictLabel(kind)} />
			))}
		</>
	);
}

function Warning({ words }: { words: string }) {
	return (
		<Group gap={4} wrap="nowrap" c="orange.9">
			<IconAlertTriangleFilled size={12} aria-hidden />
			<PlainText size="xs" c="var(--mantine-color-text)">
				{words}
			</PlainText>
		</Group>
	);
}

/**
 * Counts the checks that fail or are unknown, and names the failing ones. For a silent device, these
 * are the last known states.
 */
function Checks({ device }: { device: Device }) {
	const { postures } = device;
	if (postures.length === 0) {
		return (
			<PlainText size="sm" c="dimmed">
				No reports
			</PlainText>
		);
	}
	const of = (status: string) =>
		postures.filter((posture) => posture.status === status);
	const failing = of("FAIL");
	const unknown = of("UNKNOWN");
	const excepted = (some: Device["postures"]) =>
		some.filter(({ check_state }) => check_state === "EXCEPTED").length;
	const counted = [
		failing.length > 0 &&
			withExcepted(failing.length, "fail", excepted(failing)),
		unknown.length > 0 &&
			withExcepted(unknown.length, "unknown", excepted(unknown)),
	].filter((words) => words !== false);
	const words = counted.join("; ") || `${of("PASS").length} pass`;
	const tone =
		failing.length > excepted(failing)
			? "bad"
			: unknown.length > excepted(unknown)
				? "warning"
				: failing.length + unknown.length > 0
					? "neutral"
					: "good";
	const names = inOrder(failing.map(({ check_key }) => check_key))
		.filter((key) => failing.some(({ check_key }) => check_key === key))
		.map(checkLabel);
	const shown = names.slice(0, 2);
	const more = failing.length - shown.length;
	return (
		<>
			{isCurrent(device) ? (
				<StatusBadge tone={tone} label={words} />
			) : (
				<StatusBadge tone="neutral" label={`Last known: ${words}`} />
			)}
			{shown.length > 0 && (
				<Text size="xs" c="dimmed" lineClamp={2} mt={2}>
					{shown.join(", ")}
					{more > 0 && ` and ${more} more`}
				</Text>
			)}
		</>
	);
}
