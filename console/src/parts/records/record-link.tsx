import type { ReactNode } from "react";
import { describeKind } from "../../kinds.ts";
import { findRegisterKind } from "../../register-kinds.ts";
import { endOfId } from "../devices/device-name.ts";
import { TextLink } from "../links.tsx";
import type { LinkedEnd } from "./linked-end.ts";
import type { Names } from "./record-names.ts";
import { capitalized } from "./use-kind.ts";

/** Links to a record of any kind, a device or a snapshot. */
export function RecordLink({
	organizationId,
	kind,
	id,
	children,
}: {
	organizationId: string;
	kind: string;
	id: string;
	children: ReactNode;
}) {
	const common = { lineClamp: 2, style: { overflowWrap: "anywhere" } } as const;
	if (kind === "device") {
		return (
			<TextLink
				{...common}
				to="/o/$org/devices/$id"
				params={{ org: organizationId, id }}
			>
				{children}
			</TextLink>
		);
	}
	if (kind === "snapshot") {
		return (
			<TextLink
				{...common}
				to="/o/$org/snapshots/$id"
				params={{ org: organizationId, id }}
			>
				{children}
			</TextLink>
		);
	}
	return (
		<TextLink
			{...common}
			to="/o/$org/r/$kind/$id"
			params={{ org: organizationId, kind, id }}
		>
			{children}
		</TextLink>
	);
}

/**
 * Shows the kind and the name of the record, with a link if it still exists. `names` contains only
 * existing records.
 */
export function LinkedRecord({
	end: { kind, id, name },
	organizationId,
	names,
}: {
	end: LinkedEnd;
	organizationId: string;
	names: Names;
}) {
	const known = findRegisterKind(kind);
	const noun = known ? describeKind(known.kind).noun : kind;
	const shown = names.get(id) ?? name ?? `unnamed (${endOfId(id)})`;
	return (
		<span>
			{capitalized(noun)}:{" "}
			{names.has(id) ? (
				<RecordLink organizationId={organizationId} kind={kind} id={id}>
					{shown}
				</RecordLink>
			) : (
				shown
			)}
		</span>
	);
}
