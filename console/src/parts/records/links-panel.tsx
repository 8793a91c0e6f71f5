import {
	ActionIcon,
	Box,
	Button,
	Group,
	Paper,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { IconLink, IconUnlink } from "@tabler/icons-react";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { MAX_PAGE_SIZE } from "../../../../src/records/page-sizes.ts";
import { call } from "../../api.ts";
import { useOrganization } from "../../organization.ts";
import { inPast } from "../../past.ts";
import { forgetReadings } from "../../queries.ts";
import { Confirm } from "../confirm.tsx";
import { endOfId } from "../devices/device-name.ts";
import { ErrorState } from "../error-state.tsx";
import { RowsSkeleton } from "../page-skeleton.tsx";
import { showWithUndo } from "../undo.tsx";
import { LinkDialog } from "./link-dialog.tsx";
import {
	besideLinked,
	isLinkedKind,
	type LinkedRecord,
	LinkedStatus,
	labelOfLinked,
	linkedKinds,
} from "./linkable.tsx";
import { RecordLink } from "./record-link.tsx";

/**
 * Lists the records that this one is linked to, by kind. Renders nothing if this kind cannot be
 * linked.
 */
export function LinksPanel({
	organizationId,
	kind,
	id,
}: {
	organizationId: string;
	kind: string;
	id: string;
}) {
	if (!isLinkedKind(kind)) return null;
	return <Links key={id} organizationId={organizationId} id={id} />;
}

function Links({ organizationId, id }: { organizationId: string; id: string }) {
	const { mayWrite, day } = useOrganization();
	const [isLinking, setLinking] = useState(false);
	const [leaving, setLeaving] = useState<LinkedRecord | null>(null);
	const input = inPast("listLinkedRecords", {
		record_id: id,
		size: MAX_PAGE_SIZE,
	});
	const links = useInfiniteQuery({
		queryKey: ["listLinkedRecords", input],
		queryFn: ({ pageParam, signal }) =>
			call("listLinkedRecords", { ...input, cursor: pageParam }, { signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	// Evidence has a part of its own on the page.
	const records = (links.data?.pages ?? [])
		.flatMap((page) => page.linked_records)
		.filter(({ kind }) => kind !== "evidence");

	return (
		<Paper withBorder p="lg" component="section" aria-label="Linked records">
			<Group justify="space-between" mb="md">
				<Title order={2}>Linked records</Title>
				{mayWrite && (
					<Button
						variant="default"
						leftSection={<IconLink size={16} aria-hidden />}
						onClick={() => setLinking(true)}
					>
						Link a record
					</Button>
				)}
			</Group>
			{links.isError ? (
				<ErrorState error={links.error} onRetry={() => links.refetch()} />
			) : links.isPending ? (
				<RowsSkeleton rows={2} />
			) : records.length === 0 ? (
				<Text c="dimmed">
					{day ? "Nothing was linked then." : "Nothing is linked yet."}{" "}
					{mayWrite &&
						"Link related records, such as a measure and the risk it reduces."}
				</Text>
			) : (
				<Stack gap="lg">
					{linkedKinds.map((kind) => (
						<KindOfLinks
							key={kind}
							label={labelOfLinked(kind)}
							records={records.filter((record) => record.kind === kind)}
							organizationId={organizationId}
							onUnlink={mayWrite ? setLeaving : undefined}
						/>
					))}
				</Stack>
			)}
			{links.hasNextPage && (
				<Button
					variant="default"
					mt="md"
					loading={links.isFetchingNextPage}
					onClick={() => links.fetchNextPage()}
				>
					Show more
				</Button>
			)}
			<LinkDialog
				opened={isLinking}
				onClose={() => setLinking(false)}
				organizationId={organizationId}
				id={id}
				linked={records.map((record) => record.id)}
			/>
			<Confirm
				opened={leaving !== null}
				onClose={() => setLeaving(null)}
				title="Remove the link?"
				action="Remove the link"
				onConfirm={async () => {
					if (!leaving) return;
					const ends = { record_id: id, linked_record_id: leaving.id };
					await call("unlinkRecords", ends);
					await forgetReadings();
					showWithUndo("The link is removed.", {
						rows: [leaving],
						nameOf: ({ id, name }) => name ?? `Unnamed (${endOfId(id)})`,
						request: () => call("linkRecords", ends),
						done: () => "The records are linked again.",
					});
				}}
			>
				{leaving?.name ?? "The record"} will no longer be linked to this one.
				Both records stay as they are.
			</Confirm>
		</Paper>
	);
}

function KindOfLinks({
	label,
	records,
	organizationId,
	onUnlink,
}: {
	label: string;
	records: LinkedRecord[];
	organizationId: string;
	onUnlink: ((record: LinkedRecord) => void) | undefined;
}) {
	if (records.length === 0) return null;
	return (
		<div>
			<Title order={3} fz="sm" c="dimmed" mb={4}>
				{label}
			</Title>
			<Stack
				component="ul"
				aria-label={label}
				gap={2}
				p={0}
				m={0}
				style={{ listStyle: "none" }}
			>
				{records.map((record) => {
					const name = record.name ?? `Unnamed (${endOfId(record.id)})`;
					const beside = besideLinked(record);
					return (
						<Group key={record.id} component="li" gap="sm" mih={34}>
							<Box flex="1 1 200px" miw={0}>
								<RecordLink
									organizationId={organizationId}
									kind={record.kind}
									id={record.id}
								>
									{name}
								</RecordLink>
								{beside && (
									<Text size="xs" c="dimmed">
										{beside}
									</Text>
								)}
							</Box>
							<Group gap="xs" ml="auto" wrap="nowrap" style={{ flexShrink: 0 }}>
								<LinkedStatus {...record} />
								{onUnlink && (
									<ActionIcon
										variant="subtle"
										color="gray"
										aria-label={`Remove the link to ${name}`}
										title="Remove the link"
										onClick={() => onUnlink(record)}
									>
										<IconUnlink size={16} aria-hidden />
									</ActionIcon>
								)}
							</Group>
						</Group>
					);
				})}
			</Stack>
		</div>
	);
}
