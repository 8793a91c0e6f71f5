import { Button, Menu } from "@mantine/core";
import {
	IconBan,
	IconChevronDown,
	IconKey,
	IconMailForward,
	IconPencil,
	IconTrash,
} from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import { forgetReadings, queryClient } from "../../queries.ts";
import { EditDevice } from "./edit-device.tsx";
import { MyDevicesLink } from "./my-devices-link.tsx";
import { ReissueToken } from "./reissue-token.tsx";
import { RevokeDevice } from "./revoke-device.tsx";

type Dialog = "edit" | "link" | "reissue" | "revoke" | "delete";

/** Shows the actions that the reader may take on a device. */
export function DeviceActions({ device }: { device: Device }) {
	const { mayWrite, mayAdmin } = useOrganization();
	const [dialog, setDialog] = useState<Dialog | null>(null);
	const close = () => setDialog(null);
	return (
		<>
			{mayAdmin && (
				<Menu position="bottom-end" width={230}>
					<Menu.Target>
						<Button
							variant="default"
							rightSection={<IconChevronDown size={16} aria-hidden />}
						>
							Actions
						</Button>
					</Menu.Target>
					<Menu.Dropdown>
						<Menu.Item
							leftSection={<IconKey size={16} aria-hidden />}
							onClick={() => setDialog("reissue")}
						>
							Reissue the token …
						</Menu.Item>
						{device.status !== "REVOKED" && device.owner_id && (
							<Menu.Item
								leftSection={<IconMailForward size={16} aria-hidden />}
								onClick={() => setDialog("link")}
							>
								Send the owner a link …
							</Menu.Item>
						)}
						{device.status !== "REVOKED" && (
							<Menu.Item
								leftSection={<IconBan size={16} aria-hidden />}
								onClick={() => setDialog("revoke")}
							>
								Revoke …
							</Menu.Item>
						)}
						<Menu.Divider />
						<Menu.Item
							color="var(--mantine-color-error)"
							leftSection={<IconTrash size={16} aria-hidden />}
							onClick={() => setDialog("delete")}
						>
							Delete …
						</Menu.Item>
					</Menu.Dropdown>
				</Menu>
			)}
			{mayWrite && (
				<Button
					leftSection={<IconPencil size={16} aria-hidden />}
					onClick={() => setDialog("edit")}
				>
					Edit
				</Button>
			)}
			{dialog === "edit" && <EditDevice device={device} onClose={close} />}
			{dialog === "link" && <MyDevicesLink device={device} onClose={close} />}
			{dialog === "reissue" && <ReissueToken device={device} onClose={close} />}
			<RevokeDevice
				device={device}
				opened={dialog === "revoke"}
				onClose={close}
			/>
			<Delete device={device} opened={dialog === "delete"} onClose={close} />
		</>
	);
}

interface Asked {
	device: Device;
	opened: boolean;
	onClose: () => void;
}

function Delete({ device, ...asked }: Asked) {
	const navigate = useNavigate();
	return (
		<Confirm
			{...asked}
			title={`Delete ${deviceName(device)}?`}
			action="Delete the device"
			onConfirm={async () => {
				await call("deleteDevice", { id: device.id });
				await navigate({
					to: "/o/$org/devices",
					params: { org: device.organization_id },
					ignoreBlocker: true,
				});
				// The deleted device must not be loaded again. All other queries are.
				queryClient.removeQueries({
					queryKey: ["getDevice", { id: device.id }],
				});
				void forgetReadings();
			}}
		>
			The device, its key, its history, its reports and its links are deleted
			permanently. This cannot be undone. Only the audit log still names it. To
			take the device out of service and keep its history as evidence, revoke it
			instead.
		</Confirm>
	);
}
