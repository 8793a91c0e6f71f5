import type { z } from "zod";
import type { DeviceConflict } from "../devices/conflicts.ts";
import type { Device } from "../devices/device-record.ts";
import { notReportingAdvice } from "../devices/not-reporting.ts";
import type { getDevice } from "../devices/read-operations.ts";
import {
	describeFix,
	evidenceLine,
} from "../devices/remediation/describe-fix.ts";
import { COMMAND } from "../version.ts";
import { printable, table } from "./output.ts";

const MAX_EVIDENCE = 160;

export function describeDevices(devices: Device[]): string {
	if (devices.length === 0) {
		return `No devices yet. Create one: ${COMMAND} device create --org <id> --name <device>`;
	}
	return table(
		[
			"ID",
			"NAME",
			"STATUS",
			"FRESHNESS",
			"REPORTS",
			"HOSTNAME",
			"PLATFORM",
			"CONFLICTS",
		],
		devices.map((device) => [
			device.id,
			device.name ?? "",
			device.status,
			device.status === "REVOKED" ? "" : device.freshness,
			device.reporting === "NOT_REPORTING" ? "no" : "",
			device.hostname ?? "",
			device.platform ?? "",
			device.conflicts.join(", "),
		]),
	);
}

export function describeDevice(device: Device): string {
	const facts: [string, string | null][] = [
		["device", device.id],
		["name", device.name],
		["owner", device.owner_id],
		[
			"status",
			device.status === "REVOKED"
				? device.status
				: `${device.status}, ${device.freshness}`,
		],
		["last seen", device.last_seen_at],
		["last report", device.last_reported_at],
		["problem", notReportingAdvice(device)],
		["hostname", device.hostname],
		["platform", device.platform],
		["os version", device.os_version],
		["agent", device.agent_version],
		["hardware", device.hardware_uuid],
	];
	return facts
		.filter(([, value]) => value !== null)
		.map(([label, value]) => `${label.padEnd(12)}${printable(value ?? "")}`)
		.join("\n");
}

export function describeConflict(conflict: DeviceConflict): string {
	const machine = printable(
		`${conflict.hostname} (${conflict.platform}, hardware ${conflict.hardware_uuid})`,
	);
	const when = `${conflict.occurrences} times, last ${conflict.last_seen_at}`;
	return conflict.kind === "DUPLICATE_HARDWARE"
		? `CONFLICT duplicate hardware: ${machine} tries to be this device, but ${conflict.other_device_id} already has that hardware; ${when}.
  If the same machine was enrolled again, revoke the older device. Otherwise two machines share a cloned hardware id.`
		: `CONFLICT possible clone: ${machine} reports with this device's key; ${when}.
  If its hardware was replaced, enroll it again. Otherwise the key was copied: revoke the device.`;
}

type Posture = z.output<typeof getDevice.output>["device"]["postures"][number];

export function describePostures(postures: Posture[]): string {
	if (postures.length === 0) return "No posture reports yet.";
	const states = table(
		["CHECK", "STATUS", "SINCE", "OBSERVED", "EVIDENCE"],
		postures.map((posture) => [
			posture.check_name ?? posture.check_key,
			posture.status,
			posture.since,
			posture.observed_at,
			describeEvidence(posture),
		]),
	);
	const fixes = postures
		.map((posture) => describeFix(posture, printable))
		.filter((fix) => fix !== undefined);
	return [states, ...fixes].join("\n\n");
}

function describeEvidence(posture: Posture): string {
	if (posture.evidence_is_omitted) return "(too long, see the report)";
	const line = printable(evidenceLine(posture.evidence ?? {}));
	return line.length > MAX_EVIDENCE ? `${line.slice(0, MAX_EVIDENCE)}…` : line;
}
