import { notifications } from "@mantine/notifications";
import { useMutation } from "@tanstack/react-query";
import { call, type OperationName } from "../../api.ts";
import { countDevices } from "../../parts/devices/device-words.tsx";
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

/** What an operation has done with the devices that it changed. */
const DONE = {
	approveDevices: "approved",
	rejectDevices: "rejected",
	confirmDeviceOwners: "confirmed",
	replaceDevices: "replaced",
	revokeDevices: "revoked",
} as const satisfies Record<FleetCall | "replaceDevices", string>;

/** Says what was done, such as "3 devices approved.". */
export function changesInWords(
	operation: keyof typeof DONE,
	changed: number,
	unchanged: number,
): string {
	const counted =
		operation === "confirmDeviceOwners"
			? countOwners(changed)
			: countDevices(changed);
	const words = `${counted} ${DONE[operation]}.`;
	return unchanged === 0
		? words
		: `${words} ${countDevices(unchanged)} needed no change.`;
}

export const countOwners = (count: number) =>
	count === 1 ? "1 owner" : `${count.toLocaleString()} owners`;

/** Loads what is on the screen again, and says how many devices an operation changed. */
export async function showChanges(
	operation: keyof typeof DONE,
	{ changed, unchanged }: { changed: number; unchanged: number },
): Promise<void> {
	await forgetReadings();
	notifications.show({
		message: changesInWords(operation, changed, unchanged),
	});
}

/** Returns a mutation for one device. */
export function useFleetCall(
	operation: FleetCall,
	device: { id: string; organization_id: string },
) {
	return useMutation({
		mutationFn: async () =>
			showChanges(
				operation,
				await requestForDevices(operation, device.organization_id, [device.id]),
			),
	});
}
