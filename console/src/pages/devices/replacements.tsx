import { Alert, List, Text } from "@mantine/core";
import { call } from "../../api.ts";
import { nameOrUnnamed } from "../../parts/devices/device-name.ts";
import type { Device } from "../../parts/devices/device-words.tsx";

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

/** Returns the devices whose earlier record no other one of them has too. */
export function withOwnPredecessor(
	devices: readonly Device[],
	shown: Predecessors,
): readonly Device[] {
	const byRecord = Map.groupBy(devices, ({ id }) => shown.get(id)?.id);
	return [...byRecord.values()].flatMap((same) =>
		same.length === 1 ? same : [],
	);
}

/**
 * Names each device and the earlier record that it replaces. A record has one successor, so devices
 * with the same record are left out until the reader has chosen one of them.
 */
export function Replacements({
	selected,
	devices,
	shown,
}: {
	selected: readonly Device[];
	/** Those of the selected devices that replace a record. */
	devices: readonly Device[];
	shown: Predecessors;
}) {
	const others = devices.length - MAX_NAMED;
	const leftOut = selected.filter((one) => !devices.includes(one));
	const records = [
		...Map.groupBy(leftOut, ({ id }) => shown.get(id)?.id).values(),
	];
	return (
		<>
			{records.length > 0 && (
				<Alert
					color="orange"
					variant="outline"
					title="Several devices report the same earlier record"
				>
					<Text size="sm">
						Only one device can replace a record, so these are left out. Select
						the right one alone, and revoke the others.
					</Text>
					<List size="sm">
						{records.slice(0, MAX_NAMED).map((same) => (
							<List.Item key={same[0]?.id}>
								{recordOf(same[0], shown)}: {namesOf(same)}
							</List.Item>
						))}
					</List>
					{records.length > MAX_NAMED && (
						<Text size="sm">
							and {(records.length - MAX_NAMED).toLocaleString()} more records
						</Text>
					)}
				</Alert>
			)}
			<List size="sm">
				{devices.slice(0, MAX_NAMED).map((one) => (
					<List.Item key={one.id}>
						{inWords(
							one.serial_number
								? (ownName(one) ?? "Unnamed device")
								: nameOrUnnamed(one.id, ownName(one)),
							one.serial_number,
						)}{" "}
						replaces {recordOf(one, shown)}
					</List.Item>
				))}
			</List>
			{others > 0 && <Text size="sm">and {others.toLocaleString()} more</Text>}
		</>
	);
}

const ownName = ({ name, hostname }: Device) => name ?? hostname;

function recordOf(device: Device | undefined, shown: Predecessors): string {
	const record = device && shown.get(device.id);
	return inWords(
		record?.name ?? "a device without a name",
		record?.serial_number,
	);
}

/** Names the first devices, and counts the others. */
function namesOf(devices: readonly Device[]): string {
	const names = devices
		.slice(0, MAX_NAMED)
		.map((one) => nameOrUnnamed(one.id, ownName(one)));
	const others = devices.length - names.length;
	const more = others > 0 ? ` and ${others.toLocaleString()} more` : "";
	return names.join(", ") + more;
}

const inWords = (name: string, serialNumber: string | null | undefined) =>
	serialNumber ? `${name} (serial number ${serialNumber})` : name;
