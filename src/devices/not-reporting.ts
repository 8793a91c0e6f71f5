/** Returns what to do if the device sends heartbeats but no reports. Returns null for others. */
export function notReportingAdvice(device: {
	freshness: string;
	reporting: string | null;
}): string | null {
	if (device.reporting !== "NOT_REPORTING" || device.freshness !== "ONLINE") {
		return null;
	}
	return "This device sends heartbeats but has sent no report for two posture intervals. Run `assay-agent status` on it. If it has probo-agent, run its install command again, because a rejected heartbeat may have interrupted the installation.";
}
