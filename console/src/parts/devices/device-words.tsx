import {
	MISSING_DAYS,
	PLATFORM_NAMES,
	type Platform,
} from "../../../../src/devices/terms.ts";
import type { OutputOf } from "../../api.ts";
import { inWords } from "../names-in-words.ts";
import { StatusBadge, type Tone } from "../status-badge.tsx";
import { nameOrUnnamed, namesApart } from "./device-name.ts";

export type Device = OutputOf<"listDevices">["devices"][number];
export type CheckState = NonNullable<Device["postures"][number]["check_state"]>;
export type PostureStatus = Device["postures"][number]["status"];

const POSTURES: Record<PostureStatus, { label: string; tone: Tone }> = {
	PASS: { label: "Pass", tone: "good" },
	FAIL: { label: "Fail", tone: "bad" },
	UNKNOWN: { label: "Unknown", tone: "warning" },
	NOT_APPLICABLE: { label: "Not applicable", tone: "neutral" },
};

export const FRESHNESS = {
	ONLINE: { label: "Online", tone: "good", means: "recent heartbeat" },
	STALE: { label: "Stale", tone: "warning", means: "no recent heartbeat" },
	MISSING: {
		label: "Missing",
		tone: "bad",
		means: `no heartbeat for ${MISSING_DAYS} days or more`,
	},
	NEVER: { label: "Never seen", tone: "neutral", means: "no heartbeat yet" },
} as const satisfies Record<
	Device["freshness"],
	{ label: string; tone: Tone; means: string }
>;

export const STATUSES = {
	PENDING: { label: "Pending", tone: "active", means: "not enrolled yet" },
	ACTIVE: { label: "Active", tone: "good", means: "enrolled" },
	REVOKED: { label: "Revoked", tone: "neutral", means: "out of service" },
} as const satisfies Record<
	Device["status"],
	{ label: string; tone: Tone; means: string }
>;

export const CHECK_STATES = {
	// A check that is in grace fails too, so this is not called "failing".
	FAILING: "Past grace",
	UNKNOWN: "Unknown",
	STALE: "Silent",
	NOT_REPORTED: "Not reported",
	IN_GRACE: "In grace",
	EXCEPTED: "Excepted",
	PASSING: "Passing",
	NOT_APPLICABLE: "Not applicable",
} as const satisfies Record<CheckState, string>;

export const COMPLIANCES = {
	NONCOMPLIANT: { label: "Noncompliant", tone: "bad" },
	UNKNOWN: {
		label: "Not proved",
		tone: "warning",
		means: "a required check is unknown, silent or not reported",
	},
	IN_GRACE: { label: "In grace", tone: "active" },
	COMPLIANT: { label: "Compliant", tone: "good" },
} as const satisfies Record<
	NonNullable<Device["compliance"]>,
	{ label: string; tone: Tone; means?: string }
>;

/**
 * Shown instead of "Compliant" if an exception excuses the device from a check. The tools return it
 * as COMPLIANT with `compliant_by_exception`.
 */
export const BY_EXCEPTION = {
	label: "Compliant by exception",
	tone: "good",
} as const satisfies { label: string; tone: Tone };

/** The state of a device as a whole in words, or undefined for a device that is not ACTIVE. */
export function complianceOf({
	compliance,
	compliant_by_exception: isExcused,
}: Pick<Device, "compliance" | "compliant_by_exception">):
	| { label: string; tone: Tone; means?: string }
	| undefined {
	if (!compliance) return undefined;
	return isExcused ? BY_EXCEPTION : COMPLIANCES[compliance];
}

/**
 * Returns, for example, "9 fail, 2 of them excepted". `excepted` is how many of `count` an exception
 * excuses.
 */
export function withExcepted(
	count: number,
	word: string,
	excepted: number,
): string {
	const words = `${count.toLocaleString()} ${word}`;
	if (excepted === 0) return words;
	if (excepted < count) {
		return `${words}, ${excepted.toLocaleString()} of them excepted`;
	}
	return count === 1 ? `${words}, excepted` : `${words}, all excepted`;
}

export function platformLabel(platform: string): string {
	return Object.hasOwn(PLATFORM_NAMES, platform)
		? PLATFORM_NAMES[platform as Platform]
		: platform;
}

/** Names a device. One that never was active has no name, but may have the hardware of another. */
export function deviceName(device: Device): string {
	return nameOrUnnamed(device.id, ownName(device));
}

/** Returns the names of devices in a list, by id. No two of them look alike. */
export const deviceNames = (devices: readonly Device[]) =>
	namesApart(devices.map((one) => ({ ...one, name: ownName(one) })));

function ownName({ name, hostname, duplicate_of }: Device): string | null {
	const earlier = duplicate_of?.name;
	return (
		name ??
		hostname ??
		(earlier ? `Unnamed device (hardware of ${earlier})` : null)
	);
}

/**
 * Returns true if a device's reports describe its current state. For all other devices, they
 * describe the last known state.
 */
export function isCurrent({ status, freshness, reporting }: Device): boolean {
	return (
		status === "ACTIVE" && freshness === "ONLINE" && reporting === "REPORTING"
	);
}

export function postureLabel(status: PostureStatus): string {
	return POSTURES[status].label;
}

/** Shows the state of a check. For a silent device, it never shows a pass but only "last known". */
export function PostureBadge({
	status,
	isCurrent,
}: {
	status: PostureStatus;
	isCurrent: boolean;
}) {
	const { label, tone } = POSTURES[status];
	return isCurrent ? (
		<StatusBadge tone={tone} label={label} />
	) : (
		<StatusBadge tone="neutral" label={`Last known: ${label.toLowerCase()}`} />
	);
}

/** The words for a device that sends heartbeats but no reports. */
export const NOT_REPORTING = {
	label: "Not reporting",
	tone: "warning",
} as const satisfies { label: string; tone: Tone };

function stateOf(device: Device): { label: string; tone: Tone } {
	if (device.status !== "ACTIVE") return STATUSES[device.status];
	if (device.freshness === "ONLINE" && device.reporting === "NOT_REPORTING") {
		return NOT_REPORTING;
	}
	// The heartbeats of a past day are not known.
	return "is_stale" in device ? STATUSES.ACTIVE : FRESHNESS[device.freshness];
}

/** Shows whether the device is in service and, if it is, whether it sends what it should. */
export function DeviceState({ device }: { device: Device }) {
	const { label, tone } = stateOf(device);
	return <StatusBadge tone={tone} label={label} />;
}

export function conflictLabel(kind: Device["conflicts"][number]): string {
	return inWords(kind);
}

export const countDevices = (count: number) =>
	count === 1 ? "1 device" : `${count.toLocaleString()} devices`;
