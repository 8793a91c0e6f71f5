import { Text } from "@mantine/core";
import type { Column } from "../../parts/data-table.tsx";
import {
	type Device,
	isCurrent,
	PostureBadge,
	STATUSES,
} from "../../parts/devices/device-words.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { ByPolicy } from "./by-policy.tsx";
import { checkLabel } from "./checks.ts";
import { columnsWith } from "./device-columns.tsx";

/**
 * Returns the columns of a list that is filtered by a check: its status, and since when. The list can
 * be sorted by the time of failing checks only.
 */
export function columnsOfCheck(
	checkKey: string,
	nameOf: (device: Device) => string,
	isFailing: boolean,
): readonly Column<Device>[] {
	const postureOf = ({ postures }: Device) =>
		postures.find(({ check_key }) => check_key === checkKey);
	const others = columnsWith(nameOf).filter(
		({ id }) => id !== "state" && id !== "checks",
	);
	const [name, ...rest] = others;
	return [
		...(name ? [name] : []),
		{
			id: "check",
			header: checkLabel(checkKey),
			width: 190,
			cell: (device) => {
				const posture = postureOf(device);
				if (!posture) return <Quiet>Not reported</Quiet>;
				return (
					<>
						<PostureBadge
							status={posture.status}
							isCurrent={isCurrent(device)}
						/>
						<ByPolicy posture={posture} device={device} />
						{device.status !== "ACTIVE" && (
							<Text size="xs">{STATUSES[device.status].label}</Text>
						)}
					</>
				);
			},
		},
		{
			id: "since",
			header: "Since",
			width: 150,
			...(isFailing && { sort: "failing_since" }),
			cell: (device) => {
				const posture = postureOf(device);
				return posture ? (
					<RelativeTime value={posture.since} />
				) : (
					<Quiet>–</Quiet>
				);
			},
		},
		...rest,
	];
}

function Quiet({ children }: { children: string }) {
	return (
		<Text size="sm" c="dimmed">
			{children}
		</Text>
	);
}
