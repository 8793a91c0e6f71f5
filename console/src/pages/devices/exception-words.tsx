import { Text } from "@mantine/core";
import type { OutputOf } from "../../api.ts";
import { nameOrUnnamed } from "../../parts/devices/device-name.ts";
import { platformLabel } from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";

export type DeviceException =
	OutputOf<"listDeviceExceptions">["device_exceptions"][number];

export const EXCEPTION_STATUSES = {
	REQUESTED: { label: "Requested", tone: "warning" },
	SCHEDULED: { label: "Scheduled", tone: "active" },
	IN_FORCE: { label: "In force", tone: "good" },
	ENDED: { label: "Ended", tone: "neutral" },
	REJECTED: { label: "Rejected", tone: "neutral" },
} as const satisfies Record<
	DeviceException["status"],
	{ label: string; tone: Tone }
>;

export function ExceptionStatus({ exception }: { exception: DeviceException }) {
	const { label, tone } = EXCEPTION_STATUSES[exception.status];
	return <StatusBadge tone={tone} label={label} />;
}

/** Names what an exception covers, with a link to the device or to the devices of the group. */
export function ExceptionScope({ exception }: { exception: DeviceException }) {
	const { scope, device_id, group_id, platform, organization_id } = exception;
	if (scope === "DEVICE" && device_id) {
		return (
			<TextLink
				to="/o/$org/devices/$id"
				params={{ org: organization_id, id: device_id }}
				size="sm"
			>
				{nameOrUnnamed(device_id, exception.device_name)}
			</TextLink>
		);
	}
	if (scope === "GROUP" && group_id) {
		return (
			<TextLink
				to="/o/$org/devices"
				params={{ org: organization_id }}
				search={{ group_id }}
				size="sm"
			>
				{`Group ${exception.group_name}`}
			</TextLink>
		);
	}
	const words = {
		DEVICE: "A deleted device",
		GROUP: "A deleted group",
		PLATFORM: `All ${platformLabel(platform ?? "")} devices`,
		ALL: "All devices",
	};
	return (
		<Text size="sm" span>
			{words[scope]}
		</Text>
	);
}
