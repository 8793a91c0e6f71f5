import {
	Group,
	SegmentedControl,
	SimpleGrid,
	Skeleton,
	Stack,
	Text,
	Textarea,
} from "@mantine/core";
import { lazy, Suspense, useDeferredValue, useState } from "react";
import {
	type RichText,
	richFromMarkdown,
} from "../../../parts/rich-text/from-markdown.ts";
import { Rendered } from "./rendered.tsx";

const RichTextEditor = lazy(
	() => import("../../../parts/rich-text/rich-text-editor.tsx"),
);

interface Field {
	/** The text in Markdown. */
	value: string;
	error: React.ReactNode;
	onChange: (value: string) => void;
}

/** Edits Markdown as rich text, or as it is where rich text would lose something. */
export function ContentField(field: Field) {
	const [rich, setRich] = useState(() => richFromMarkdown(field.value));
	const [isRich, setIsRich] = useState(rich !== undefined);
	const choose = (choice: string) => {
		const text = richFromMarkdown(field.value);
		setRich(text);
		setIsRich(choice === "rich" && text !== undefined);
	};
	const isOnlyMarkdown = !isRich && rich === undefined;
	return (
		<Stack gap="xs">
			<Group>
				<SegmentedControl
					aria-label="Edit as"
					size="xs"
					value={isRich ? "rich" : "markdown"}
					onChange={choose}
					data={[
						{ value: "rich", label: "Rich text" },
						{ value: "markdown", label: "Markdown" },
					]}
				/>
				{isOnlyMarkdown && (
					<Text size="sm" c="dimmed" role="status">
						Rich text cannot show all of this text, such as an image. So it is
						edited as Markdown.
					</Text>
				)}
			</Group>
			{isRich && rich ? (
				<RichField {...field} rich={rich} />
			) : (
				<MarkdownField {...field} />
			)}
		</Stack>
	);
}

function RichField({ rich, error, onChange }: Field & { rich: RichText }) {
	return (
		<Suspense fallback={<Skeleton height={420} />}>
			<RichTextEditor
				text={rich}
				label="Text"
				error={error}
				onChange={onChange}
			/>
		</Suspense>
	);
}

/** What the reader sees is shown beside the Markdown while it is written. */
function MarkdownField({ value, error, onChange }: Field) {
	const shown = useDeferredValue(value);
	return (
		<SimpleGrid cols={{ base: 1, lg: 2 }}>
			<Textarea
				label="Text"
				description="# Heading, **bold**, *italic*, - list, 1. numbered list, > quote, [link](https://…)"
				autosize
				minRows={16}
				maxRows={40}
				styles={{
					input: { fontFamily: "var(--mantine-font-family-monospace)" },
				}}
				value={value}
				error={error}
				onChange={({ currentTarget }) => onChange(currentTarget.value)}
			/>
			<Stack gap={4} component="section" aria-label="Preview">
				<Text size="sm" fw={500}>
					Preview
				</Text>
				<Rendered text={shown} />
			</Stack>
		</SimpleGrid>
	);
}
