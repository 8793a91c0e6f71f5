import {
	Alert,
	Button,
	FileButton,
	Group,
	Paper,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { IconCircleCheck, IconFileUpload } from "@tabler/icons-react";
import { type DragEvent, type ReactNode, useRef, useState } from "react";
import { MAX_LINES } from "../../../../src/csv/import-limits.ts";
import type { OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { countOf } from "../../kinds.ts";
import { useOrganization } from "../../organization.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ButtonLink } from "../../parts/links.tsx";
import { PageHeader } from "../../parts/page-header.tsx";
import { useKind } from "../../parts/records/use-kind.ts";
import { Columns, TemplateButton } from "./import-columns.tsx";
import { ImportPreview } from "./import-preview.tsx";
import { SheetFields } from "./import-sheet.tsx";
import { RecentImports } from "./recent-imports.tsx";
import { RollBackImport } from "./roll-back-import.tsx";
import { useChosenFile } from "./use-chosen-file.ts";

type Result = OutputOf<"importRecords">;

/** Imports records from a CSV or Excel file: choice of the file, preview, errors by line, and result. */
export function Page() {
	const kind = useKind();
	const { organizationId, mayWrite } = useOrganization();
	const title = `Import ${kind.nouns}`;
	if (!mayWrite) {
		return (
			<>
				<PageHeader title={title} />
				<EmptyState title="You cannot import records">
					You can only view. Ask an administrator to make you a member.
				</EmptyState>
			</>
		);
	}
	return (
		<>
			<PageHeader
				title={title}
				description="Choose an Excel workbook (.xlsx) or a CSV file. You see what would happen to each line before anything is stored."
				actions={
					<ButtonLink
						variant="default"
						to="/o/$org/r/$kind"
						params={{ org: organizationId, kind: kind.kind }}
					>
						Back to the list
					</ButtonLink>
				}
			/>
			<Import key={kind.kind} kind={kind} organizationId={organizationId} />
		</>
	);
}

function Import({
	kind,
	organizationId,
}: {
	kind: KindDescription;
	organizationId: string;
}) {
	const { chosen, choose, chooseSheet, chooseHeadings, forget } =
		useChosenFile(kind);
	const [done, setDone] = useState<Result>();
	const { workbook, table, problem } = chosen ?? {};

	if (done) {
		return (
			<Done
				kind={kind}
				organizationId={organizationId}
				result={done}
				onAgain={() => {
					setDone(undefined);
					forget();
				}}
			/>
		);
	}
	return (
		<Stack gap="lg">
			<FileField
				name={chosen?.name}
				isReading={chosen?.isReading ?? false}
				onChoose={choose}
			>
				{workbook && (
					<SheetFields
						workbook={workbook}
						table={table && "notes" in table ? table : undefined}
						onSheet={(sheet) => chooseSheet(workbook, sheet)}
						onHeadings={(row) => chooseHeadings(workbook, row)}
					/>
				)}
				{table?.isGuessed && (
					<Text size="sm" ta="center" mt="sm">
						The file is not in Unicode and was read as Windows-1252. Check that
						accented letters are right, or save it as CSV UTF-8.
					</Text>
				)}
			</FileField>
			{problem && (
				<Alert
					color="red"
					variant="outline"
					title="This file cannot be imported"
					role="alert"
				>
					{problem}
				</Alert>
			)}
			{!chosen && <RecentImports kind={kind} />}
			{chosen && table ? (
				<ImportPreview
					key={chosen.number}
					file={table}
					number={chosen.number}
					kind={kind}
					organizationId={organizationId}
					onDone={setDone}
				/>
			) : (
				<Paper
					withBorder
					p="lg"
					component="section"
					aria-label="Columns of the file"
				>
					<Group justify="space-between" mb="sm">
						<Title order={2}>Columns of the file</Title>
						<TemplateButton kind={kind} />
					</Group>
					<Text size="sm" c="dimmed" mb="sm">
						The first line of the file has the names of the columns, in any
						order. In a workbook, a title may stand above them. Optional columns
						may be missing. A line that has the ID, the reference or the primary
						e-mail address of a record changes that record. Every other line
						adds one. The preview shows which. To change many records, export
						the {kind.nouns}, edit the file and import it again. A file may have
						at most {MAX_LINES.toLocaleString()} lines.
					</Text>
					<Columns kind={kind} />
				</Paper>
			)}
		</Stack>
	);
}

/** Accepts a file that is dropped on the field or chosen with a button. */
function FileField({
	name,
	isReading,
	onChoose,
	children,
}: {
	/** Name of the chosen file. */
	name: string | undefined;
	isReading: boolean;
	onChoose: (file: File) => void;
	children: ReactNode;
}) {
	const [isOver, setOver] = useState(false);
	// Clears the input. Otherwise, choosing the same file again after fixing it would not count as a
	// change.
	const forget = useRef<() => void>(null);
	const choose = (file: File | null | undefined) => {
		if (file) onChoose(file);
	};
	const drop = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		choose(event.dataTransfer.files[0]);
	};
	return (
		<Paper
			p="lg"
			onDragOver={(event) => {
				event.preventDefault();
				setOver(true);
			}}
			onDragLeave={() => setOver(false)}
			onDrop={drop}
			style={{
				border: `2px dashed var(--mantine-color-${isOver ? "indigo-6" : "default-border"})`,
			}}
		>
			<Group justify="center" gap="md">
				<IconFileUpload size={28} aria-hidden />
				<Text style={{ overflowWrap: "anywhere" }}>
					{name === undefined ? (
						"Drop an Excel or CSV file here, or choose one."
					) : (
						<b>{name}</b>
					)}
				</Text>
				<FileButton
					resetRef={forget}
					accept=".xlsx,.xlsm,.csv,.tsv,.txt,text/csv"
					inputProps={{ "aria-label": "Excel or CSV file" }}
					onChange={(given) => {
						choose(given);
						forget.current?.();
					}}
				>
					{(props) => (
						<Button
							{...props}
							{...(name === undefined ? {} : { variant: "default" })}
						>
							{name === undefined ? "Choose a file" : "Choose another file"}
						</Button>
					)}
				</FileButton>
			</Group>
			<Text role="status" size="sm" ta="center">
				{isReading && "Reading the file …"}
			</Text>
			{children}
		</Paper>
	);
}

const linesSkipped = (lines: number) =>
	`${lines === 1 ? "1 line" : `${lines.toLocaleString()} lines`} skipped`;

function Done({
	kind,
	organizationId,
	result,
	onAgain,
}: {
	kind: KindDescription;
	organizationId: string;
	result: Result;
	onAgain: () => void;
}) {
	const [isAsked, setAsked] = useState(false);
	const { add, update, unchanged, wrong, import_id } = result;
	const { skipped_by_value } = result;
	const skipped = result.skipped - skipped_by_value;
	const parts = [
		add > 0 && `${countOf(kind, add)} added`,
		update > 0 && `${countOf(kind, update)} changed`,
		unchanged > 0 &&
			`${countOf(kind, unchanged)} left as ${unchanged === 1 ? "it was" : "they were"}`,
		skipped > 0 &&
			`${linesSkipped(skipped)} because ${skipped === 1 ? "its name is" : "their names are"} already in the register`,
		skipped_by_value > 0 &&
			`${linesSkipped(skipped_by_value)} because of a value`,
		wrong > 0 &&
			`${linesSkipped(wrong)} because ${wrong === 1 ? "it is" : "they are"} wrong`,
	].filter((part) => part !== false);
	return (
		<EmptyState
			title="The file is imported"
			icon={<IconCircleCheck size={32} aria-hidden />}
			actions={
				<>
					{import_id && (
						<Button
							variant="default"
							aria-haspopup="dialog"
							onClick={() => setAsked(true)}
						>
							Roll back …
						</Button>
					)}
					<Button variant="default" onClick={onAgain}>
						Import another file
					</Button>
					<ButtonLink
						to="/o/$org/r/$kind"
						params={{ org: organizationId, kind: kind.kind }}
						search={{ sort: "updated_at", dir: "desc" }}
					>
						See the {kind.nouns}
					</ButtonLink>
				</>
			}
		>
			<span role="status">{parts.join(", ")}.</span>
			{import_id && isAsked && (
				<RollBackImport
					id={import_id}
					kind={kind}
					onClose={() => setAsked(false)}
					onDone={onAgain}
				/>
			)}
		</EmptyState>
	);
}
