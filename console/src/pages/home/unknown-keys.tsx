import { Alert, Code } from "@mantine/core";
import { IconKey } from "@tabler/icons-react";
import { DateTime } from "../../parts/time.tsx";
import type { Overview } from "./due-work.tsx";

/** Warns about devices whose keys the service does not know, as after a restore. */
export function UnknownKeys({
	found,
}: {
	found: Overview["unknown_device_keys"];
}) {
	if (!found || found.knocking === 0) return null;
	const { knocking: devices, waits_until: until } = found;
	return (
		<Alert
			color="orange"
			variant="outline"
			icon={<IconKey aria-hidden />}
			py="xs"
		>
			{devices === 1
				? "1 device uses an unknown key"
				: `${devices.toLocaleString()} devices use unknown keys`}
			. They enrolled after the backup that was restored
			{until ? (
				<>
					, and they wait until <DateTime value={until} />
				</>
			) : null}
			. On the server, <Code>assay device unknown-keys</Code> lists them and{" "}
			<Code>assay device adopt</Code> accepts them.
		</Alert>
	);
}
