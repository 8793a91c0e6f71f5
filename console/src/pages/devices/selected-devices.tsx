import { Button, Text } from "@mantine/core";
import { useRef, useState } from "react";
import { MAX_DEVICES_OF_CALL } from "../../../../src/devices/fleet-limits.ts";
import { BulkBar } from "../../parts/bulk-bar.tsx";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import {
	countDevices,
	type Device,
} from "../../parts/devices/device-words.tsx";
import { ExportSelected } from "../../parts/records/export-button.tsx";
import { LinkSelected } from "../../parts/records/link-selected.tsx";
import type { Matching, Selection } from "../../parts/selection.ts";
import { GroupOfSelected } from "./group-of-selected.tsx";
import { linksInWords, requestLinks } from "./my-devices-link.tsx";
import { ReissueTokens } from "./reissue-tokens.tsx";
import {
	mayReplace,
	predecessorsOf,
	Replacements,
	requestReplacements,
	withOwnPredecessor,
} from "./replacements.tsx";
import { SetOwner } from "./set-owner.tsx";
import {
	changesInWords,
	type FleetCall,
	requestForDevices,
} from "./use-fleet-call.ts";

interface Action {
	operation: FleetCall | "replaceDevices" | "sendMyDevicesLinks";
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
			"The earlier record of each machine is revoked and keeps its history. The new one becomes active with its next heartbeat, and takes over the groups, the exceptions, and the name and the owner unless it has its own. Devices that wait for approval are left out: approve them first.",
		done: "Devices replaced",
		isFor: mayReplace,
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
	matching,
	mayAdmin,
}: {
	organizationId: string;
	selection: Selection<Device>;
	matching: Matching<Device> | undefined;
	/** Only administrators do more than change groups and owners. */
	mayAdmin: boolean;
}) {
	const [asked, setAsked] = useState<Action | null>(null);
	const devices = selection.rows;
	const concerned = asked ? devices.filter(asked.isFor) : [];
	const offered = mayAdmin
		? ACTIONS.filter(({ isFor }) => devices.some(isFor))
		: [];
	return (
		<BulkBar selection={selection} matching={matching}>
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
				counted={countDevices}
			/>
			<ExportSelected
				operation="listDevices"
				organizationId={organizationId}
				selection={selection}
			/>
			<GroupOfSelected organizationId={organizationId} devices={devices} />
			<SetOwner organizationId={organizationId} selection={selection} />
			{mayAdmin && (
				<ReissueTokens organizationId={organizationId} selection={selection} />
			)}
			{asked && (
				<Act
					action={asked}
					organizationId={organizationId}
					selection={selection}
					concerned={concerned}
					onClose={() => setAsked(null)}
				/>
			)}
		</BulkBar>
	);
}

/** Asks before an action, and takes it for the devices that it concerns. */
function Act({
	action: { operation, label, title, consequence, done, isDangerous },
	organizationId,
	selection,
	concerned,
	onClose,
}: {
	action: Action;
	organizationId: string;
	selection: Selection<Device>;
	concerned: readonly Device[];
	onClose: () => void;
}) {
	/** The sums of all answers. */
	const sum = useRef({ changed: 0, unchanged: 0 });
	const isLinks = operation === "sendMyDevicesLinks";
	// The dialog keeps showing these records, even if the list is loaded again.
	const [shown] = useState(() => predecessorsOf(concerned));
	// The link of an owner shows all of their devices, so one of them is enough.
	const rows = isLinks
		? oneOfEachOwner(concerned)
		: operation === "replaceDevices"
			? withOwnPredecessor(concerned, shown)
			: concerned;
	const request = (ids: readonly string[]) => {
		if (operation === "sendMyDevicesLinks") {
			return requestLinks(organizationId, ids);
		}
		return operation === "replaceDevices"
			? requestReplacements(organizationId, ids, shown)
			: requestForDevices(operation, organizationId, ids);
	};
	return (
		<BulkDialog
			title={title(countDevices(isLinks ? concerned.length : rows.length))}
			action={label}
			isDangerous={isDangerous}
			selection={selection}
			rows={rows}
			parts={{
				size: MAX_DEVICES_OF_CALL,
				request: async (part) => {
					const ids = part.map(({ id }) => id);
					const answer = await request(ids);
					sum.current.changed += answer.changed;
					sum.current.unchanged += answer.unchanged;
				},
			}}
			done={() => {
				const { changed, unchanged } = sum.current;
				return isLinks
					? linksInWords(changed, unchanged)
					: changesInWords(done, changed, unchanged);
			}}
			onClose={onClose}
		>
			<Text>{consequence}</Text>
			{operation === "replaceDevices" && (
				<Replacements selected={concerned} devices={rows} shown={shown} />
			)}
		</BulkDialog>
	);
}

function oneOfEachOwner(devices: readonly Device[]): readonly Device[] {
	return [...new Map(devices.map((one) => [one.owner_id, one])).values()];
}
