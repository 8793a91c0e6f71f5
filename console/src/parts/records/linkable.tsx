import type { OutputOf } from "../../api.ts";
import { choiceLabel, describeKind, fieldOf } from "../../kinds.ts";
import {
	findRegisterKind,
	type RegisterKind,
	registerKinds,
} from "../../register-kinds.ts";
import { STATUSES } from "../devices/device-words.tsx";
import { StatusBadge } from "../status-badge.tsx";
import { besideFound } from "./beside-words.ts";
import { toneOf } from "./tones.ts";

export type LinkedRecord =
	OutputOf<"listLinkedRecords">["linked_records"][number];
export type LinkedKind = RegisterKind | "snapshot" | "device";

/**
 * The kinds whose records can be linked: registers in the order of the navigation, then snapshots
 * and devices.
 */
const LINKED: readonly { kind: LinkedKind; label: string }[] = [
	...registerKinds.filter(({ kind }) => describeKind(kind).isLinkable),
	{ kind: "snapshot", label: "Snapshots" },
	{ kind: "device", label: "Devices" },
];

export const linkedKinds = LINKED.map(({ kind }) => kind);
/** The linked kinds that a search finds. Snapshots are linked on their own pages. */
export const foundKinds = linkedKinds.filter((kind) => kind !== "snapshot");

/** Returns the name of several records of a linked kind, such as "Risks". */
export function labelOfLinked(kind: string): string {
	return LINKED.find((known) => known.kind === kind)?.label ?? kind;
}

/** Returns true for the kinds that are registers: devices and snapshots are none. */
export function isRegisterKind(kind: string): kind is RegisterKind {
	return findRegisterKind(kind) !== undefined;
}

export function isLinkedKind(kind: string): kind is LinkedKind {
	return LINKED.some((known) => known.kind === kind);
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
	if (kind === "device") {
		const { label, tone } = STATUSES[status as keyof typeof STATUSES];
		return <StatusBadge label={label} tone={tone} />;
	}
	if (!isRegisterKind(kind)) return null;
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
