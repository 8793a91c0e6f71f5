import { badFields } from "../errors.ts";
import type { IdKind } from "../id.ts";
import { namedKinds } from "../records/searchable-kinds.ts";

/** What a snapshot contains: the records of one register, the devices, or everything. */
export const SNAPSHOT_TYPES = [
	"RISKS",
	"VENDORS",
	"ASSETS",
	"DATA",
	"NONCONFORMITIES",
	"OBLIGATIONS",
	"CONTINUAL_IMPROVEMENTS",
	"MEASURES",
	"CONTROLS",
	"PEOPLE",
	"AUDITS",
	"TASKS",
	"DEVICES",
	"ALL",
] as const;
export type SnapshotType = (typeof SNAPSHOT_TYPES)[number];

const OF_TYPE: Record<Exclude<SnapshotType, "ALL">, IdKind> = {
	RISKS: "risk",
	VENDORS: "vendor",
	ASSETS: "asset",
	DATA: "datum",
	NONCONFORMITIES: "nonconformity",
	OBLIGATIONS: "obligation",
	CONTINUAL_IMPROVEMENTS: "continual_improvement",
	MEASURES: "measure",
	CONTROLS: "control",
	PEOPLE: "people",
	AUDITS: "audit",
	TASKS: "task",
	DEVICES: "device",
};

/** The kinds of records that a snapshot can contain. */
export const SNAPSHOT_KINDS = namedKinds.map(({ kind }) => kind) as [
	IdKind,
	...IdKind[],
];

/** Returns the kinds of records that a snapshot of this type contains. */
export function kindsOf(type: SnapshotType): readonly IdKind[] {
	return type === "ALL" ? SNAPSHOT_KINDS : [OF_TYPE[type]];
}

/** Throws bad_request for a kind that a snapshot with these kinds cannot contain. */
export function requireKind(
	kinds: readonly IdKind[],
	kind: IdKind | undefined,
): void {
	if (kind === undefined || kinds.includes(kind)) return;
	const message = `must be one of the kinds that the snapshot contains: ${kinds.join(", ")}`;
	throw badFields([{ field: "kind", message }]);
}
