import {
	Box,
	Button,
	Group,
	Pagination,
	Stack,
	Table,
	Text,
} from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { type CSSProperties, useState } from "react";
import { asSentence, type OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { fieldOf } from "../../kinds.ts";
import table from "../../parts/data-table.module.css";
import { inWords } from "../../parts/names-in-words.ts";
import { ShortValue } from "../../parts/records/field-value.tsx";
import { RecordLink } from "../../parts/records/record-link.tsx";
import {
	type Names,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownChanges } from "../../parts/records/undecided.ts";
import { StatusBadge, type Tone } from "../../parts/status-badge.tsx";
import { headingOf } from "./import-columns.tsx";
import { inWordsOf } from "./messages.ts";

type Plan = OutputOf<"importRecords">;
type Line = Plan["lines"][number];
type Outcome = Line["outcome"];
/** The lines that the reader chose. */
type Only = Outcome | "SAME_NAME";

const OUTCOMES = {
	WRONG: { label: "Wrong", tone: "bad" },
	ADD: { label: "Add", tone: "good" },
	UPDATE: { label: "Change", tone: "active" },
	UNCHANGED: { label: "Unchanged", tone: "neutral" },
	SKIP: { label: "Skip", tone: "neutral" },
} as const satisfies Record<Outcome, { label: string; tone: Tone }>;

const PAGE = 50;
/** Widths of the first columns in px. A name of a few words fits into one line. */
const WIDTHS = [60, 130, 220];
const IDS = /^[\w-]{32}$/;

/** Shows line by line what the import would do. Lines with errors come first. */
export function ImportLines({
	plan,
	waiting,
	kind,
	organizationId,
}: {
	/** The plan without the lines that wait for an answer. */
	plan: Plan;
	waiting: number;
	kind: KindDescription;
	organizationId: string;
}) {
	const [only, setOnly] = useState<Only | null>(
		plan.wrong > 0 ? "WRONG" : null,
	);
	const [page, setPage] = useState(1);
	const counts: Record<Outcome, number> = {
		WRONG: plan.wrong,
		ADD: plan.add,
		UPDATE: plan.update,
		UNCHANGED: plan.unchanged,
		SKIP: plan.skipped,
	};
	const chosen = plan.lines.filter(
		({ outcome, same_name }) =>
			only === null ||
			(only === "SAME_NAME" ? same_name !== null : outcome === only),
	);
	const shown = chosen.slice((page - 1) * PAGE, page * PAGE);
	const names = useRecordNames(organizationId, idsIn(shown));
	const noun = kind.noun.charAt(0).toUpperCase() + kind.noun.slice(1);
	const columns = ["Line", "Outcome", noun, "Details"];
	const show = (outcome: Only | null) => {
		setOnly(outcome);
		setPage(1);
	};
	return (
		<Stack gap="sm">
			<Group gap="xs" role="group" aria-label="Which lines">
				<Choice
					label={waiting > 0 ? "All checked lines" : "All lines"}
					count={plan.lines.length}
					isChosen={only === null}
					onChoose={() => show(null)}
				/>
				{(Object.keys(OUTCOMES) as Outcome[])
					.filter((outcome) => counts[outcome] > 0)
					.map((outcome) => (
						<Choice
							key={outcome}
							label={OUTCOMES[outcome].label}
							count={counts[outcome]}
							isChosen={only === outcome}
							onChoose={() => show(outcome)}
						/>
					))}
				{plan.known_names > 0 && plan.skipped === plan.skipped_by_value && (
					<Choice
						label="Name already in the register"
						count={plan.known_names}
						isChosen={only === "SAME_NAME"}
						onChoose={() => show("SAME_NAME")}
					/>
				)}
			</Group>
			<Box
				tabIndex={0}
				role="region"
				aria-label="Lines of the file"
				style={{ overflowX: "auto" }}
			>
				<Table
					role="table"
					className={`${table.table} ${table.cards}`}
					style={{ "--table-width": "560px" } as CSSProperties}
				>
					<Table.Thead role="rowgroup">
						<Table.Tr role="row">
							{columns.map((column, at) => (
								<Table.Th
									key={column}
									role="columnheader"
									scope="col"
									w={WIDTHS[at]}
								>
									{column}
								</Table.Th>
							))}
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody role="rowgroup">
						{shown.map((line) => (
							<Table.Tr
								key={line.line}
								role="row"
								style={{ verticalAlign: "top" }}
							>
								{[
									line.line,
									<StatusBadge key="outcome" {...OUTCOMES[line.outcome]} />,
									<Name
										key="name"
										line={line}
										kind={kind}
										organizationId={organizationId}
									/>,
									<Details
										key="details"
										line={line}
										kind={kind}
										names={names}
										organizationId={organizationId}
									/>,
								].map((cell, at) => (
									<Table.Td
										key={columns[at]}
										role="cell"
										className="figures"
										data-label={columns[at]}
									>
										<div className={table.value ?? ""}>{cell}</div>
									</Table.Td>
								))}
							</Table.Tr>
						))}
					</Table.Tbody>
				</Table>
			</Box>
			<Text size="xs" c="dimmed">
				Lines have the numbers of their rows in a spreadsheet.
				{plan.brief_lines > 0 &&
					` The details of ${
						plan.brief_lines === 1
							? "1 line are"
							: `${plan.brief_lines.toLocaleString()} lines are`
					} not shown, because there are too many. Split the file to see them all.`}
			</Text>
			{chosen.length > PAGE && (
				<Pagination
					value={page}
					onChange={setPage}
					total={Math.ceil(chosen.length / PAGE)}
					siblings={1}
					size="sm"
					aria-label="Pages of the lines"
					getControlProps={(control) => ({ "aria-label": `${control} page` })}
					getItemProps={(number) => ({ "aria-label": `Page ${number}` })}
				/>
			)}
		</Stack>
	);
}

function Choice({
	label,
	count,
	isChosen,
	onChoose,
}: {
	label: string;
	count: number;
	isChosen: boolean;
	onChoose: () => void;
}) {
	return (
		<Button
			size="xs"
			variant={isChosen ? "filled" : "default"}
			aria-pressed={isChosen}
			onClick={onChoose}
		>
			{label} ({count.toLocaleString()})
		</Button>
	);
}

function Name({
	line: { id, name },
	kind,
	organizationId,
}: {
	line: Line;
	kind: KindDescription;
	organizationId: string;
}) {
	if (id) {
		return (
			<RecordLink organizationId={organizationId} kind={kind.kind} id={id}>
				{name ?? "Unnamed"}
			</RecordLink>
		);
	}
	return (
		<Text inherit lineClamp={2} style={{ overflowWrap: "anywhere" }}>
			{name ?? "–"}
		</Text>
	);
}

function Details({
	line,
	kind,
	names,
	organizationId,
}: {
	line: Line;
	kind: KindDescription;
	names: Names;
	organizationId: string;
}) {
	const { same_name: same } = line;
	if (same) {
		return (
			<Group gap={4} fz="sm">
				The register already has
				<RecordLink
					organizationId={organizationId}
					kind={kind.kind}
					id={same.id}
				>
					{same.name}
				</RecordLink>
			</Group>
		);
	}
	const isWrong = line.outcome === "WRONG";
	if (isWrong || line.outcome === "SKIP") {
		return (
			<>
				{line.issues.map(({ column, message }) => (
					<Text
						key={column + message}
						size="sm"
						style={{ overflowWrap: "anywhere" }}
						{...(isWrong && { c: "var(--mantine-color-error)" })}
					>
						{column ? (
							<>
								<b>{columnLabel(kind, column)}</b>
								{/^there /.test(message) && ":"} {inWordsOf(kind, message)}
							</>
						) : (
							asSentence(`the line ${inWordsOf(kind, message)}`)
						)}
					</Text>
				))}
				<LeftOut count={line.left_out} one="further problem" />
			</>
		);
	}
	if (line.left_out > 0) return <LeftOut count={line.left_out} one="change" />;
	return (
		<Box component="dl" m={0}>
			{Object.entries(shownChanges(kind.kind, line.changes)).map(
				([name, { before, after }]) => {
					const field = fieldOf(kind, name);
					if (!field) return null;
					return (
						<Group key={name} gap="xs" align="flex-start" pb={2} fz="sm">
							<Box component="dt" c="dimmed">
								{field.label}
							</Box>
							<Group component="dd" gap={6} m={0}>
								<ShortValue field={field} value={before} names={names} />
								<IconArrowRight size={14} role="img" aria-label="becomes" />
								<ShortValue field={field} value={after} names={names} />
							</Group>
						</Group>
					);
				},
			)}
		</Box>
	);
}

/** Says how much of a line the answer leaves out, because the answer would be too long. */
function LeftOut({ count, one }: { count: number; one: string }) {
	if (count === 0) return null;
	return (
		<Text size="sm" c="dimmed">
			{count === 1 ? `1 ${one}` : `${count} ${one}s`}, not shown
		</Text>
	);
}

/**
 * Returns the label of a column that has the name of a field, as in an export. Another heading stays
 * as it is in the file.
 */
export function columnLabel(kind: KindDescription, heading: string): string {
	const field = kind.fields.find((one) =>
		[one.name, headingOf(one)].includes(heading),
	);
	if (field) return field.label;
	return /^[a-z_]+$/.test(heading) ? inWords(heading) : heading;
}

function idsIn(lines: readonly Line[]): string[] {
	return lines
		.flatMap(({ changes }) => Object.entries(changes))
		.filter(([name]) => /_ids?$/.test(name))
		.flatMap(([, { before, after }]) => [before, after].flat())
		.filter((id): id is string => typeof id === "string" && IDS.test(id));
}
