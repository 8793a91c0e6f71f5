import { Button, Checkbox } from "@mantine/core";
import { useRef, useState } from "react";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { call } from "../../api.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import {
	countDevices,
	type Device,
} from "../../parts/devices/device-words.tsx";
import type { Selection } from "../../parts/selection.ts";
import { OwnerField } from "./owner-field.tsx";
import { countOwners } from "./use-fleet-call.ts";

/** Sets one owner for the selected devices, or removes their owners. */
export function SetOwner({
	organizationId,
	selection,
}: {
	organizationId: string;
	selection: Selection<Device>;
}) {
	const [isOpen, setOpen] = useState(false);
	const [owner, setOwner] = useState<string | null>(null);
	const [isRemoving, setRemoving] = useState(false);
	const changed = useRef(new Set<string>());
	const isOne = selection.rows.length === 1;
	return (
		<>
			<Button
				size="compact-sm"
				variant="default"
				onClick={() => {
					setOwner(null);
					setRemoving(false);
					changed.current = new Set();
					setOpen(true);
				}}
			>
				Set the owner …
			</Button>
			{isOpen && (
				<BulkDialog
					title={`Set the owner of ${countDevices(selection.rows.length)}`}
					action={
						isRemoving
							? `Remove the ${isOne ? "owner" : "owners"}`
							: "Set the owner"
					}
					done={() =>
						`${countOwners(changed.current.size)} ${isRemoving ? "removed" : "set"}.`
					}
					kept={(device) => ({
						...device,
						owner_id: isRemoving ? null : owner,
					})}
					undo={(devices) => ({
						rows: devices.filter(({ id }) => changed.current.has(id)),
						request: ({ id, owner_id }) =>
							call("setDeviceOwners", {
								organization_id: organizationId,
								owners: [{ device: id, owner: owner_id }],
							}),
						done: (count) =>
							`${countDevices(count)} ${count === 1 ? "has its" : "have their"} former owner again`,
					})}
					selection={selection}
					parts={{
						size: MAX_DEVICES_OF_CALL,
						request:
							owner === null && !isRemoving
								? undefined
								: async (part) => {
										const { changed_device_ids: ids } = await call(
											"setDeviceOwners",
											{
												organization_id: organizationId,
												owners: part.map(({ id }) => ({
													device: id,
													owner: isRemoving ? null : owner,
												})),
											},
										);
										for (const id of ids) changed.current.add(id);
									},
					}}
					onClose={() => setOpen(false)}
				>
					{!isRemoving && (
						<OwnerField
							value={owner}
							description={`The person who uses ${isOne ? "it" : "them"}.`}
							onChange={setOwner}
						/>
					)}
					<Checkbox
						label={
							isOne
								? "Remove the owner of the selected device"
								: "Remove the owners of the selected devices"
						}
						checked={isRemoving}
						onChange={({ currentTarget }) => setRemoving(currentTarget.checked)}
					/>
				</BulkDialog>
			)}
		</>
	);
}
