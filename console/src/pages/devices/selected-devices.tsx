import { Button } from "@mantine/core";
import { useState } from "react";
import { BulkBar } from "../../parts/bulk-bar.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ExportSelected } from "../../parts/records/export-button.tsx";
import { LinkSelected } from "../../parts/records/link-selected.tsx";
import type { Selection } from "../../parts/selection.ts";
import { GroupOfSelected } from "./group-of-selected.tsx";
import { sendLinks } from "./my-devices-link.tsx";
import { ReissueTokens } from "./reissue-tokens.tsx";
import { SetOwner } from "./set-owner.tsx";
import { callForDevices, type FleetCall } from "./use-fleet-call.ts";

interface Action {
	operation: FleetCall | "sendMyDevicesLinks";
	label: string;
	title: (count: string) => string;
	consequence: string;
	done: string;
	isFor: (device: Device) => boolean;
	isDangerous: boolean;
}

/** Offers actions on several devices at once. An action is offered if it concerns one of them. */
const ACTIONS: Action[] = [
	{
		operation: "approveDevices",
		label: "Approve",
		title: (count) => `Approve ${count}?`,
		consequence:
			"They become active with their next heartbeat, and their reports count.",
		done: "Devices approved",
		isFor: ({ awaits_approval }) => awaits_approval,
		isDangerous: false,
	},
	{
		operation: "rejectDevices",
		label: "Reject",
		title: (count) => `Reject ${count}?`,
		consequence:
			"They are revoked: their keys stop working with the next request.",
		done: "Devices rejected",
		isFor: ({ awaits_approval }) => awaits_approval,
		isDangerous: true,
	},
	{
		operation: "confirmDeviceOwners",
		label: "Confirm the claimed owners",
		title: (count) => `Confirm the claimed owners of ${count}?`,
		consequence:
			"The person whom the installer named becomes the owner of each device.",
		done: "Owners confirmed",
		isFor: ({ claimed_owner_id }) => claimed_owner_id !== null,
		isDangerous: false,
	},
	{
		operation: "replaceDevices",
		label: "Same devices, set up again",
		title: (count) => `Replace the earlier records of ${count}?`,
		consequence:
			"The earlier record of each machine is revoked and keeps its history. The new one becomes active with its next heartbeat, and takes over the groups, the exceptions, and the name and the owner unless it has its own.",
		done: "Devices replaced",
		isFor: ({ conflicts, status }) =>
			status === "PENDING" && conflicts.includes("DUPLICATE_HARDWARE"),
		isDangerous: true,
	},
	{
		operation: "sendMyDevicesLinks",
		label: "Send the owners a link",
		title: (count) => `Send the owners of ${count} a link?`,
		consequence:
			"Each owner gets one mail. Its link shows them their own devices, what fails and how to fix it, without an account.",
		done: "Links sent",
		isFor: ({ owner_id, status }) => owner_id !== null && status !== "REVOKED",
		isDangerous: false,
	},
	{
		operation: "revokeDevices",
		label: "Revoke",
		title: (count) => `Revoke ${count}?`,
		consequence:
			"Their keys and open enrollment tokens stop working with the next request. Their history stays as evidence.",
		done: "Devices revoked",
		isFor: ({ status }) => status !== "REVOKED",
		isDangerous: true,
	},
];

/** Shows how many devices are selected, and what the reader can do with them. */
export function SelectedDevices({
	organizationId,
	selection,
	mayAdmin,
}: {
	organizationId: string;
	selection: Selection<Device>;
	/** Only administrators do more than change groups and owners. */
	mayAdmin: boolean;
}) {
	const [asked, setAsked] = useState<Action | null>(null);
	const devices = selection.rows;
	const concerned = asked ? devices.filter(asked.isFor) : [];
	const count =
		concerned.length === 1 ? "1 device" : `${concerned.length} devices`;
	const offered = mayAdmin
		? ACTIONS.filter(({ isFor }) => devices.some(isFor))
		: [];
	return (
		<BulkBar selection={selection}>
			{offered.map((action) => (
				<Button
					key={action.operation}
					size="compact-sm"
					variant="default"
					onClick={() => setAsked(action)}
				>
					{action.label} …
				</Button>
			))}
			<LinkSelected
				organizationId={organizationId}
				selection={selection}
				counted={(total) =>
					total === 1 ? "1 device" : `${total.toLocaleString()} devices`
				}
			/>
			<ExportSelected
				operation="listDevices"
				organizationId={organizationId}
				selection={selection}
			/>
			<GroupOfSelected organizationId={organizationId} devices={devices} />
			<SetOwner
				organizationId={organizationId}
				devices={devices}
				onDone={selection.clear}
			/>
			{mayAdmin && (
				<ReissueTokens
					organizationId={organizationId}
					devices={devices}
					onDone={selection.clear}
				/>
			)}
			{asked && (
				<Confirm
					opened
					onClose={() => setAsked(null)}
					title={asked.title(count)}
					action={asked.label}
					isDangerous={asked.isDangerous}
					onConfirm={async () => {
						const ids = concerned.map(({ id }) => id);
						if (asked.operation === "sendMyDevicesLinks") {
							await sendLinks(organizationId, ids);
						} else {
							const { operation, done } = asked;
							await callForDevices(operation, organizationId, ids, done);
						}
						selection.clear();
					}}
				>
					{asked.consequence}
				</Confirm>
			)}
		</BulkBar>
	);
}
