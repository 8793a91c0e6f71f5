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

/** The words of an action on one device, or on several ones. */
interface Words {
	/** The label of the button that asks, and of the one that confirms. */
	label: string;
	title: string;
	consequence: string;
}

interface Action {
	operation: FleetCall | "replaceDevices" | "sendMyDevicesLinks";
	/** `count` is, for example, "3 devices", and `isOne` whether the nouns are singular. */
	words: (count: string, isOne: boolean) => Words;
	isFor: (device: Device) => boolean;
	isDangerous: boolean;
}

/** Offers actions on several devices at once. An action is offered if it concerns one of them. */
const ACTIONS: Action[] = [
	{
		operation: "approveDevices",
		words: (count, isOne) => ({
			label: "Approve",
			title: `Approve ${count}?`,
			consequence: isOne
				? "It becomes active with its next heartbeat, and its reports count."
				: "They become active with their next heartbeat, and their reports count.",
		}),
		isFor: ({ awaits_approval }) => awaits_approval,
		isDangerous: false,
	},
	{
		operation: "rejectDevices",
		words: (count, isOne) => ({
			label: "Reject",
			title: `Reject ${count}?`,
			consequence: isOne
				? "It is revoked: its key stops working with the next request."
				: "They are revoked: their keys stop working with the next request.",
		}),
		isFor: ({ awaits_approval }) => awaits_approval,
		isDangerous: true,
	},
	{
		operation: "confirmDeviceOwners",
		words: (count, isOne) => ({
			label: `Confirm the claimed ${isOne ? "owner" : "owners"}`,
			title: `Confirm the claimed ${isOne ? "owner" : "owners"} of ${count}?`,
			consequence: `The person whom the installer named becomes the owner of ${isOne ? "the" : "each"} device.`,
		}),
		isFor: ({ claimed_owner_id }) => claimed_owner_id !== null,
		isDangerous: false,
	},
	{
		operation: "replaceDevices",
		words: (count, isOne) => ({
			label: `Same ${isOne ? "device" : "devices"}, set up again`,
			title: `Replace the earlier ${isOne ? "record" : "records"} of ${count}?`,
			consequence: `The earlier record of ${isOne ? "the" : "each"} machine is revoked and keeps its history. The new one becomes active with its next heartbeat, and takes over the groups, the exceptions, and the name and the owner unless it has its own.`,
		}),
		isFor: mayReplace,
		isDangerous: true,
	},
	{
		operation: "sendMyDevicesLinks",
		words: (count, isOne) => ({
			label: `Send the ${isOne ? "owner" : "owners"} a link`,
			title: `Send the ${isOne ? "owner" : "owners"} of ${count} a link?`,
			consequence: `${isOne ? "The" : "Each"} owner gets one mail. Its link shows them their own devices, what fails and how to fix it, without an account.`,
		}),
		isFor: ({ owner_id, status }) => owner_id !== null && status !== "REVOKED",
		isDangerous: false,
	},
	{
		operation: "revokeDevices",
		words: (count, isOne) => ({
			label: "Revoke",
			title: `Revoke ${count}?`,
			consequence: isOne
				? "Its key and its open enrollment token stop working with the next request. Its history stays as evidence."
				: "Their keys and open enrollment tokens stop working with the next request. Their history stays as evidence.",
		}),
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
	const offered = (mayAdmin ? ACTIONS : [])
		.map((action) => ({ action, concerned: devices.filter(action.isFor) }))
		.filter(({ concerned }) => concerned.length > 0);
	return (
		<BulkBar selection={selection} matching={matching}>
			{offered.map(({ action, concerned }) => (
				<Button
					key={action.operation}
					size="compact-sm"
					variant="default"
					onClick={() => setAsked(action)}
				>
					{wordsOf(action, concerned).label} …
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
					concerned={devices.filter(asked.isFor)}
					onClose={() => setAsked(null)}
				/>
			)}
		</BulkBar>
	);
}

/** The link of an owner shows all of their devices, so the words count the owners. */
function wordsOf({ operation, words }: Action, devices: readonly Device[]) {
	const named =
		operation === "sendMyDevicesLinks" ? oneOfEachOwner(devices) : devices;
	return words(countDevices(devices.length), named.length === 1);
}

/** Asks before an action, and takes it for the devices that it concerns. */
function Act({
	action,
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
	const { operation, isDangerous } = action;
	const isLinks = operation === "sendMyDevicesLinks";
	// The dialog keeps showing these records, even if the list is loaded again.
	const [shown] = useState(() => predecessorsOf(concerned));
	// The link of an owner shows all of their devices, so one of them is enough.
	const rows = isLinks
		? oneOfEachOwner(concerned)
		: operation === "replaceDevices"
			? withOwnPredecessor(concerned, shown)
			: concerned;
	const { label, title, consequence } = wordsOf(
		action,
		isLinks ? concerned : rows,
	);
	const isOneWaiting = selection.rows.some((device) => device.awaits_approval);
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
			title={title}
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
				return operation === "sendMyDevicesLinks"
					? linksInWords(changed, unchanged)
					: changesInWords(operation, changed, unchanged);
			}}
			onClose={onClose}
		>
			<Text>{consequence}</Text>
			{operation === "replaceDevices" && isOneWaiting && (
				<Text>
					Devices that wait for approval are left out: approve them first.
				</Text>
			)}
			{operation === "replaceDevices" && (
				<Replacements selected={concerned} devices={rows} shown={shown} />
			)}
		</BulkDialog>
	);
}

function oneOfEachOwner(devices: readonly Device[]): readonly Device[] {
	return [...new Map(devices.map((one) => [one.owner_id, one])).values()];
}
