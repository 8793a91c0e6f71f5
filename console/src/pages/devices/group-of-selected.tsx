import { Button, Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { GroupForm } from "./group-form.tsx";
import type { DeviceGroup } from "./groups-page.tsx";

/** Adds the selected devices to a group, or removes them from one. */
export function GroupOfSelected({
	organizationId,
	devices,
}: {
	organizationId: string;
	devices: readonly Device[];
}) {
	const [isAdding, setAdding] = useState(false);
	const groups = useQuery(
		operationQuery("listDeviceGroups", {
			organization_id: organizationId,
			size: 100,
		}),
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
	const listed = (groups.data?.device_groups ?? []).filter(
		({ filter }) => !filter,
	);
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
					{listed.map((group) => (
						<Menu.Item
							key={group.id}
							onClick={() => changing.mutate({ group, add: true })}
						>
							{group.name}
						</Menu.Item>
					))}
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
			{isAdding && (
				<GroupForm deviceIds={ids} onClose={() => setAdding(false)} />
			)}
		</>
	);
}
