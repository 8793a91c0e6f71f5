import type { FieldName } from "../../kinds.ts";
import type { Tone } from "../status-badge.tsx";

/** Values that are good or bad news. All others are shown as plain words. */
const TONES: Record<string, Tone> = {
	NOT_STARTED: "neutral",
	TODO: "neutral",
	OPEN: "warning",
	IN_PROGRESS: "active",
	IMPLEMENTED: "good",
	DONE: "good",
	COMPLETED: "good",
	CLOSED: "good",
	REJECTED: "bad",
	OUTDATED: "warning",
	NOT_APPLICABLE: "neutral",
	INCLUDED: "active",
	EXCLUDED: "neutral",
	NON_COMPLIANT: "bad",
	PARTIALLY_COMPLIANT: "warning",
	COMPLIANT: "good",
	MAJOR: "bad",
	MINOR: "warning",
	URGENT: "bad",
	HIGH: "warning",
};

/** Fields whose values are shown as badges with the tones above. */
const WITH_TONE: ReadonlySet<string> = new Set<
	FieldName<"nonconformity"> | FieldName<"task"> | FieldName<"obligation">
>(["state", "status", "severity", "priority"]);

/** Undefined if the value is not a state and is shown as plain words. */
export function toneOf(field: string, value: string): Tone | undefined {
	return WITH_TONE.has(field) ? (TONES[value] ?? "neutral") : undefined;
}
