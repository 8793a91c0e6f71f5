import { Alert, Button, List, Stack, Text } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { type ReactNode, useState } from "react";
import type { OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { Confirm } from "../../parts/confirm.tsx";
import {
	conflictLabel,
	platformLabel,
} from "../../parts/devices/device-words.tsx";
import { TextLink } from "../../parts/links.tsx";
import { DateTime } from "../../parts/time.tsx";
import {
	mayReplace,
	type Predecessors,
	predecessorsOf,
	Replacements,
	requestReplacements,
} from "./replacements.tsx";
import { showChanges } from "./use-fleet-call.ts";

type Found = OutputOf<"getDevice">;
type Conflict = Found["conflicts"][number];

/** Shows the conflicts of a device, and what to do about them. */
export function Conflicts({
	found,
	cloneActions,
}: {
	found: Found;
	/** Buttons that end the conflict of a possible clone. */
	cloneActions?: ReactNode;
}) {
	return found.conflicts.map((conflict) => (
		<Alert
			key={conflict.kind}
			color="orange"
			variant="outline"
			icon={<IconAlertTriangle aria-hidden />}
			title={conflictLabel(conflict.kind)}
		>
			<Stack gap="xs">
				{conflict.kind === "POSSIBLE_CLONE" ? (
					<PossibleClone conflict={conflict} actions={cloneActions} />
				) : (
					<DuplicateHardware conflict={conflict} found={found} />
				)}
				<Text size="xs" c="dimmed">
					Seen {conflict.occurrences.toLocaleString()}{" "}
					{conflict.occurrences === 1 ? "time" : "times"}, last{" "}
					<DateTime value={conflict.last_seen_at} />. Hardware UUID{" "}
					{conflict.hardware_uuid}.
				</Text>
			</Stack>
		</Alert>
	));
}

function PossibleClone({
	conflict,
	actions,
}: {
	conflict: Conflict;
	actions: ReactNode;
}) {
	return (
		<>
			<Text size="sm">
				The key of this device was used on other hardware:{" "}
				<strong>{conflict.hostname}</strong> ({platformLabel(conflict.platform)}
				). The identity of that hardware was not stored. The hostname and
				versions below come from the machine that reported last.
			</Text>
			<List size="sm" spacing={4}>
				<List.Item>
					If the hardware was replaced, reissue the token and enroll the device
					again. This also resolves the conflict.
				</List.Item>
				<List.Item>
					If not, the key was copied, for example with a cloned disk. Revoke the
					device, find the other machine, and enroll each machine with its own
					token.
				</List.Item>
			</List>
			{actions}
		</>
	);
}

function DuplicateHardware({
	conflict,
	found,
}: {
	conflict: Conflict;
	found: Found;
}) {
	const { mayAdmin } = useOrganization();
	// The dialog is about the record that it named when it opened, also if the page is loaded again.
	const [asked, setAsked] = useState<Predecessors | null>(null);
	const { other_device_id: other } = conflict;
	const { id, organization_id, awaits_approval } = found.device;
	const nameIn = (shown: Predecessors) =>
		shown.get(id)?.name ?? "another device";
	const present = predecessorsOf([found.device]);
	const name = nameIn(present);
	return (
		<>
			<Text size="sm">
				<strong>{conflict.hostname}</strong> ({platformLabel(conflict.platform)}
				) asked to become this device, but its hardware belongs to{" "}
				{other ? (
					<TextLink
						to="/o/$org/devices/$id"
						params={{ org: found.device.organization_id, id: other }}
						inherit
						underline="always"
					>
						{name}
					</TextLink>
				) : (
					name
				)}
				, which is in service. This device therefore stays pending.
			</Text>
			<List size="sm" spacing={4}>
				<List.Item>
					If it is the same machine, say so here. The other record is revoked
					and keeps its history. {takesOver(found.device)} It becomes active
					with its next heartbeat.
				</List.Item>
				<List.Item>
					If it is another machine, such as a copied virtual machine, give it
					its own hardware UUID.
				</List.Item>
			</List>
			{awaits_approval && (
				<Text size="sm">
					This device waits for approval. Approve it first if it is the same
					machine.
				</Text>
			)}
			{mayAdmin && mayReplace(found.device) && (
				<div>
					<Button size="xs" onClick={() => setAsked(present)}>
						Same device, set up again …
					</Button>
				</div>
			)}
			<Confirm
				opened={asked !== null}
				onClose={() => setAsked(null)}
				title={`Revoke the record of ${nameIn(asked ?? present)}?`}
				action="Same device, set up again"
				onConfirm={async () =>
					showChanges(
						"replaceDevices",
						await requestReplacements(organization_id, [id], asked ?? present),
					)
				}
			>
				<Replacements
					selected={[found.device]}
					devices={[found.device]}
					shown={asked ?? present}
				/>
				The earlier record keeps its history and becomes the predecessor of this
				device. Its key stops working with the next request.{" "}
				{takesOver(found.device)} It joins the groups that list the earlier
				record, and the exceptions go on for it.
			</Confirm>
		</>
	);
}

/** Says what a device takes over from its earlier record: only what it does not have itself. */
function takesOver({ name, owner_id }: Found["device"]): string {
	if (name && owner_id) return "This one keeps its own name and owner.";
	if (name) return "This one keeps its own name and takes over the owner.";
	if (owner_id) return "This one keeps its own owner and takes over the name.";
	return "This one takes over the name and the owner.";
}
