import type { FieldName } from "../../kinds.ts";
import type { Tone } from "../status-badge.tsx";

/** The tones of values that are good or bad news. All other values have a neutral tone. */
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

/** The fields whose values are shown as badges in these tones. */
const WITH_TONE: ReadonlySet<string> = new Set<
	FieldName<"nonconformity"> | FieldName<"task"> | FieldName<"obligation">
>(["state", "status", "severity", "priority"]);

/** Returns the tone of a value. Returns undefined if the field is shown in plain words. */
export function toneOf(field: string, value: string): Tone | undefined {
	return WITH_TONE.has(field) ? (TONES[value] ?? "neutral") : undefined;
}
