import { Box, Group, Select, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { type Change, diffLines, diffWordsWithSpace } from "diff";
import { useMemo, useState } from "react";
import { ErrorState } from "../../../parts/error-state.tsx";
import { plainTextOf } from "../../../parts/markdown/plain-text.ts";
import { readForeign } from "../../../parts/markdown/tokens.ts";
import { RowsSkeleton } from "../../../parts/page-skeleton.tsx";
import { operationQuery } from "../../../queries.ts";
import { STATUSES, type VersionRow } from "./statuses.ts";

/** Milliseconds after which a comparison gives up, so that two long texts do not stop the page. */
const MAX_MS = 1_000;

/** Shows how the text of a version differs from that of another one. */
export default function CompareVersions({
	versions,
	chosen,
}: {
	/** All versions, newest first. */
	versions: readonly VersionRow[];
	chosen: VersionRow;
}) {
	const others = versions.filter(({ id }) => id !== chosen.id);
	const before =
		others.find(
			({ version_number }) => version_number < chosen.version_number,
		) ?? others[0];
	const [otherId, setOtherId] = useState(before?.id ?? null);
	const other = others.find(({ id }) => id === otherId);
	const one = useQuery(operationQuery("getDocumentVersion", { id: chosen.id }));
	const two = useQuery({
		...operationQuery("getDocumentVersion", { id: other?.id ?? "" }),
		enabled: other !== undefined,
	});
	const failed = [one, two].find(({ isError }) => isError);
	return (
		<Stack>
			<Group>
				<Select
					label="Compare with"
					w={280}
					allowDeselect={false}
					data={others.map(({ id, version_number, status }) => ({
						value: id,
						label: `Version ${version_number} – ${STATUSES[status].label}`,
					}))}
					value={otherId}
					onChange={setOtherId}
				/>
			</Group>
			{failed?.error ? (
				<ErrorState error={failed.error} onRetry={() => failed.refetch()} />
			) : one.data && two.data && other ? (
				<Difference
					{...inOrder(one.data.document_version, two.data.document_version)}
				/>
			) : (
				<RowsSkeleton rows={5} />
			)}
		</Stack>
	);
}

interface VersionText {
	version_number: number;
	content: string;
}

/** The older version comes first, whichever is open. */
function inOrder(
	one: VersionText,
	two: VersionText,
): { older: VersionText; newer: VersionText } {
	return one.version_number < two.version_number
		? { older: one, newer: two }
		: { older: two, newer: one };
}

function Difference({
	older,
	newer,
}: {
	older: VersionText;
	newer: VersionText;
}) {
	const { changes, isMarkdown } = useMemo(
		() => compareTexts(older.content, newer.content),
		[older.content, newer.content],
	);
	if (!changes) {
		return (
			<Text size="sm">
				The texts differ too much to compare them here. Export both as Markdown.
			</Text>
		);
	}
	if (!changes.some(({ added, removed }) => added || removed)) {
		return <Text size="sm">Both versions have the same text.</Text>;
	}
	return (
		<section
			aria-label={`From version ${older.version_number} to version ${newer.version_number}`}
		>
			<Text size="sm" c="dimmed" mb="xs">
				From version {older.version_number} to version {newer.version_number}:
				added text is underlined, removed text is struck through.
				{isMarkdown &&
					" The words are the same, so this compares the Markdown."}
			</Text>
			<Box
				p="lg"
				fz="sm"
				bg="var(--mantine-color-body)"
				style={{
					border: "1px solid var(--mantine-color-default-border)",
					borderRadius: "var(--mantine-radius-sm)",
					whiteSpace: "pre-wrap",
					overflowWrap: "anywhere",
				}}
			>
				{changes.map(({ added, removed, value }, at) => {
					const key = `${at} ${value.length}`;
					if (added) {
						return (
							<Box
								component="ins"
								key={key}
								bg="var(--mantine-color-green-light)"
							>
								{value}
							</Box>
						);
					}
					return removed ? (
						<Box component="del" key={key} bg="var(--mantine-color-red-light)">
							{value}
						</Box>
					) : (
						<span key={key}>{value}</span>
					);
				})}
			</Box>
		</section>
	);
}

/**
 * Compares what people read. If that is the same, only marks such as those of bold text or headings
 * differ, and the Markdown is compared.
 */
function compareTexts(older: string, newer: string) {
	const [one, two] = [readForeign(older), readForeign(newer)];
	const texts = one && two && ([plainTextOf(one), plainTextOf(two)] as const);
	return texts && texts[0] !== texts[1]
		? { changes: compare(...texts), isMarkdown: false }
		: {
				changes: compare(older, newer),
				isMarkdown: texts !== undefined && older !== newer,
			};
}

/** Compares by words, or by lines if that takes too long. Returns undefined if both do. */
function compare(older: string, newer: string): Change[] | undefined {
	const options = { timeout: MAX_MS };
	return (
		diffWordsWithSpace(older, newer, options) ??
		diffLines(older, newer, options)
	);
}
