import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { useOrganization } from "../../organization.ts";
import type { Device } from "../../parts/devices/device-words.tsx";
import { ReissueToken } from "./reissue-token.tsx";
import { RevokeDevice } from "./revoke-device.tsx";

/** Shows administrators the buttons that end the conflict of a possible clone. */
export function CloneActions({ device }: { device: Device }) {
	const { mayAdmin } = useOrganization();
	const [dialog, setDialog] = useState<"reissue" | "revoke" | null>(null);
	const close = () => setDialog(null);
	if (!mayAdmin || device.status === "REVOKED") return null;
	return (
		<>
			<Group gap="xs">
				<Button size="xs" onClick={() => setDialog("reissue")}>
					Reissue the token …
				</Button>
				<Button size="xs" variant="default" onClick={() => setDialog("revoke")}>
					Revoke the device …
				</Button>
			</Group>
			{dialog === "reissue" && <ReissueToken device={device} onClose={close} />}
			<RevokeDevice
				device={device}
				opened={dialog === "revoke"}
				onClose={close}
			/>
		</>
	);
}
