import {
	Box,
	Button,
	FileButton,
	Group,
	Paper,
	Progress,
	Stack,
	Text,
	TextInput,
	Title,
} from "@mantine/core";
import { IconFileUpload, IconLink } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { type DragEvent, useRef, useState } from "react";
import { ApiError, asSentence, call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { inPast } from "../../past.ts";
import { forgetReadings } from "../../queries.ts";
import { uploadEvidence } from "../../upload.ts";
import { ErrorState } from "../error-state.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { unfinishedDates } from "../unfinished-dates.ts";
import { AddEvidenceLink } from "./add-evidence-link.tsx";
import { ArchiveExpired } from "./archive-expired.tsx";
import { EvidenceActions, Validity } from "./evidence-file.tsx";
import { isLinkedKind } from "./linkable.tsx";
import { RecordLink } from "./record-link.tsx";

const PAGE = 20;

export type Evidence = OutputOf<"listEvidence">["evidence"][number];

/** True if records of this kind have the part "Evidence" on their page. */
export function hasEvidence(kind: string): boolean {
	return isLinkedKind(kind) && kind !== "evidence" && kind !== "device";
}

interface Sending {
	key: number;
	name: string;
	/** From 0 to 1. */
	share: number;
	problem?: string;
}

let keys = 0;

/** Returns the message of an error. The name of the field adds nothing beside the file. */
function problemOf(error: Error): string {
	const [field] = error instanceof ApiError ? error.fields : [];
	return field ? asSentence(`The name ${field.message}`) : error.message;
}

/** Lists what proves a record, and takes files that are dropped or chosen. */
export function EvidencePanel({ kind, id }: { kind: string; id: string }) {
	if (!hasEvidence(kind)) return null;
	return <Panel key={id} kind={kind} id={id} />;
}

function Panel({ kind, id }: { kind: string; id: string }) {
	const { mayWrite, day } = useOrganization();
	const [sending, setSending] = useState<Sending[]>([]);
	const [isLinking, setLinking] = useState(false);
	const list = useEvidence({ linked_to: id });
	// The evidence of a control's measures proves the control too.
	const ofMeasures = useEvidence({ of_measures_of: id }, kind === "control");
	const archived = useEvidence({ linked_to: id, archived: true });
	const replaced = evidenceOf(archived);
	const first = list.data?.pages[0];
	const all = evidenceOf(list);
	const others = evidenceOf(ofMeasures).filter(
		({ id: other }) => !all.some((one) => one.id === other),
	);

	const send = async (files: readonly File[], validUntil: string) => {
		const begun = files.map((file) => ({ file, key: ++keys }));
		setSending((others) => [
			...others,
			...begun.map(({ file, key }) => ({ key, name: file.name, share: 0 })),
		]);
		const change = (key: number, part: Partial<Sending>) =>
			setSending((now) =>
				now.map((one) => (one.key === key ? { ...one, ...part } : one)),
			);
		// One after the other, because they share the line of the sender.
		for (const { file, key } of begun) {
			try {
				await uploadEvidence({ file, recordId: id, validUntil }, (share) =>
					change(key, { share }),
				);
				setSending((now) => now.filter((one) => one.key !== key));
			} catch (error) {
				change(key, { problem: problemOf(error as Error) });
			}
		}
		await forgetReadings();
	};

	return (
		<Paper withBorder p="lg" component="section" aria-label="Evidence">
			<Group justify="space-between" mb="md">
				<Title order={2}>
					{first && first.total > 0 ? `Evidence (${first.total})` : "Evidence"}
				</Title>
				{mayWrite && (
					<Button
						variant="default"
						leftSection={<IconLink size={16} aria-hidden />}
						onClick={() => setLinking(true)}
					>
						Add a link
					</Button>
				)}
			</Group>
			{list.isError ? (
				<ErrorState error={list.error} onRetry={() => list.refetch()} />
			) : list.isPending ? (
				<RowsSkeleton rows={2} />
			) : (
				<Stack>
					{mayWrite && <DropFiles onFiles={send} />}
					{sending.map((one) => (
						<SendingFile
							key={one.key}
							sending={one}
							onDismiss={() =>
								setSending((now) => now.filter(({ key }) => key !== one.key))
							}
						/>
					))}
					{all.length === 0 &&
						sending.length === 0 &&
						!ofMeasures.isLoading && (
							<Text c="dimmed" size="sm">
								{others.length > 0
									? `No evidence of its own. Its measures ${day ? "had" : "have"} evidence.`
									: day
										? "Nothing proved this then."
										: "Nothing proves this yet."}
							</Text>
						)}
					<Rows label="Evidence" list={list} shown={all} recordId={id} />
					{others.length > 0 && (
						<>
							<Title order={3} size="h5">
								Evidence of its measures
							</Title>
							<Rows
								label="Evidence of its measures"
								list={ofMeasures}
								shown={others}
							/>
						</>
					)}
					{replaced.length > 0 && (
						<details>
							<Text component="summary" size="sm" style={{ cursor: "pointer" }}>
								Archived ({archived.data?.pages[0]?.total.toLocaleString()})
							</Text>
							<Box mt="xs">
								<Rows
									label="Archived evidence"
									list={archived}
									shown={replaced}
									recordId={id}
								/>
							</Box>
						</details>
					)}
				</Stack>
			)}
			<AddEvidenceLink
				opened={isLinking}
				onClose={() => setLinking(false)}
				recordId={id}
			/>
		</Paper>
	);
}

type List = ReturnType<typeof useEvidence>;

/** Reads the evidence that the filter selects, a page at a time. */
function useEvidence(
	filter:
		| { linked_to: string; archived?: boolean }
		| { of_measures_of: string },
	isWanted = true,
) {
	const { organizationId } = useOrganization();
	const input = inPast("listEvidence", {
		organization_id: organizationId,
		// The types of a list know only the search text among its filters.
		filter: { query: undefined, ...filter },
		size: PAGE,
	});
	return useInfiniteQuery({
		enabled: isWanted,
		queryKey: ["listEvidence", input],
		queryFn: ({ pageParam, signal }) =>
			call("listEvidence", { ...input, cursor: pageParam }, { signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
}

const evidenceOf = ({ data }: List): Evidence[] =>
	(data?.pages ?? []).flatMap((page) => page.evidence);

function Rows({
	label,
	list,
	shown,
	recordId,
}: {
	label: string;
	list: List;
	shown: readonly Evidence[];
	/** The record that the evidence is linked to. Without it, the link cannot be removed here. */
	recordId?: string;
}) {
	return (
		<>
			<Stack
				component="ul"
				aria-label={label}
				gap="xs"
				p={0}
				m={0}
				style={{ listStyle: "none" }}
			>
				{shown.map((one) => (
					<Row
						key={one.id}
						evidence={one}
						{...(recordId !== undefined && { recordId })}
					/>
				))}
			</Stack>
			{list.hasNextPage && (
				<Button
					variant="default"
					style={{ alignSelf: "flex-start" }}
					loading={list.isFetchingNextPage}
					onClick={() => list.fetchNextPage()}
				>
					Show more
				</Button>
			)}
		</>
	);
}

function Row({
	evidence,
	recordId,
}: {
	evidence: Evidence;
	recordId?: string;
}) {
	return (
		<Group component="li" gap="sm" wrap="wrap">
			<Box flex="1 1 240px" miw={0}>
				<RecordLink
					organizationId={evidence.organization_id}
					kind="evidence"
					id={evidence.id}
				>
					{evidence.name}
				</RecordLink>
			</Box>
			<Group gap="xs" ml="auto">
				<Validity until={evidence.valid_until} />
				<ArchiveExpired evidence={evidence} />
				<EvidenceActions
					evidence={evidence}
					{...(recordId !== undefined && { recordId })}
				/>
			</Group>
		</Group>
	);
}

function DropFiles({
	onFiles,
}: {
	onFiles: (files: readonly File[], validUntil: string) => void;
}) {
	const [isOver, setOver] = useState(false);
	const [validUntil, setValidUntil] = useState("");
	const [dateError, setDateError] = useState<string>();
	const area = useRef<HTMLDivElement>(null);
	// Without it, the same file could not be chosen twice.
	const forget = useRef<() => void>(null);
	const isDateFinished = () => {
		const error = unfinishedDates(area.current).valid_until;
		setDateError(error);
		return error === undefined;
	};
	const give = (files: readonly File[]) => {
		if (files.length === 0 || !isDateFinished()) return;
		onFiles(files, validUntil);
		// The next files are other evidence, which is valid until another day.
		setValidUntil("");
	};
	const drop = (event: DragEvent) => {
		event.preventDefault();
		setOver(false);
		give([...event.dataTransfer.files]);
	};
	return (
		<Paper
			ref={area}
			p="md"
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
			<Group gap="md" align="flex-end" justify="space-between">
				<Group gap="sm" flex="1 1 220px" mih={36}>
					<IconFileUpload size={24} aria-hidden />
					<Text size="sm">Drop files here, or choose them.</Text>
				</Group>
				<Group gap="sm" align="flex-end">
					<TextInput
						type="date"
						size="xs"
						label="Valid until (optional)"
						data-path="valid_until"
						value={validUntil}
						error={dateError}
						onChange={(event) => {
							setValidUntil(event.currentTarget.value);
							setDateError(undefined);
						}}
					/>
					<FileButton
						multiple
						resetRef={forget}
						inputProps={{ "aria-label": "Files" }}
						onChange={(files) => {
							give(files);
							forget.current?.();
						}}
					>
						{({ onClick }) => (
							<Button onClick={() => isDateFinished() && onClick()}>
								Choose files
							</Button>
						)}
					</FileButton>
				</Group>
			</Group>
		</Paper>
	);
}

function SendingFile({
	sending: { name, share, problem },
	onDismiss,
}: {
	sending: Sending;
	onDismiss: () => void;
}) {
	return (
		<div>
			<Group justify="space-between" gap="xs" wrap="nowrap">
				<Text size="sm" style={{ overflowWrap: "anywhere" }}>
					{name}
				</Text>
				{problem !== undefined && (
					<Button
						variant="subtle"
						color="gray"
						size="compact-xs"
						aria-label={`Dismiss ${name}`}
						onClick={onDismiss}
					>
						Dismiss
					</Button>
				)}
			</Group>
			{problem === undefined ? (
				<Progress
					value={share * 100}
					aria-label={`Sending ${name}`}
					animated={share === 1}
				/>
			) : (
				<Text size="sm" c="var(--mantine-color-error)" role="alert">
					{problem}
				</Text>
			)}
		</div>
	);
}
