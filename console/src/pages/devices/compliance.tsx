import { Text } from "@mantine/core";
import type { ReactNode } from "react";
import {
	CHECK_STATES,
	type CheckState,
	complianceOf,
	type Device,
	isCurrent,
} from "../../parts/devices/device-words.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { DateTime } from "../../parts/time.tsx";

/** States that keep a check from being proved. */
const UNPROVED = [
	"UNKNOWN",
	"STALE",
	"NOT_REPORTED",
] as const satisfies CheckState[];

/**
 * Shows what the policy makes of the device, why, and how many checks are in each state that is
 * open. Shows the checks to fix first, even if the device as a whole is not proved.
 */
export function Compliance({ device }: { device: Device }) {
	const { postures, missing_checks: missing } = device;
	const state = complianceOf(device);
	if (!state) return null;
	const inState = (wanted: CheckState) =>
		postures.filter(({ check_state }) => check_state === wanted);
	const count = (wanted: CheckState) =>
		inState(wanted).length + (wanted === "NOT_REPORTED" ? missing.length : 0);
	const isProved = UNPROVED.every((wanted) => count(wanted) === 0);
	const others = [...UNPROVED, "EXCEPTED" as const]
		// The state of a device that is not current says that its checks are silent.
		.filter((wanted) => wanted !== "STALE" || isCurrent(device))
		.filter((wanted) => count(wanted) > 0)
		.map((wanted) => `${count(wanted)} ${CHECK_STATES[wanted].toLowerCase()}`);
	return (
		<>
			<StatusBadge {...state} />
			{count("FAILING") > 0 && (
				<Line>{fail(count("FAILING"))}, past grace</Line>
			)}
			<InGrace postures={inState("IN_GRACE")} />
			{others.length > 0 && <Line>{others.join(", ")}</Line>}
			{state.means && isCurrent(device) && (
				<Line>
					{state.label}: {isProved ? "no required check passes" : state.means}
				</Line>
			)}
		</>
	);
}

/** Says by when the checks that fail in grace have to be fixed. */
function InGrace({ postures }: { postures: Device["postures"] }) {
	const ends = postures.flatMap(({ in_grace_until }) => in_grace_until ?? []);
	const [first, ...later] = ends.sort(
		(one, other) => Date.parse(one) - Date.parse(other),
	);
	if (!first) return null;
	return (
		<Line>
			{fail(postures.length)}, in grace{" "}
			{later.some((end) => end !== first) && "the first "}until{" "}
			<DateTime value={first} />
		</Line>
	);
}

const fail = (count: number) => `${count} ${count === 1 ? "fails" : "fail"}`;

function Line({ children }: { children: ReactNode }) {
	return (
		<Text span size="xs" c="dimmed" display="block">
			{children}
		</Text>
	);
}
