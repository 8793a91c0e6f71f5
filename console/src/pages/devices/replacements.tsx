import { List, Text } from "@mantine/core";
import { call } from "../../api.ts";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";

/** The most pairs that a dialog names. */
const MAX_NAMED = 20;

/** The devices that a dialog is about, with the earlier records that it shows, by their ids. */
export type Predecessors = ReadonlyMap<string, Device["duplicate_of"]>;

export const predecessorsOf = (devices: readonly Device[]): Predecessors =>
	new Map(devices.map(({ id, duplicate_of }) => [id, duplicate_of]));

/** Whether somebody may say that the device already has a record. */
export const mayReplace = ({
	duplicate_of,
	status,
	awaits_approval,
}: Device): boolean =>
	status === "PENDING" && duplicate_of !== null && !awaits_approval;

/**
 * Lets devices replace the earlier records that the reader was shown. The server refuses the request
 * if a device reports the hardware of another record by now.
 */
export async function requestReplacements(
	organizationId: string,
	ids: readonly string[],
	shown: Predecessors,
): Promise<{ changed: number; unchanged: number }> {
	const { replaced, unchanged_device_ids: unchanged } = await call(
		"replaceDevices",
		{
			organization_id: organizationId,
			devices: ids.map((device_id) => ({
				device_id,
				predecessor_id: shown.get(device_id)?.id ?? "",
			})),
		},
	);
	return { changed: replaced.length, unchanged: unchanged.length };
}

/** Names each device and the earlier record that it replaces. */
export function Replacements({
	devices,
	shown,
}: {
	devices: readonly Device[];
	shown: Predecessors;
}) {
	const others = devices.length - MAX_NAMED;
	return (
		<>
			<List size="sm">
				{devices.slice(0, MAX_NAMED).map((one) => (
					<List.Item key={one.id}>
						{inWords(deviceName(one), one.serial_number)} replaces{" "}
						{inWords(
							shown.get(one.id)?.name ?? "a device without a name",
							shown.get(one.id)?.serial_number,
						)}
					</List.Item>
				))}
			</List>
			{others > 0 && <Text size="sm">and {others.toLocaleString()} more</Text>}
		</>
	);
}

const inWords = (name: string, serialNumber: string | null | undefined) =>
	serialNumber ? `${name} (serial number ${serialNumber})` : name;
