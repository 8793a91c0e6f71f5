import { Alert, Button, Group, Text } from "@mantine/core";
import { IconShieldQuestion, IconUserQuestion } from "@tabler/icons-react";
import { useMutation, useQuery } from "@tanstack/react-query";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { ClaimAnswer } from "../../parts/devices/claim-answer.tsx";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { forgetReadings, operationQuery } from "../../queries.ts";
import { useFleetCall } from "./use-fleet-call.ts";

/** Shows that a device waits for approval. Administrators approve or reject it. */
export function Approval({ device }: { device: Device }) {
	const { mayAdmin } = useOrganization();
	const approving = useFleetCall("approveDevices", device);
	const rejecting = useFleetCall("rejectDevices", device);
	if (!device.awaits_approval) return null;
	const error = approving.error ?? rejecting.error;
	return (
		<Alert
			color="orange"
			variant="outline"
			icon={<IconShieldQuestion aria-hidden />}
			title="Waits for approval"
		>
			<Text size="sm">
				The device enrolled with the key “{device.enrollment_key_name}”, which
				requires approval.{" "}
				{device.hostname
					? "The details below are what it says about itself."
					: "It has not said anything about itself yet."}{" "}
				Its reports do not count until an administrator approves it.
			</Text>
			{error && <ErrorState error={error} title="The action failed" />}
			{mayAdmin && (
				<Group mt="sm">
					<Button
						size="xs"
						loading={approving.isPending}
						onClick={() => approving.mutate()}
					>
						Approve
					</Button>
					<Button
						size="xs"
						variant="default"
						loading={rejecting.isPending}
						onClick={() => rejecting.mutate()}
					>
						Reject
					</Button>
				</Group>
			)}
		</Alert>
	);
}

/**
 * Shows the owner that the installer named. Administrators confirm or turn down the claim, and so
 * does that person if the device has no owner.
 */
export function ClaimedOwner({ device }: { device: Device }) {
	const { mayAdmin, day } = useOrganization();
	const { data: overview } = useQuery({
		...operationQuery("getOverview", {
			organization_id: device.organization_id,
		}),
		enabled: !day && device.claimed_owner_id !== null,
	});
	const confirming = useFleetCall("confirmDeviceOwners", device);
	const turningDown = useMutation({
		mutationFn: async () => {
			await call("updateDevice", { id: device.id, owner_id: device.owner_id });
			await forgetReadings();
		},
	});
	if (device.claimed_owner_id === null) return null;
	const error = confirming.error ?? turningDown.error;
	const isAsked =
		!day &&
		device.claimed_owner_id === overview?.mine?.person_id &&
		device.owner_id === null &&
		!device.awaits_approval &&
		(device.name ?? device.hostname ?? device.serial_number) !== null &&
		device.status !== "REVOKED";
	return (
		<Alert
			color="blue"
			variant="outline"
			icon={<IconUserQuestion aria-hidden />}
			title={
				isAsked
					? "Is this device yours?"
					: `Does it belong to ${device.claimed_owner_name}?`
			}
		>
			<Text size="sm" mb={isAsked ? "sm" : 0}>
				The installer of the agent named {isAsked ? "you" : "this person"}.
				Nobody has confirmed it.
				{isAsked && " Compare the serial number before you answer."}
			</Text>
			{isAsked && <ClaimAnswer id={device.id} name={deviceName(device)} />}
			{error && <ErrorState error={error} title="The action failed" />}
			{mayAdmin && !isAsked && (
				<Group mt="sm">
					<Button
						size="xs"
						loading={confirming.isPending}
						onClick={() => confirming.mutate()}
					>
						Confirm the owner
					</Button>
					<Button
						size="xs"
						variant="default"
						loading={turningDown.isPending}
						onClick={() => turningDown.mutate()}
					>
						It does not
					</Button>
				</Group>
			)}
		</Alert>
	);
}
