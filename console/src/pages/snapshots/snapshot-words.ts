import type { OutputOf } from "../../api.ts";
import { registerKinds } from "../../register-kinds.ts";

export type Snapshot = OutputOf<"listSnapshots">["snapshots"][number];
export type SnapshotKind =
	OutputOf<"listSnapshotRecords">["snapshot_records"][number]["kind"];

/** What a snapshot can contain, in the order in which people choose it. */
export const TYPES: Record<Snapshot["type"], string> = {
	ALL: "Everything",
	RISKS: "Risks",
	CONTROLS: "Controls",
	MEASURES: "Measures",
	OBLIGATIONS: "Obligations",
	AUDITS: "Audits",
	NONCONFORMITIES: "Nonconformities",
	VENDORS: "Vendors",
	ASSETS: "Assets",
	DATA: "Data types",
	PEOPLE: "People",
	TASKS: "Tasks",
	CONTINUAL_IMPROVEMENTS: "Continual improvements",
	DEVICES: "Devices",
};

/** Returns the label of a kind of record, such as "Risks". */
export function kindLabel(kind: string): string {
	if (kind === "device") return "Devices";
	return registerKinds.find((one) => one.kind === kind)?.label ?? kind;
}

export const recordCount = ({ counts }: Pick<Snapshot, "counts">) =>
	Object.values(counts).reduce((total, count) => total + count, 0);

/** Returns, for example, "182, 12 of these by exception". */
export function compliantInWords(devices: number, excused = 0): string {
	const all = devices.toLocaleString();
	return excused > 0
		? `${all}, ${excused.toLocaleString()} of these by exception`
		: all;
}

/** Returns true for a device that an exception excused from a check, and that complied otherwise. */
export const isByExceptionThen = (fields: Record<string, unknown>) =>
	fields.compliance === "COMPLIANT" &&
	Object.values(fields.checks ?? {}).includes("EXCEPTED");
