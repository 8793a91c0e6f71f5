import {
	Button,
	Checkbox,
	Group,
	Paper,
	Select,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { ApiError, type InputOf, type OutputOf, sendCsv } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { fieldOf } from "../../kinds.ts";
import { ErrorState } from "../../parts/error-state.tsx";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { forgetReadings } from "../../queries.ts";
import { type ColumnChoices, ColumnFields } from "./column-choices.tsx";
import { DateOrderFields } from "./date-order-fields.tsx";
import type { ChosenFile } from "./import-file.ts";
import { ImportLines } from "./import-lines.tsx";
import { ImportProgress } from "./import-progress.tsx";
import { GuessedColumns, Summary } from "./import-summary.tsx";
import {
	type DateOrders,
	type Meanings,
	withoutWaiting,
} from "./unknown-values.ts";
import { MeaningFields } from "./value-meanings.tsx";

const IMPORT = "/api/console/importRecords";

type Plan = OutputOf<"importRecords">;
type MatchBy = NonNullable<InputOf<"importRecords">["match_by"]>;

/** Shows what the import would do. Nothing is written until the reader confirms. */
export function ImportPreview({
	file,
	number,
	kind,
	organizationId,
	onDone,
}: {
	file: ChosenFile;
	/** The number of the file, which distinguishes it from earlier files of the same name. */
	number: number;
	kind: KindDescription;
	organizationId: string;
	onDone: (result: Plan) => void;
}) {
	const [matchBy, setMatchBy] = useState<MatchBy>();
	const [columns, setColumns] = useState<ColumnChoices>({});
	const [meanings, setMeanings] = useState<Meanings>({});
	const [dateOrders, setDateOrders] = useState<DateOrders>({});
	const [isSkipping, setSkipping] = useState(false);
	const [isSkippingNames, setSkippingNames] = useState(false);
	const input = {
		organization_id: organizationId,
		kind: kind.kind,
		...(Object.keys(columns).length > 0 && {
			columns: JSON.stringify(columns),
		}),
		...(Object.keys(meanings).length > 0 && {
			values: JSON.stringify(meanings),
		}),
		...(Object.keys(dateOrders).length > 0 && {
			date_orders: JSON.stringify(dateOrders),
		}),
		...(matchBy && { match_by: matchBy }),
		...(isSkippingNames && { skip_known_names: "true" }),
	};
	const trying = useQuery({
		// The key contains the file's number and not its text, which may be megabytes long.
		queryKey: [
			"importRecords",
			kind.kind,
			number,
			matchBy,
			columns,
			meanings,
			dateOrders,
			isSkippingNames,
		],
		queryFn: ({ signal }) => sendCsv<Plan>(IMPORT, input, file.text, signal),
		gcTime: 0,
		placeholderData: keepPreviousData,
		staleTime: Number.POSITIVE_INFINITY,
	});
	const importing = useMutation({
		mutationFn: (plan: string) =>
			sendCsv<Plan>(
				IMPORT,
				{
					...input,
					dry_run: "false",
					plan,
					...(isSkipping && { skip_wrong: "true" }),
				},
				file.text,
			),
		onSuccess: (result) => {
			onDone(result);
			void forgetReadings();
		},
	});
	// The lines that wait for an answer are not shown as wrong, one by one.
	const shown = trying.data && withoutWaiting(trying.data);
	const lacking = trying.data ? lackingFields(trying.data, kind) : [];
	const isRefused =
		importing.error instanceof ApiError && !importing.error.mayRetry;

	return (
		<Paper withBorder p="lg" component="section" aria-label="Preview">
			<Group justify="space-between" align="flex-start" mb="md">
				<Title order={2}>Preview</Title>
				<MatchSelect
					kind={kind}
					value={matchBy ?? trying.data?.matched_by}
					onChange={setMatchBy}
				/>
			</Group>
			<ColumnFields
				kind={kind}
				headings={[
					...Object.keys(columns),
					...(trying.data?.unknown_columns ?? []).filter(
						(heading) => !Object.hasOwn(columns, heading),
					),
				]}
				choices={columns}
				onChange={setColumns}
			/>
			<GuessedColumns
				kind={kind}
				columns={trying.data?.guessed_columns ?? []}
				onChange={(guessed) => setColumns({ ...columns, ...guessed })}
			/>
			<MeaningFields
				kind={kind}
				values={trying.data?.unknown_values ?? []}
				meanings={meanings}
				onChange={setMeanings}
			/>
			<DateOrderFields
				columns={trying.data?.date_columns ?? []}
				orders={dateOrders}
				onChange={setDateOrders}
			/>
			{trying.isError ? (
				<ErrorState
					title="This file cannot be imported"
					error={trying.error}
					{...(trying.error instanceof ApiError && trying.error.mayRetry
						? { onRetry: () => trying.refetch() }
						: {})}
				/>
			) : !shown ? (
				<>
					<ImportProgress doing="Checking" lines={file.lines} />
					<RowsSkeleton />
				</>
			) : trying.data.lines.length === 0 ? (
				<Text>The file has no lines below its heading.</Text>
			) : lacking.length > 0 ? (
				<Text role="status">
					First say above which field each column is. The file has no column yet
					for {listed(lacking)}, which every new {kind.noun} needs.
				</Text>
			) : (
				<Stack>
					<Summary plan={shown.plan} waiting={shown.waiting} kind={kind} />
					{shown.plan.lines.length > 0 && (
						<ImportLines
							key={trying.dataUpdatedAt}
							plan={shown.plan}
							waiting={shown.waiting}
							kind={kind}
							organizationId={organizationId}
						/>
					)}
					{importing.isError && (
						<ErrorState
							title="Nothing was imported"
							error={importing.error}
							{...(isRefused && {
								onRetry: () => {
									importing.reset();
									return trying.refetch();
								},
							})}
						/>
					)}
					{shown.plan.wrong > 0 && (
						<Checkbox
							label={
								shown.plan.wrong === 1
									? "Skip the wrong line and import the others"
									: `Skip the ${shown.plan.wrong.toLocaleString()} wrong lines and import the others`
							}
							checked={isSkipping}
							onChange={({ currentTarget }) =>
								setSkipping(currentTarget.checked)
							}
						/>
					)}
					{shown.plan.known_names > 0 && (
						<Checkbox
							label={
								shown.plan.known_names === 1
									? "Skip the 1 line whose name is already in the register"
									: `Skip the ${shown.plan.known_names.toLocaleString()} lines whose names are already in the register`
							}
							checked={isSkippingNames}
							onChange={({ currentTarget }) =>
								setSkippingNames(currentTarget.checked)
							}
						/>
					)}
					<ConfirmButton
						isSkipping={isSkipping}
						plan={shown.plan}
						waiting={shown.waiting}
						kind={kind}
						checked={trying.isPlaceholderData ? file.lines : undefined}
						isImporting={importing.isPending}
						onConfirm={() => importing.mutate(shown.plan.plan)}
					/>
				</Stack>
			)}
		</Paper>
	);
}

/**
 * Returns the labels of the required fields that the columns without a field leave empty in every
 * line. Each line would then show the same error.
 */
function lackingFields(plan: Plan, { fields }: KindDescription): string[] {
	if (plan.unknown_columns.length === 0) return [];
	return fields
		.filter(
			({ given, name }) =>
				given === "required" &&
				plan.lines.every(
					({ issues, left_out }) =>
						left_out > 0 ||
						issues.some(
							({ column, message }) =>
								column === name && message === "is required",
						),
				),
		)
		.map(({ label }) => label);
}

const listed = (labels: readonly string[]) =>
	new Intl.ListFormat("en-GB").format(labels.map((label) => `“${label}”`));

function ConfirmButton({
	plan: { add, update, wrong, skipped_by_value, unknown_columns, date_columns },
	waiting,
	kind: { noun, nouns },
	isSkipping,
	checked,
	isImporting,
	onConfirm,
}: {
	plan: Plan;
	/** Number of lines that wait for an answer. */
	waiting: number;
	isSkipping: boolean;
	kind: KindDescription;
	/** Number of lines that are checked again, after the reader has changed a choice. */
	checked: number | undefined;
	isImporting: boolean;
	onConfirm: () => void;
}) {
	const records = add + update;
	const why =
		unknown_columns.length > 0
			? "First say above which field each column is."
			: waiting > 0
				? date_columns.some(({ order }) => order === null)
					? "First choose above whether the day or the month comes first."
					: "First choose above what each value means."
				: wrong > 0 && !isSkipping
					? "Fix the wrong lines and upload the file again, or skip them."
					: records > 0
						? undefined
						: skipped_by_value > 0
							? "No line is left to import."
							: "Everything in the file is already in the register.";
	const doing = isImporting
		? "Importing"
		: checked !== undefined
			? "Checking"
			: undefined;
	return (
		<Group justify="flex-end" gap="md">
			<ImportProgress doing={doing} lines={checked ?? records} />
			{why && (
				<Text size="sm" c="dimmed" id="why-not">
					{why}
				</Text>
			)}
			<Button
				disabled={why !== undefined}
				aria-describedby={why && "why-not"}
				loading={isImporting || checked !== undefined}
				onClick={onConfirm}
			>
				{records === 0
					? "Import"
					: `Import ${records.toLocaleString()} ${records === 1 ? noun : nouns}`}
			</Button>
		</Group>
	);
}

/**
 * The columns that reliably identify a record. A name does not, but many files have nothing else.
 */
const SURE: readonly MatchBy[] = [
	"id",
	"reference_id",
	"primary_email_address",
];
const BY_TITLE: readonly MatchBy[] = ["full_name", "name", "requirement"];

function MatchSelect({
	kind,
	value,
	onChange,
}: {
	kind: KindDescription;
	value: MatchBy | undefined;
	onChange: (value: MatchBy) => void;
}) {
	const possible = [
		...SURE.filter((name) => name === "id" || fieldOf(kind, name)),
		...BY_TITLE.filter((name) => name === kind.title),
	];
	return (
		<Select
			label="Find existing records by"
			data={[
				...possible.map((name) => ({
					value: name,
					label: fieldOf(kind, name)?.label ?? "ID",
				})),
				{ value: "none", label: "Nothing: all lines are new" },
			]}
			value={value ?? null}
			onChange={(chosen) => chosen && onChange(chosen as MatchBy)}
			allowDeselect={false}
			w={280}
			maw="100%"
		/>
	);
}
