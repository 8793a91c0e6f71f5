import { Button, Group, Menu, Modal, Select, Stack } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import {
	type DeviceGroup,
	groupOptions,
	useDeviceGroups,
} from "../../parts/devices/device-groups.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { useReturnFocus } from "../../parts/return-focus.ts";
import { forgetReadings } from "../../queries.ts";
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
	const ids = devices.map(({ id }) => id);
	const changing = useMutation({
		mutationFn: async ({
			group,
			add,
		}: {
			group: DeviceGroup;
			add: boolean;
		}) => {
			await call("updateDeviceGroup", {
				id: group.id,
				...(add ? { add_device_ids: ids } : { remove_device_ids: ids }),
			});
			await forgetReadings();
			notifications.show({ message: `The group “${group.name}” is changed.` });
		},
	});
	const joined = listed.filter(({ id }) =>
		devices.some((device) => device.groups?.some((group) => group.id === id)),
	);
	return (
		<>
			<Menu position="bottom-start" width={260}>
				<Menu.Target>
					<Button
						size="compact-sm"
						variant="default"
						loading={changing.isPending}
					>
						Groups …
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
								onClick={() => changing.mutate({ group, add: true })}
							>
								{group.name}
							</Menu.Item>
						))
					)}
					<Menu.Item onClick={() => setAdding(true)}>A new group …</Menu.Item>
					{joined.length > 0 && <Menu.Label>Remove from</Menu.Label>}
					{joined.map((group) => (
						<Menu.Item
							key={group.id}
							onClick={() => changing.mutate({ group, add: false })}
						>
							{group.name}
						</Menu.Item>
					))}
				</Menu.Dropdown>
			</Menu>
			{changing.isError && (
				<ErrorState error={changing.error} title="The group was not changed" />
			)}
			{isChoosing && (
				<ChooseGroup
					groups={listed}
					onChoose={(group) => {
						setChoosing(false);
						changing.mutate({ group, add: true });
					}}
					onClose={() => setChoosing(false)}
				/>
			)}
			{isAdding && (
				<GroupForm deviceIds={ids} onClose={() => setAdding(false)} />
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
		<Modal
			opened
			onClose={onClose}
			title="Add to a group"
			closeButtonProps={{ "aria-label": "Close" }}
		>
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
		</Modal>
	);
}
