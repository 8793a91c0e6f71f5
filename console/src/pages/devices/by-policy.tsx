import { Text } from "@mantine/core";
import { type Device, isCurrent } from "../../parts/devices/device-words.tsx";
import { UntilExceptionEnd } from "../../parts/devices/exception-end.tsx";
import { DateTime } from "../../parts/time.tsx";

/**
 * Says what the device policy makes of the status, unless that is obvious. A device that is not
 * current says above the checks that it is silent.
 */
export function ByPolicy({
	posture,
	device,
}: {
	posture: Device["postures"][number];
	device: Device;
}) {
	const { check_state: state, in_grace_until: until, status } = posture;
	if (state === "IN_GRACE" && until) {
		return (
			<Text size="xs">
				in grace until <DateTime value={until} />
			</Text>
		);
	}
	if (state === "FAILING") return <Text size="xs">past grace</Text>;
	if (state === "EXCEPTED") {
		return (
			<Text size="xs">
				excepted, <UntilExceptionEnd value={posture.excepted_until} />
			</Text>
		);
	}
	if (state === "STALE" && isCurrent(device)) {
		return <Text size="xs">silent for longer than the policy allows</Text>;
	}
	return state === "NOT_APPLICABLE" && status !== "NOT_APPLICABLE" ? (
		<Text size="xs">not required by the policy</Text>
	) : null;
}
