/** Returns what to do about a device that sends heartbeats but no reports, or null. */
export function notReportingAdvice(device: {
	freshness: string;
	reporting: string | null;
}): string | null {
	if (device.reporting !== "NOT_REPORTING" || device.freshness !== "ONLINE") {
		return null;
	}
	return "This device sends heartbeats but has sent no report for two posture intervals. Run `assay-agent status` on it. If it has probo-agent, whose installation may have been interrupted by a rejected heartbeat, run its install command again.";
}
