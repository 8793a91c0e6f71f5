import { Box, Button, Group, Paper, Text, Timeline } from "@mantine/core";
import { IconArrowRight } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { call, type OutputOf } from "../../api.ts";
import type { KindDescription } from "../../kind-description.ts";
import { type AnyRecord, fieldOf } from "../../kinds.ts";
import {
	isChangedByReview,
	isTakenBack,
	linkIn,
	ownPhraseOf,
} from "../../parts/audit-actions/audit-actions.ts";
import { actorNameOf, linkUserIds } from "../../parts/audit-actions/by-link.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { ErrorState } from "../../parts/error-state.tsx";
import { fieldLabel } from "../../parts/field-labels.ts";
import { inWords } from "../../parts/names-in-words.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { FieldValue } from "../../parts/records/field-value.tsx";
import { idsIn } from "../../parts/records/ids-in.ts";
import { isLinkedEnd } from "../../parts/records/linked-end.ts";
import { PlainValue } from "../../parts/records/plain-value.tsx";
import { LinkedRecord } from "../../parts/records/record-link.tsx";
import {
	type Names,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownHistory } from "../../parts/records/undecided.ts";
import { DateTime } from "../../parts/time.tsx";
import { inPast } from "../../past.ts";
import { isMeaningful } from "../../register-layouts.ts";

type Entry = OutputOf<"getRecordHistory">["changes"][number];
type Ends = { before?: unknown; after?: unknown };

/** Shows the history of a record, newest first, to everybody who may read the record. */
export function RecordHistory({
	kind,
	record,
	organizationId,
}: {
	kind: KindDescription;
	record: AnyRecord;
	organizationId: string;
}) {
	const input = inPast("getRecordHistory", { id: record.id });
	const history = useInfiniteQuery({
		queryKey: ["getRecordHistory", input],
		queryFn: ({ pageParam, signal }) =>
			call("getRecordHistory", { ...input, cursor: pageParam }, { signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	const entries = shownHistory(
		kind.kind,
		(history.data?.pages ?? []).flatMap((page) => page.changes),
		record,
	).map((entry) => ({ ...entry, record_id: record.id }));
	const names = useRecordNames(organizationId, [
		...allIdsIn(entries),
		...linkUserIds(entries),
	]);

	if (history.isError) {
		return (
			<ErrorState error={history.error} onRetry={() => history.refetch()} />
		);
	}
	if (history.isPending) return <RowsSkeleton />;
	if (entries.length === 0) {
		return (
			<EmptyState title="Nothing is recorded">
				Changes of this {kind.noun} will be listed here.
			</EmptyState>
		);
	}
	return (
		<Paper withBorder p="lg">
			<Timeline bulletSize={12} lineWidth={2}>
				{entries.map((entry) => (
					<Timeline.Item
						key={entry.sequence ?? entry.at}
						title={whatHappened(entry)}
					>
						<Text size="sm" c="dimmed" mb={4}>
							<DateTime value={entry.at} /> by {actorNameOf(entry, names)}
							{entry.actor_kind === "TOKEN" && ", with an API token"}
							{actorNameOf(entry, names) !== entry.actor_name && ", by a link"}
						</Text>
						<Changes
							kind={kind}
							entry={entry}
							names={names}
							organizationId={organizationId}
						/>
					</Timeline.Item>
				))}
			</Timeline>
			{history.hasNextPage && (
				<Button
					variant="default"
					mt="md"
					loading={history.isFetchingNextPage}
					onClick={() => history.fetchNextPage()}
				>
					Show earlier changes
				</Button>
			)}
		</Paper>
	);
}

function Changes({
	kind,
	entry,
	names,
	organizationId,
}: {
	kind: KindDescription;
	entry: Entry;
	names: Names;
	organizationId: string;
}) {
	const changes = Object.entries(entry.changes) as [string, Ends][];
	// Changes of other things than fields come first. The fields follow in the order of the record.
	const place = new Map(kind.fields.map(({ name }, index) => [name, index]));
	const placeOf = ([name]: [string, Ends]) => place.get(name) ?? -1;
	// A change of one field says nothing about the fields that stayed as they were.
	const isWhole = changes.every(
		([, ends]) => !("before" in ends && "after" in ends),
	);
	const values = Object.fromEntries(
		changes.map(([name, { before, after }]) => [name, after ?? before]),
	);
	return (
		<Box component="dl" m={0}>
			{changes
				.filter(([, { before, after }]) => !isEmpty(before) || !isEmpty(after))
				.filter(([name]) => !isWhole || isMeaningful(name, values))
				.sort((a, b) => placeOf(a) - placeOf(b))
				.map(([name, ends]) => (
					<Group key={name} gap="xs" align="flex-start" py={2}>
						<Box component="dt" fz="sm" c="dimmed" w={170}>
							{labelOf(kind, name)}
						</Box>
						<Group component="dd" gap="xs" m={0} fz="sm" flex="1 1 200px">
							{"before" in ends && (
								<End
									kind={kind}
									name={name}
									names={names}
									organizationId={organizationId}
									value={ends.before}
								/>
							)}
							{"before" in ends && "after" in ends && (
								<IconArrowRight size={14} role="img" aria-label="became" />
							)}
							{"after" in ends && (
								<End
									kind={kind}
									name={name}
									names={names}
									organizationId={organizationId}
									value={ends.after}
								/>
							)}
						</Group>
					</Group>
				))}
		</Box>
	);
}

function labelOf(kind: KindDescription, name: string): string {
	return (
		fieldOf(kind, name)?.label ?? fieldLabel(kind.kind, name) ?? inWords(name)
	);
}

function End({
	kind,
	name,
	value,
	names,
	organizationId,
}: {
	kind: KindDescription;
	name: string;
	value: unknown;
	names: Names;
	organizationId: string;
}) {
	if (isLinkedEnd(value)) {
		return (
			<LinkedRecord end={value} organizationId={organizationId} names={names} />
		);
	}
	const field = fieldOf(kind, name);
	if (field)
		return (
			<FieldValue
				field={field}
				value={value}
				names={names}
				organizationId={organizationId}
			/>
		);
	return (
		<Text inherit component="div">
			<PlainValue value={value} names={names} />
		</Text>
	);
}

/** What happened to the record, as the title of an entry: "Changed", "Reviewed". */
function whatHappened(entry: Entry): string {
	const { operation } = entry;
	const link = linkIn(entry);
	if (link) return link === "Add link" ? "Added a link" : "Removed a link";
	if (isTakenBack(entry)) return "Taken back into use";
	if (isChangedByReview(entry)) return "Changed by a review";
	const phrase = ownPhraseOf(operation);
	if (phrase) return phrase.charAt(0).toUpperCase() + phrase.slice(1);
	const [verb = ""] = /^[a-z]+/.exec(operation) ?? [];
	return WORDS[verb] ?? inWords(operation);
}

const WORDS: Record<string, string> = {
	add: "Added",
	set: "Added",
	update: "Changed",
	delete: "Deleted",
	import: "Imported",
};

function allIdsIn(entries: readonly Entry[]): string[] {
	return entries
		.flatMap(({ changes }) => Object.entries(changes) as [string, Ends][])
		.flatMap(([name, ends]) => idsIn(name, [ends.before, ends.after]));
}

function isEmpty(value: unknown): boolean {
	return (
		value === null ||
		value === undefined ||
		(Array.isArray(value) && value.length === 0)
	);
}
