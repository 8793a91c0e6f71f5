import { Alert } from "@mantine/core";
import { IconAlertTriangle } from "@tabler/icons-react";
import { notReportingAdvice } from "../../../../src/devices/not-reporting.ts";
import {
	type Device,
	NOT_REPORTING,
} from "../../parts/devices/device-words.tsx";

/** Says what to do about a device that sends heartbeats but no reports. */
export function NotReporting({ device }: { device: Device }) {
	const advice = notReportingAdvice(device);
	return (
		advice && (
			<Alert
				color="orange"
				variant="outline"
				icon={<IconAlertTriangle aria-hidden />}
				title={NOT_REPORTING.label}
			>
				{advice}
			</Alert>
		)
	);
}
