import { Button, Group, Modal, Stack, Text } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../../api.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings } from "../../queries.ts";
import { OwnerField } from "./owner-field.tsx";

/** Sets one owner for the selected devices, or removes their owners. */
export function SetOwner({
	organizationId,
	devices,
	onDone,
}: {
	organizationId: string;
	devices: readonly Device[];
	onDone: () => void;
}) {
	const [isOpen, setOpen] = useState(false);
	const [owner, setOwner] = useState<string | null>(null);
	const saving = useMutation({
		mutationFn: async () => {
			const { changed_device_ids: changed } = await call("setDeviceOwners", {
				organization_id: organizationId,
				owners: devices.map(({ id }) => ({ device: id, owner })),
			});
			await forgetReadings();
			notifications.show({ message: `Owners set: ${changed.length}.` });
			setOpen(false);
			onDone();
		},
	});
	const count = devices.length === 1 ? "1 device" : `${devices.length} devices`;
	return (
		<>
			<Button
				size="compact-sm"
				variant="default"
				onClick={() => {
					setOwner(null);
					setOpen(true);
				}}
			>
				Set the owner …
			</Button>
			<Modal
				opened={isOpen}
				onClose={() => setOpen(false)}
				title={`Set the owner of ${count}`}
				closeButtonProps={{ "aria-label": "Close" }}
			>
				<Stack>
					{saving.isError && (
						<ErrorState error={saving.error} title="The owner was not set" />
					)}
					<OwnerField value={owner} onChange={setOwner} />
					{owner === null && (
						<Text size="sm">The devices will have no owner.</Text>
					)}
					<Group justify="flex-end">
						<Button variant="default" onClick={() => setOpen(false)}>
							Cancel
						</Button>
						<Button loading={saving.isPending} onClick={() => saving.mutate()}>
							{owner === null ? "Remove the owners" : "Set the owner"}
						</Button>
					</Group>
				</Stack>
			</Modal>
		</>
	);
}
