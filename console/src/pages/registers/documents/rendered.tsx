import { Paper, Stack, Text } from "@mantine/core";
import { Markdown } from "../../../parts/markdown/markdown.tsx";
import { readForeign } from "../../../parts/markdown/tokens.ts";

/** Shows Markdown, or the text as it is if it cannot be read. */
export function Rendered({ text }: { text: string }) {
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
					<Markdown blocks={blocks} />
				) : (
					<Text style={{ whiteSpace: "pre-wrap" }}>{text}</Text>
				)}
			</Stack>
		</Paper>
	);
}
