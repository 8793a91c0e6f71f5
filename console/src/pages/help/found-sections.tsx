import { docs } from "virtual:docs";
import { Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { ErrorState } from "../../parts/error-state.tsx";
import { TextLink } from "../../parts/links.tsx";
import { readDocument } from "../../parts/markdown/tokens.ts";
import { RowsSkeleton } from "../../parts/page-skeleton.tsx";
import { findSections, MAX_SECTIONS } from "./find-sections.ts";

/** Shows the sections of all documents that contain the words, each with a link to it. */
export function FoundSections({
	words,
	onOpen,
}: {
	words: string;
	/** Is called when the reader opens a section. */
	onOpen: () => void;
}) {
	const all = useQuery({
		queryKey: ["help documents"],
		queryFn: () =>
			Promise.all(
				docs.map(async ({ name, title, load }) => ({
					name,
					title,
					blocks: readDocument((await load()).default),
				})),
			),
		staleTime: Number.POSITIVE_INFINITY,
	});
	if (all.isPending) return <RowsSkeleton rows={10} />;
	if (all.isError)
		return <ErrorState error={all.error} onRetry={all.refetch} />;
	const found = findSections(all.data, words);
	if (found.length === 0) {
		return (
			<Text role="status">
				No section contains these words. Try fewer words, or a part of one.
			</Text>
		);
	}
	return (
		<Stack gap="md">
			<Text role="status" c="dimmed" size="sm">
				{found.length > MAX_SECTIONS
					? `${found.length} sections contain these words. These are the first ${MAX_SECTIONS}.`
					: `${found.length} ${found.length === 1 ? "section contains" : "sections contain"} these words.`}
			</Text>
			{found
				.slice(0, MAX_SECTIONS)
				.map(({ name, title, heading, hash, excerpt }) => (
					<div key={`${name}#${hash} ${excerpt}`}>
						<TextLink
							to="/help/$page"
							params={{ page: name }}
							hash={hash ?? ""}
							fw={600}
							onClick={onOpen}
						>
							{heading ? `${title}: ${heading}` : title}
						</TextLink>
						<Text size="sm">{excerpt}</Text>
					</div>
				))}
		</Stack>
	);
}
