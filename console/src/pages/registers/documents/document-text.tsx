import {
	Button,
	Group,
	Menu,
	Paper,
	Select,
	Stack,
	Text,
	Title,
} from "@mantine/core";
import { IconChevronDown, IconPencil, IconPlus } from "@tabler/icons-react";
import { useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import {
	lazy,
	type ReactNode,
	Suspense,
	useEffect,
	useRef,
	useState,
} from "react";
import {
	DOCUMENT_TEMPLATE_KEYS,
	DOCUMENT_TEMPLATES,
	type DocumentTemplate,
} from "../../../../../src/starters/document-template-names.ts";
import { call } from "../../../api.ts";
import type { AnyRecord } from "../../../kinds.ts";
import { useOrganization } from "../../../organization.ts";
import { formatDay } from "../../../parts/days.ts";
import { ErrorState } from "../../../parts/error-state.tsx";
import { RowsSkeleton } from "../../../parts/page-skeleton.tsx";
import { StatusBadge } from "../../../parts/status-badge.tsx";
import { DateTime } from "../../../parts/time.tsx";
import { inPast } from "../../../past.ts";
import { operationQuery } from "../../../queries.ts";
import { Approvals } from "./approvals.tsx";
import { AskToSign } from "./ask-to-sign.tsx";
import { ExportVersion } from "./export-version.tsx";
import { Rendered } from "./rendered.tsx";
import { Signatures } from "./signatures.tsx";
import { STATUSES, type VersionRow } from "./statuses.ts";
import { readTemplate } from "./template-text.ts";
import { VersionActions } from "./version-actions.tsx";
import { VersionEditor } from "./version-editor.tsx";
import { WhatIsNew } from "./what-is-new.tsx";

const PAGE = 50;

/** The text that a new version begins with: that of the newest version, or a template. */
type Beginning = "newest" | DocumentTemplate;

// The library that compares texts is loaded when somebody compares.
const CompareVersions = lazy(() => import("./compare-versions.tsx"));

/** Shows the versions of a document: one of them with its text, its approvals and its signatures. */
export default function DocumentText({ document }: { document: AnyRecord }) {
	const { organizationId, mayWrite, day } = useOrganization();
	const { show }: { show?: string } = useSearch({ strict: false });
	const navigate = useNavigate();
	const [isComparing, setComparing] = useState(false);
	/** The id of the draft that is open in the editor. */
	const [edited, setEdited] = useState<string>();
	/** The beginning of a new version, until the reader stores it. */
	const [beginning, setBeginning] = useState<Beginning>();
	const input = inPast("listDocumentVersions", {
		document_id: document.id,
		size: PAGE,
	});
	const list = useInfiniteQuery({
		queryKey: ["listDocumentVersions", input],
		queryFn: ({ pageParam, signal }) =>
			call("listDocumentVersions", { ...input, cursor: pageParam }, { signal }),
		initialPageParam: null as string | null,
		getNextPageParam: (page) => page.next_cursor,
	});
	// A link to a version leads to its text, which stands below the fields of the document.
	const section = useRef<HTMLElement>(null);
	const isLinked = useRef(show !== undefined);
	const isLoaded = list.isSuccess;
	useEffect(() => {
		if (!isLoaded || !isLinked.current) return;
		isLinked.current = false;
		section.current?.scrollIntoView();
	}, [isLoaded]);
	if (list.isError) {
		return <ErrorState error={list.error} onRetry={() => list.refetch()} />;
	}
	if (list.isPending) return <RowsSkeleton rows={5} />;
	const versions = list.data.pages.flatMap((page) => page.document_versions);
	const chosen =
		versions.find(({ id }) => id === show) ?? usual(versions, mayWrite);
	const choose = (id: string | undefined) =>
		navigate({
			to: "/o/$org/r/$kind/$id",
			params: { org: organizationId, kind: "document", id: document.id },
			search: id ? { show: id } : {},
			replace: true,
		});
	const [newest] = versions;
	const isOpen = newest && newest.status !== "PUBLISHED";
	return (
		<Paper
			withBorder
			p="lg"
			component="section"
			aria-label="Text"
			ref={section}
			style={{ scrollMarginTop: 72 }}
		>
			<Group justify="space-between" mb="md">
				<Title order={2}>Text</Title>
				{!beginning && (
					<Group gap="sm">
						{versions.length > 0 && (
							<Select
								aria-label="Version"
								w={250}
								allowDeselect={false}
								data={versions.map(({ id, version_number, status }) => ({
									value: id,
									label: `Version ${version_number} – ${STATUSES[status].label}`,
								}))}
								value={chosen?.id ?? null}
								onChange={(id) => choose(id ?? undefined)}
							/>
						)}
						{list.hasNextPage && (
							<Button
								variant="subtle"
								loading={list.isFetchingNextPage}
								onClick={() => list.fetchNextPage()}
							>
								Older versions
							</Button>
						)}
						{versions.length > 1 && (
							<Button
								variant="default"
								aria-pressed={isComparing}
								onClick={() => setComparing(!isComparing)}
							>
								{isComparing ? "Show the text" : "Compare"}
							</Button>
						)}
						{mayWrite && !isOpen && (
							<NewDraft
								isFirst={versions.length === 0}
								onWrite={setBeginning}
							/>
						)}
					</Group>
				)}
			</Group>
			{beginning ? (
				<NewText
					documentId={document.id}
					newest={newest}
					beginning={beginning}
					onClose={() => setBeginning(undefined)}
					onSaved={choose}
				/>
			) : chosen ? (
				<Chosen
					key={chosen.id}
					id={chosen.id}
					document={document}
					replaced={versions.find(({ status }) => status === "PUBLISHED")}
					isEditing={chosen.id === edited && !isComparing}
					onEdit={(id) => {
						setComparing(false);
						setEdited(id);
					}}
					onDeleted={() => choose(undefined)}
					comparison={
						isComparing &&
						versions.length > 1 && (
							<Suspense fallback={<RowsSkeleton rows={5} />}>
								<CompareVersions versions={versions} chosen={chosen} />
							</Suspense>
						)
					}
				/>
			) : (
				<Text c="dimmed" size="sm">
					{day
						? `No text of this document is known from ${formatDay(day)}.`
						: "This document has no text yet."}
				</Text>
			)}
		</Paper>
	);
}

/** Members begin with what they work on. Others read what is in force. */
function usual(versions: readonly VersionRow[], mayWrite: boolean) {
	const published = versions.find(({ status }) => status === "PUBLISHED");
	return mayWrite ? versions[0] : (published ?? versions[0]);
}

function NewDraft({
	isFirst,
	onWrite,
}: {
	isFirst: boolean;
	/** Called when the reader wants to write the next version. */
	onWrite: (beginning: Beginning) => void;
}) {
	return (
		<>
			{isFirst && (
				<Menu position="bottom-end">
					<Menu.Target>
						<Button
							variant="default"
							rightSection={<IconChevronDown size={16} aria-hidden />}
						>
							Start from a template
						</Button>
					</Menu.Target>
					<Menu.Dropdown>
						{DOCUMENT_TEMPLATE_KEYS.map((key) => (
							<Menu.Item key={key} onClick={() => onWrite(key)}>
								{DOCUMENT_TEMPLATES[key]}
							</Menu.Item>
						))}
					</Menu.Dropdown>
				</Menu>
			)}
			<Button
				variant={isFirst ? "filled" : "default"}
				leftSection={<IconPlus size={16} aria-hidden />}
				onClick={() => onWrite("newest")}
			>
				{isFirst ? "Write the text" : "Draft a new version"}
			</Button>
		</>
	);
}

/** Writes the next version. It begins with the text of the newest one or of a template. */
function NewText({
	documentId,
	newest,
	beginning,
	onClose,
	onSaved,
}: {
	documentId: string;
	newest: VersionRow | undefined;
	beginning: Beginning;
	onClose: () => void;
	onSaved: (id: string) => unknown;
}) {
	const { organization } = useOrganization();
	const id = newest?.id;
	const text = useQuery({
		queryKey: ["beginning", beginning, documentId, id, organization.name],
		queryFn: async () => {
			if (beginning !== "newest") {
				return readTemplate(beginning, organization.name);
			}
			if (id === undefined) return "";
			const found = await call("getDocumentVersion", { id });
			return found.document_version.content;
		},
	});
	// A later failure to read the text again leaves the editor open.
	if (text.data === undefined) {
		return text.isError ? (
			<ErrorState error={text.error} onRetry={() => text.refetch()} />
		) : (
			<RowsSkeleton rows={5} />
		);
	}
	return (
		<>
			{beginning !== "newest" && (
				<Text size="sm" mb="sm">
					This is the template “{DOCUMENT_TEMPLATES[beginning]}”. Fill in what
					stands in brackets. Nothing is stored until you save the text.
				</Text>
			)}
			<VersionEditor
				version={{
					document_id: documentId,
					content: text.data,
					isFirst: newest === undefined,
				}}
				onClose={onClose}
				onSaved={onSaved}
			/>
		</>
	);
}

function Chosen({
	id,
	document,
	replaced,
	isEditing,
	onEdit,
	onDeleted,
	comparison,
}: {
	id: string;
	document: AnyRecord;
	/** The version that is in force. */
	replaced: VersionRow | undefined;
	isEditing: boolean;
	onEdit: (id: string | undefined) => void;
	onDeleted: () => unknown;
	/** What to show in place of the text. */
	comparison: ReactNode;
}) {
	const { mayWrite, day } = useOrganization();
	const [isNew, setNew] = useState(false);
	const found = useQuery(operationQuery("getDocumentVersion", { id }));
	if (found.isError) {
		return <ErrorState error={found.error} onRetry={() => found.refetch()} />;
	}
	if (found.isPending) return <RowsSkeleton rows={5} />;
	const { document_version: version } = found.data;
	if (isEditing && version.status === "DRAFT") {
		return (
			<VersionEditor version={version} onClose={() => onEdit(undefined)} />
		);
	}
	return (
		<Stack>
			<Group justify="space-between" align="flex-start">
				<Stack gap={4}>
					<Group gap="xs">
						<StatusBadge {...STATUSES[version.status]} />
						<Text size="sm" c="dimmed">
							{version.published_at ? (
								<>
									Published <DateTime value={version.published_at} /> by{" "}
									{version.published_by_name}
								</>
							) : (
								<>
									By {version.author_name},{" "}
									{version.status === "DRAFT"
										? "last changed"
										: "waiting for approval since"}{" "}
									<DateTime value={version.updated_at} />
								</>
							)}
						</Text>
					</Group>
					<WhatIsNew changelog={version.changelog} />
				</Stack>
				<Group gap="sm">
					<ExportVersion
						version={version}
						classification={String(document.classification)}
					/>
					<VersionActions
						version={version}
						replaced={replaced}
						hasApprovers={(document.approver_ids as string[]).length > 0}
						onDeleted={onDeleted}
						onPublished={() => setNew(true)}
					/>
					{mayWrite && version.status === "DRAFT" && (
						<Button
							leftSection={<IconPencil size={16} aria-hidden />}
							onClick={() => onEdit(id)}
						>
							Edit the text
						</Button>
					)}
				</Group>
			</Group>
			{version.waits_for_you === "SIGNATURE" && !day && (
				<Text fw={500}>
					You are asked to sign this version, below its text.
				</Text>
			)}
			{comparison || <Rendered text={version.content} />}
			<Approvals version={version} />
			{version.status === "PUBLISHED" && (
				<Signatures
					version={version}
					isInForce={version.id === replaced?.id && !document.archived_at}
				/>
			)}
			{isNew && (
				<AskToSign version={version} isNew onClose={() => setNew(false)} />
			)}
		</Stack>
	);
}
