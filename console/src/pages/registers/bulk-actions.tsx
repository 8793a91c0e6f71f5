import { Button, Text } from "@mantine/core";
import { useState } from "react";
import type { OperationName } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, countOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { BulkBar } from "../../parts/bulk-bar.tsx";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import { ExportSelected } from "../../parts/records/export-button.tsx";
import { LinkSelected } from "../../parts/records/link-selected.tsx";
import { isLinkedKind } from "../../parts/records/linkable.tsx";
import { deleteRecord } from "../../parts/records/register-calls.ts";
import type { Matching, Selection } from "../../parts/selection.ts";
import { ArchiveSelected, canBeArchived } from "./archive.tsx";
import { ChangeSelected } from "./change-selected.tsx";
import { DecideRisks } from "./decide-risk.tsx";
import { isUndecided } from "./hints.ts";

interface Props {
	kind: KindDescription;
	organizationId: string;
	selection: Selection<AnyRecord>;
}

/** The actions on the selected records of a register. */
export function BulkActions({
	kind,
	organizationId,
	selection,
	matching,
}: Props & { matching: Matching<AnyRecord> | undefined }) {
	const { mayAdmin } = useOrganization();
	const [open, setOpen] = useState<
		"change" | "decide" | "archive" | "delete" | null
	>(null);
	const props = { kind, organizationId, selection };
	const isOfArchived = selection.rows.some(({ archived_at }) => archived_at);
	const close = () => setOpen(null);
	return (
		<>
			<BulkBar selection={selection} matching={matching}>
				<Button
					variant="default"
					size="compact-sm"
					onClick={() => setOpen("change")}
				>
					Change fields …
				</Button>
				{selection.rows.some(isUndecided) && (
					<Button
						variant="default"
						size="compact-sm"
						onClick={() => setOpen("decide")}
					>
						Mark as decided …
					</Button>
				)}
				{isLinkedKind(kind.kind) && (
					<LinkSelected
						organizationId={organizationId}
						selection={selection}
						counted={(count) => countOf(kind, count)}
					/>
				)}
				{canBeArchived(kind) && (
					<Button
						variant="default"
						size="compact-sm"
						onClick={() => setOpen("archive")}
					>
						{isOfArchived ? "Take back into use …" : "Archive …"}
					</Button>
				)}
				<ExportSelected
					operation={`list${kind.tool.many}` as OperationName}
					organizationId={organizationId}
					selection={selection}
				/>
				{mayAdmin && (
					<Button
						variant="default"
						size="compact-sm"
						c="var(--mantine-color-error)"
						onClick={() => setOpen("delete")}
					>
						Delete …
					</Button>
				)}
			</BulkBar>
			{open === "change" && <ChangeSelected {...props} onClose={close} />}
			{open === "decide" && (
				<DecideRisks selection={selection} onClose={close} />
			)}
			{open === "archive" && (
				<ArchiveSelected {...props} isBack={isOfArchived} onClose={close} />
			)}
			{open === "delete" && <Delete {...props} onClose={close} />}
		</>
	);
}

function Delete({ kind, selection, onClose }: Props & { onClose: () => void }) {
	const { rows, nameOf } = selection;
	const [only, ...others] = rows;
	const isOne = only !== undefined && others.length === 0;
	const count = countOf(kind, rows.length);
	return (
		<BulkDialog
			title={isOne ? `Delete “${nameOf(only)}”?` : `Delete ${count}?`}
			action={isOne ? `Delete the ${kind.noun}` : `Delete ${count}`}
			done={(deleted) => `${countOf(kind, deleted)} deleted`}
			selection={selection}
			onClose={onClose}
			request={({ id }) => deleteRecord(kind, id)}
			isDangerous
		>
			<Text>
				This cannot be undone. {isOne ? "Its" : "Their"} links to other records
				are deleted too, and the audit log keeps the last values. A record that
				another one refers to is not deleted.
			</Text>
		</BulkDialog>
	);
}
