import { Button, Group, Menu } from "@mantine/core";
import {
	IconArchive,
	IconArchiveOff,
	IconChevronDown,
	IconPackageExport,
	IconPencil,
	IconPlus,
	IconTrash,
} from "@tabler/icons-react";
import { useState } from "react";
import type { KindDescription } from "../../kind-description.ts";
import {
	type AnyRecord,
	choiceLabel,
	describeKind,
	fieldOf,
} from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { AuditPackage } from "../../parts/audit-package.tsx";
import { ButtonLink, MenuLink } from "../../parts/links.tsx";
import { isLinkedKind } from "../../parts/records/linkable.tsx";
import { ScoreBadge } from "../../parts/records/score-badge.tsx";
import { toneOf } from "../../parts/records/tones.ts";
import { StatusBadge } from "../../parts/status-badge.tsx";
import type { RegisterKind } from "../../register-kinds.ts";
import { ArchiveRecord, canBeArchived } from "./archive.tsx";
import { DeleteRecord } from "./delete-record.tsx";
import { MarkAsDone } from "./mark-as-done.tsx";

/** The kinds of records that people often add for a record of a kind, linked to it. */
const ADDED_FOR: Partial<Record<RegisterKind, readonly RegisterKind[]>> = {
	risk: ["measure", "task"],
	measure: ["task"],
	control: ["measure", "task", "nonconformity"],
	obligation: ["task"],
	audit: ["nonconformity", "task"],
	vendor: ["risk", "task"],
	asset: ["risk", "task"],
	datum: ["risk", "task"],
	nonconformity: ["task"],
};

/** Shows what the reader may do with a record, as on the page of a device. */
export function RecordActions({
	kind,
	record,
}: {
	kind: KindDescription;
	record: AnyRecord;
}) {
	const { organizationId, mayWrite, mayAdmin } = useOrganization();
	const [isDeleting, setDeleting] = useState(false);
	const [isArchiving, setArchiving] = useState(false);
	const [isPacking, setPacking] = useState(false);
	const isPackable = kind.kind === "audit" && mayAdmin;
	const isArchivable = canBeArchived(kind);
	const isArchived = record.archived_at !== null;
	const added = isLinkedKind(kind.kind) ? (ADDED_FOR[kind.kind] ?? []) : [];
	if (!mayWrite) return null;
	return (
		<>
			{(added.length > 0 || isArchivable || mayAdmin) && (
				<Menu position="bottom-end" width={230}>
					<Menu.Target>
						<Button
							variant="default"
							rightSection={<IconChevronDown size={16} aria-hidden />}
						>
							Actions
						</Button>
					</Menu.Target>
					<Menu.Dropdown>
						{added.map((one) => (
							<MenuLink
								key={one}
								to="/o/$org/r/$kind/new"
								params={{ org: organizationId, kind: one }}
								search={initialFor(kind.kind, one, record.id)}
								leftSection={<IconPlus size={16} aria-hidden />}
							>
								New {describeKind(one).noun}
							</MenuLink>
						))}
						{isPackable && (
							<Menu.Item
								leftSection={<IconPackageExport size={16} aria-hidden />}
								onClick={() => setPacking(true)}
							>
								Audit package …
							</Menu.Item>
						)}
						{added.length > 0 && (isArchivable || mayAdmin) && <Menu.Divider />}
						{isArchivable && (
							<Menu.Item
								leftSection={
									isArchived ? (
										<IconArchiveOff size={16} aria-hidden />
									) : (
										<IconArchive size={16} aria-hidden />
									)
								}
								onClick={() => setArchiving(true)}
							>
								{isArchived ? "Take back into use …" : "Archive …"}
							</Menu.Item>
						)}
						{mayAdmin && (
							<Menu.Item
								color="var(--mantine-color-error)"
								leftSection={<IconTrash size={16} aria-hidden />}
								onClick={() => setDeleting(true)}
							>
								Delete …
							</Menu.Item>
						)}
					</Menu.Dropdown>
				</Menu>
			)}
			<MarkAsDone kind={kind} record={record} />
			<ButtonLink
				to="/o/$org/r/$kind/$id"
				params={{ org: organizationId, kind: kind.kind, id: record.id }}
				search={{ edit: true }}
				leftSection={<IconPencil size={16} aria-hidden />}
			>
				Edit
			</ButtonLink>
			{isPacking && (
				<AuditPackage
					audit={{
						id: record.id,
						valid_from: record.valid_from as string | null,
						valid_until: record.valid_until as string | null,
					}}
					onClose={() => setPacking(false)}
				/>
			)}
			<ArchiveRecord
				kind={kind}
				record={record}
				opened={isArchiving}
				onClose={() => setArchiving(false)}
			/>
			<DeleteRecord
				kind={kind}
				record={record}
				organizationId={organizationId}
				opened={isDeleting}
				onClose={() => setDeleting(false)}
			/>
		</>
	);
}

/** Returns what the form of a new record begins with. Some kinds have a field for the other one. */
function initialFor(
	kind: RegisterKind,
	added: RegisterKind,
	id: string,
): Record<string, string> {
	const field = fieldOf(describeKind(added), `${kind}_id`);
	return field?.given === "computed" || !field
		? { linked_to: id }
		: { [field.name]: id };
}

/** Shows the state of a record beside its name. Renders nothing if the kind has no state. */
export function RecordState({
	kind,
	record,
}: {
	kind: KindDescription;
	record: AnyRecord;
}) {
	const badges = kind.fields.flatMap((field) => {
		const value = record[field.name];
		if (field.name === "residual_risk_score" && typeof value === "number") {
			return <ScoreBadge key={field.name} score={value} />;
		}
		const tone = typeof value === "string" && toneOf(field.name, value);
		return tone ? (
			<StatusBadge
				key={field.name}
				tone={tone}
				label={choiceLabel(field, String(value))}
			/>
		) : (
			[]
		);
	});
	if (canBeArchived(kind) && record.archived_at !== null) {
		badges.push(<StatusBadge key="archived" tone="neutral" label="Archived" />);
	}
	return badges.length > 0 ? <Group gap="xs">{badges}</Group> : null;
}
