import { Button, Group, Menu, Select, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useState } from "react";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { call } from "../../api.ts";
import {
	type DeviceGroup,
	groupOptions,
	useDeviceGroups,
} from "../../parts/devices/device-groups.ts";
import {
	countDevices,
	type Device,
	deviceName,
} from "../../parts/devices/device-words.tsx";
import { Dialog } from "../../parts/dialog.tsx";
import { useForEach } from "../../parts/for-each.ts";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { showFailure } from "../../parts/show-failure.ts";
import { GroupForm } from "./group-form.tsx";

/** The menu lists at most this many groups. If there are more, the user searches them. */
const LISTED_GROUPS = 12;

/** Adds the selected devices to a group, or removes them from one. */
export function GroupOfSelected({
	organizationId,
	devices,
}: {
	organizationId: string;
	devices: readonly Device[];
}) {
	const [isAdding, setAdding] = useState(false);
	const [isChoosing, setChoosing] = useState(false);
	const listed = useDeviceGroups(organizationId).filter(
		({ filter }) => !filter,
	);
	const { progress, run } = useForEach<Device>();
	const change = async (group: DeviceGroup, add: boolean) => {
		const { failures } = await run(
			devices,
			(part) => {
				const ids = part.map(({ id }) => id);
				return call("updateDeviceGroup", {
					id: group.id,
					...(add ? { add_device_ids: ids } : { remove_device_ids: ids }),
				});
			},
			MAX_DEVICES_OF_CALL,
		);
		const [failed] = failures;
		if (!failed) {
			notifications.show({ message: `The group “${group.name}” is changed.` });
			return;
		}
		const { length } = failures;
		showFailure(
			`The group “${group.name}” was not changed for ${length === devices.length ? countDevices(length) : `${length.toLocaleString()} of ${countDevices(devices.length)}`}`,
			`${deviceName(failed.row)}${length > 1 ? ` and ${(length - 1).toLocaleString()} more` : ""}: ${failed.reason}`,
			{ stays: true },
		);
	};
	const groups = new Set(
		devices.flatMap((device) => device.groups?.map(({ id }) => id) ?? []),
	);
	const joined = listed.filter(({ id }) => groups.has(id));
	return (
		<>
			<Menu position="bottom-start" width={260}>
				<Menu.Target>
					<Button
						size="compact-sm"
						variant="default"
						disabled={progress?.isRunning ?? false}
					>
						{progress?.isRunning
							? `Groups: ${progress.done.toLocaleString()} of ${progress.total.toLocaleString()} …`
							: "Groups …"}
					</Button>
				</Menu.Target>
				<Menu.Dropdown mah={360} style={{ overflowY: "auto" }}>
					<Menu.Label>Add to</Menu.Label>
					{listed.length > LISTED_GROUPS ? (
						<Menu.Item onClick={() => setChoosing(true)}>A group …</Menu.Item>
					) : (
						listed.map((group) => (
							<Menu.Item
								key={group.id}
								onClick={() => void change(group, true)}
							>
								{group.name}
							</Menu.Item>
						))
					)}
					<Menu.Item onClick={() => setAdding(true)}>A new group …</Menu.Item>
					{joined.length > 0 && <Menu.Label>Remove from</Menu.Label>}
					{joined.map((group) => (
						<Menu.Item key={group.id} onClick={() => void change(group, false)}>
							{group.name}
						</Menu.Item>
					))}
				</Menu.Dropdown>
			</Menu>
			{isChoosing && (
				<ChooseGroup
					groups={listed}
					onChoose={(group) => {
						setChoosing(false);
						void change(group, true);
					}}
					onClose={() => setChoosing(false)}
				/>
			)}
			{isAdding && (
				<GroupForm
					deviceIds={devices.map(({ id }) => id)}
					onClose={() => setAdding(false)}
				/>
			)}
		</>
	);
}

function ChooseGroup({
	groups,
	onChoose,
	onClose,
}: {
	groups: readonly DeviceGroup[];
	onChoose: (group: DeviceGroup) => void;
	onClose: () => void;
}) {
	const [id, setId] = useState<string | null>(null);
	const group = groups.find((each) => each.id === id);
	useReturnFocus();
	return (
		<Dialog opened onClose={onClose} title="Add to a group">
			<Stack>
				<Select
					label="Group"
					data-autofocus
					{...groupOptions(groups)}
					value={id}
					onChange={setId}
				/>
				<Group justify="flex-end">
					<Button variant="default" onClick={onClose}>
						Cancel
					</Button>
					<Button disabled={!group} onClick={() => group && onChoose(group)}>
						Add
					</Button>
				</Group>
			</Stack>
		</Dialog>
	);
}
