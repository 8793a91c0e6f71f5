import { call } from "../../api.ts";
import { Confirm } from "../../parts/confirm.tsx";
import { type Device, deviceName } from "../../parts/devices/device-words.tsx";
import { forgetReadings } from "../../queries.ts";

/** Explains what a revocation does, and revokes the device. */
export function RevokeDevice({
	device,
	...asked
}: {
	device: Device;
	opened: boolean;
	onClose: () => void;
}) {
	return (
		<Confirm
			{...asked}
			title={`Revoke ${deviceName(device)}?`}
			action="Revoke the device"
			onConfirm={async () => {
				await call("revokeDevice", { id: device.id });
				await forgetReadings();
			}}
		>
			The device's key and any open enrollment token stop working with the next
			request, and the device no longer counts in the fleet's figures. Its
			history stays as evidence. To bring the device back, reissue its token.
		</Confirm>
	);
}
