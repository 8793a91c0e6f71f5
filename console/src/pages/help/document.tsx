import { docs } from "virtual:docs";
import {
	Anchor,
	Box,
	Code,
	List,
	Stack,
	Table,
	Text,
	Title,
} from "@mantine/core";
import type { ReactNode } from "react";
import { TextLink } from "../../parts/links.tsx";
import { type Block, type Inline, readInline } from "./markdown.ts";

/** Shows the blocks of a document. */
export function Document({ blocks }: { blocks: readonly Block[] }) {
	return (
		<Stack gap="md">
			{blocks.map((block, index) => (
				// A document does not change while it is shown.
				// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
				<Shown key={index} block={block} />
			))}
		</Stack>
	);
}

function Shown({ block }: { block: Block }) {
	switch (block.type) {
		case "heading":
			return (
				<Title
					order={Math.min(block.level, 6) as 2}
					id={block.id}
					mt="sm"
					style={{ scrollMarginTop: 72 }}
				>
					<Words text={block.text} />
				</Title>
			);
		case "code":
			return (
				<Code
					block
					// A long line scrolls, also by keyboard.
					tabIndex={0}
				>
					{block.text}
				</Code>
			);
		case "list":
			return (
				<List
					type={block.isOrdered ? "ordered" : "unordered"}
					spacing={6}
					withPadding={false}
				>
					{block.items.map((item, index) => (
						// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
						<List.Item key={index}>
							<Document blocks={item} />
						</List.Item>
					))}
				</List>
			);
		case "table":
			return <Rows {...block} />;
		default:
			return (
				<Text>
					<Words text={block.text} />
				</Text>
			);
	}
}

function Rows({ head, rows }: { head: string[]; rows: string[][] }) {
	const hasHead = head.some((text) => text !== "");
	return (
		<Box
			tabIndex={0}
			role="region"
			aria-label="Table"
			style={{ overflowX: "auto" }}
		>
			<Table
				withTableBorder
				verticalSpacing="xs"
				miw={Math.min(head.length * 150, 640)}
			>
				{hasHead && (
					<Table.Thead>
						<Table.Tr>
							{head.map((text, index) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
								<Table.Th key={index}>
									<Words text={text} />
								</Table.Th>
							))}
						</Table.Tr>
					</Table.Thead>
				)}
				<Table.Tbody>
					{rows.map((cells, row) => (
						// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
						<Table.Tr key={row}>
							{cells.map((text, index) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
								<Table.Td key={index} style={{ verticalAlign: "top" }}>
									<Words text={text} />
								</Table.Td>
							))}
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Box>
	);
}

function Words({ text }: { text: string }) {
	return <Parts parts={readInline(text)} />;
}

function Parts({ parts }: { parts: readonly Inline[] }): ReactNode {
	return parts.map((part, index) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
		<Part key={index} part={part} />
	));
}

function Part({ part }: { part: Inline }) {
	switch (part.type) {
		case "text":
			return part.text;
		case "code":
			return <Code style={{ overflowWrap: "break-word" }}>{part.text}</Code>;
		case "strong":
			return (
				<b>
					<Parts parts={part.parts} />
				</b>
			);
		case "emphasis":
			return (
				<em>
					<Parts parts={part.parts} />
				</em>
			);
		default:
			return (
				<Linked to={part.to} isFileName={isFileName(part)}>
					{<Parts parts={part.parts} />}
				</Linked>
			);
	}
}

function isFileName({ parts }: { parts: readonly Inline[] }): boolean {
	const [first] = parts;
	return (
		parts.length === 1 &&
		first?.type === "text" &&
		/^[\w-]+\.md$/.test(first.text)
	);
}

const DOCUMENT = /^(?:(?<name>[\w-]+)\.md)?(?:#(?<hash>.*))?$/;

/**
 * Shows a link to another document or to the web. A link to a file that only the source has is plain
 * text.
 */
function Linked({
	to,
	isFileName,
	children,
}: {
	to: string;
	/** True if the text of the link is the name of a file. */
	isFileName: boolean;
	children: ReactNode;
}) {
	if (/^https?:/.test(to)) {
		return (
			<Anchor
				href={to}
				target="_blank"
				rel="noreferrer"
				inherit
				underline="always"
			>
				{children}
			</Anchor>
		);
	}
	const { name, hash } = DOCUMENT.exec(to)?.groups ?? {};
	if (hash && !name) {
		return (
			<Anchor href={`#${hash}`} inherit underline="always">
				{children}
			</Anchor>
		);
	}
	const found = docs.find((one) => one.name === name);
	return found ? (
		<TextLink
			to="/help/$page"
			params={{ page: found.name }}
			hash={hash ?? ""}
			inherit
			underline="always"
		>
			{/* A document names others by their files, which mean nothing to a reader. */}
			{isFileName ? found.title : children}
		</TextLink>
	) : (
		children
	);
}
