import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { call, type OperationName } from "../../api.ts";
import { forgetReadings } from "../../queries.ts";

/** Operations that change a list of devices and take nothing else. */
export type FleetCall = Extract<
	OperationName,
	"approveDevices" | "rejectDevices" | "confirmDeviceOwners" | "revokeDevices"
>;

/** Calls an operation for a list of devices. Returns how many of them it changed. */
export async function requestForDevices(
	operation: FleetCall,
	organizationId: string,
	ids: readonly string[],
): Promise<{ changed: number; unchanged: number }> {
	const input = { organization_id: organizationId, device_ids: [...ids] };
	const { unchanged_device_ids: unchanged } = await call(operation, input);
	return {
		changed: ids.length - unchanged.length,
		unchanged: unchanged.length,
	};
}

/** Says what was done, such as "Devices approved: 3.". */
export function changesInWords(
	done: string,
	changed: number,
	unchanged: number,
): string {
	const words = `${done}: ${changed.toLocaleString()}.`;
	return unchanged === 0
		? words
		: `${words} It did not concern ${unchanged.toLocaleString()} of the selected devices.`;
}

/** Loads what is on the screen again, and says how many devices an operation changed. */
export async function showChanges(
	done: string,
	{ changed, unchanged }: { changed: number; unchanged: number },
): Promise<void> {
	await forgetReadings();
	notifications.show({ message: changesInWords(done, changed, unchanged) });
}

/** Returns a mutation for one device. */
export function useFleetCall(
	operation: FleetCall,
	device: { id: string; organization_id: string },
	done: string,
) {
	return useMutation({
		mutationFn: async () =>
			showChanges(
				done,
				await requestForDevices(operation, device.organization_id, [device.id]),
			),
	});
}
