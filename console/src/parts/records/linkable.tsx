import type { OutputOf } from "../../api.ts";
import { choiceLabel, describeKind, fieldOf } from "../../kinds.ts";
import type { RegisterKind } from "../../register-kinds.ts";
import { STATUSES } from "../devices/device-words.tsx";
import { StatusBadge } from "../status-badge.tsx";
import { besideFound } from "./beside-words.ts";
import { toneOf } from "./tones.ts";

export type LinkedRecord =
	OutputOf<"listLinkedRecords">["linked_records"][number];
export type LinkedKind = LinkedRecord["kind"];

/** The kinds whose records can be linked to each other, in the order of the navigation. */
export const LINKED_KINDS = {
	risk: "Risks",
	measure: "Measures",
	control: "Controls",
	vendor: "Vendors",
	nonconformity: "Nonconformities",
	obligation: "Obligations",
	audit: "Audits",
	asset: "Assets",
	datum: "Data types",
	task: "Tasks",
	evidence: "Evidence",
	document: "Documents",
	snapshot: "Snapshots",
	device: "Devices",
} as const satisfies Record<LinkedKind, string>;

export const linkedKinds = Object.keys(LINKED_KINDS) as LinkedKind[];
/** The linked kinds that a search finds. Snapshots are linked on their own pages. */
export const foundKinds = linkedKinds.filter((kind) => kind !== "snapshot");

/** Returns true for the kinds that are registers: devices and snapshots are none. */
export function isRegisterKind(
	kind: LinkedKind,
): kind is LinkedKind & RegisterKind {
	return kind !== "device" && kind !== "snapshot";
}

export function isLinkedKind(kind: string): kind is LinkedKind {
	return Object.hasOwn(LINKED_KINDS, kind);
}

/** Returns what tells it from others of the same name. The status stands in a badge of its own. */
export function besideLinked({ kind, details }: LinkedRecord): string {
	const { status: _, state: __, ...others } = details;
	return besideFound(kind, others);
}

/** Shows the status of a linked record. Renders nothing if its kind has no status. */
export function LinkedStatus({
	kind,
	status,
	is_contradicted,
}: Pick<LinkedRecord, "kind" | "status" | "is_contradicted">) {
	if (status === null) return null;
	// The words of the coverage. Only a measure that says Implemented can be contradicted.
	if (is_contradicted) return <StatusBadge label="Contradicted" tone="bad" />;
	if (kind === "snapshot") return null;
	if (kind === "device") {
		const { label, tone } = STATUSES[status as keyof typeof STATUSES];
		return <StatusBadge label={label} tone={tone} />;
	}
	const described = describeKind(kind);
	const field = fieldOf(described, "status") ?? fieldOf(described, "state");
	if (!field) return null;
	return (
		<StatusBadge
			label={choiceLabel(field, status)}
			tone={toneOf(field.name, status) ?? "neutral"}
		/>
	);
}
