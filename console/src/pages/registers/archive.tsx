import { Text } from "@mantine/core";
import { call } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, countOf, fieldOf, titleOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { BulkDialog } from "../../parts/bulk-dialog.tsx";
import { Confirm } from "../../parts/confirm.tsx";
import type { Selection } from "../../parts/selection.ts";
import { showWithUndo } from "../../parts/undo.tsx";
import { forgetReadings } from "../../queries.ts";

/** True if records of the register can be archived. */
export const canBeArchived = (kind: KindDescription) =>
	fieldOf(kind, "archived_at") !== undefined;

const archive = (organizationId: string, id: string, archived: boolean) =>
	call("archiveRecords", {
		organization_id: organizationId,
		record_ids: [id],
		archived,
	});

/** Asks before it archives a record or takes it back into use. */
export function ArchiveRecord({
	kind,
	record,
	opened,
	onClose,
}: {
	kind: KindDescription;
	record: AnyRecord;
	opened: boolean;
	onClose: () => void;
}) {
	const { organizationId } = useOrganization();
	const isArchived = record.archived_at !== null;
	const verb = isArchived ? "Take back" : "Archive";
	return (
		<Confirm
			opened={opened}
			onClose={onClose}
			title={`${verb} “${titleOf(kind, record)}”?`}
			action={`${verb} the ${kind.noun}`}
			isDangerous={false}
			onConfirm={async () => {
				await archive(organizationId, record.id, !isArchived);
				await forgetReadings();
				showWithUndo(`The ${kind.noun} is ${wordFor(isArchived)}.`, {
					...backFrom(kind, organizationId, isArchived),
					rows: [record],
					nameOf: (row) => titleOf(kind, row),
				});
			}}
		>
			<Consequence kind={kind} isBack={isArchived} />
		</Confirm>
	);
}

/** Archives the selected records of a register, or takes them back into use. */
export function ArchiveSelected({
	kind,
	organizationId,
	selection,
	isBack,
	onClose,
}: {
	kind: KindDescription;
	organizationId: string;
	selection: Selection<AnyRecord>;
	isBack: boolean;
	onClose: () => void;
}) {
	const { rows, nameOf } = selection;
	const [only, ...others] = rows;
	const isOne = only !== undefined && others.length === 0;
	const count = countOf(kind, rows.length);
	const verb = isBack ? "Take back" : "Archive";
	return (
		<BulkDialog
			title={`${verb} ${isOne ? `“${nameOf(only)}”` : count}?`}
			action={`${verb} ${isOne ? `the ${kind.noun}` : count}`}
			done={(done) => `${countOf(kind, done)} ${wordFor(isBack)}`}
			undo={(rows) => ({ ...backFrom(kind, organizationId, isBack), rows })}
			selection={selection}
			onClose={onClose}
			request={({ id }) => archive(organizationId, id, !isBack)}
		>
			<Text>
				<Consequence kind={kind} isBack={isBack} />
			</Text>
		</BulkDialog>
	);
}

const wordFor = (isBack: boolean) => (isBack ? "back in use" : "archived");

/** Returns how archiving records, or taking them back, is undone. */
const backFrom = (
	kind: KindDescription,
	organizationId: string,
	isBack: boolean,
) => ({
	request: ({ id }: AnyRecord) => archive(organizationId, id, isBack),
	done: (count: number) => `${countOf(kind, count)} ${wordFor(!isBack)}`,
});

function Consequence({
	kind: { nouns },
	isBack,
}: {
	kind: KindDescription;
	isBack: boolean;
}) {
	return isBack
		? `Lists and figures show ${nouns} in use.`
		: `Lists and figures leave archived ${nouns} out, and nobody is reminded of them. The filter “Archived” shows them. Links and history stay.`;
}
