import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { call, type OperationName } from "../../api.ts";
import { forgetReadings } from "../../queries.ts";

/** Operations that change a list of devices and take nothing else. */
export type FleetCall = Extract<
	OperationName,
	| "approveDevices"
	| "rejectDevices"
	| "confirmDeviceOwners"
	| "replaceDevices"
	| "revokeDevices"
>;

/**
 * Calls an operation for a list of devices, loads what is on the screen again, and says how many
 * devices the operation changed.
 */
export async function callForDevices(
	operation: FleetCall,
	organizationId: string,
	ids: readonly string[],
	done: string,
): Promise<void> {
	const input = { organization_id: organizationId, device_ids: [...ids] };
	const { unchanged_device_ids: unchanged } = await call(operation, input);
	await forgetReadings();
	const changed = ids.length - unchanged.length;
	notifications.show({
		message:
			unchanged.length === 0
				? `${done}: ${changed}.`
				: `${done}: ${changed}. It did not concern ${unchanged.length} of the selected devices.`,
	});
}

/** Returns a mutation for one device. */
export function useFleetCall(
	operation: FleetCall,
	device: { id: string; organization_id: string },
	done: string,
) {
	return useMutation({
		mutationFn: () =>
			callForDevices(operation, device.organization_id, [device.id], done),
	});
}
