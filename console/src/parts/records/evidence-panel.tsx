import { Box, Button, Group, Paper, Stack, Text, Title } from "@mantine/core";
import { IconLink } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call, type OutputOf } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { inPast } from "../../past.ts";
import { ErrorState } from "../error-state.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { AddEvidenceLink } from "./add-evidence-link.tsx";
import { ArchiveExpired } from "./archive-expired.tsx";
import { EvidenceActions, Validity } from "./evidence-file.tsx";
import { isLinkedKind } from "./linkable.tsx";
import { RecordLink } from "./record-link.tsx";
import { DropFiles, SendingFile, useSending } from "./send-evidence.tsx";

const PAGE = 20;

export type Evidence = OutputOf<"listEvidence">["evidence"][number];

/** True if records of this kind have the part "Evidence" on their page. */
export function hasEvidence(kind: string): boolean {
	return isLinkedKind(kind) && kind !== "evidence" && kind !== "device";
}

/** Lists what proves a record, and takes files that are dropped or chosen. */
export function EvidencePanel({ kind, id }: { kind: string; id: string }) {
	if (!hasEvidence(kind)) return null;
	return <Panel key={id} kind={kind} id={id} />;
}

function Panel({ kind, id }: { kind: string; id: string }) {
	const { mayWrite, day } = useOrganization();
	const { sending, send, dismiss } = useSending(id);
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
							onDismiss={() => dismiss(one)}
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
