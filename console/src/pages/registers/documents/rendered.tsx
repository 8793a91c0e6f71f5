import { Paper, Stack, Text } from "@mantine/core";
import { Markdown } from "../../../parts/markdown/markdown.tsx";
import { readForeign } from "../../../parts/markdown/tokens.ts";

/** Shows Markdown, or the text as it is if it cannot be read. */
export function Rendered({
	text,
	under = 2,
}: {
	text: string;
	/** The level of the heading that the text stands under. */
	under?: number;
}) {
	if (text.trim() === "") {
		return (
			<Text c="dimmed" size="sm">
				This version has no text yet.
			</Text>
		);
	}
	const blocks = readForeign(text);
	return (
		<Paper withBorder p="lg" bg="var(--mantine-color-body)">
			<Stack maw={760} style={{ overflowWrap: "break-word" }}>
				{blocks ? (
					<Markdown blocks={blocks} under={under} />
				) : (
					<Text style={{ whiteSpace: "pre-wrap" }}>{text}</Text>
				)}
			</Stack>
		</Paper>
	);
}
