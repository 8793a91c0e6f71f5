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
import type { Token, Tokens } from "marked";
import type { ReactNode } from "react";
import { TextLink } from "../../parts/links.tsx";
import {
	type Block,
	blocksOf,
	type Inline,
	idOfHeading,
	inlinesOf,
} from "./markdown.ts";

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
					order={Math.min(block.depth, 6) as 2}
					id={idOfHeading(block.text)}
					mt="sm"
					style={{ scrollMarginTop: 72 }}
				>
					<Words tokens={block.tokens} />
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
					type={block.ordered ? "ordered" : "unordered"}
					spacing={6}
					withPadding={false}
				>
					{block.items.map((item, index) => (
						// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
						<List.Item key={index}>
							<Document blocks={blocksOf(item.tokens)} />
						</List.Item>
					))}
				</List>
			);
		case "table":
			return <Rows table={block} />;
		default:
			return (
				<Text>
					<Words tokens={block.tokens} />
				</Text>
			);
	}
}

function Rows({ table: { header, rows } }: { table: Tokens.Table }) {
	const hasHead = header.some(({ text }) => text !== "");
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
				miw={Math.min(header.length * 150, 640)}
			>
				{hasHead && (
					<Table.Thead>
						<Table.Tr>
							{header.map(({ tokens }, index) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
								<Table.Th key={index}>
									<Words tokens={tokens} />
								</Table.Th>
							))}
						</Table.Tr>
					</Table.Thead>
				)}
				<Table.Tbody>
					{rows.map((cells, row) => (
						// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
						<Table.Tr key={row}>
							{cells.map(({ tokens }, index) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
								<Table.Td key={index} style={{ verticalAlign: "top" }}>
									<Words tokens={tokens} />
								</Table.Td>
							))}
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Box>
	);
}

function Words({ tokens = [] }: { tokens: readonly Token[] | undefined }) {
	return inlinesOf(tokens).map((part, index) => (
		// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
		<Part key={index} part={part} />
	));
}

function Part({ part }: { part: Inline }): ReactNode {
	switch (part.type) {
		case "codespan":
			return <Code style={{ overflowWrap: "break-word" }}>{part.text}</Code>;
		case "strong":
			return (
				<b>
					<Words tokens={part.tokens} />
				</b>
			);
		case "em":
			return (
				<em>
					<Words tokens={part.tokens} />
				</em>
			);
		case "link":
			return (
				<Linked to={part.href} isFileName={/^[\w-]+\.md$/.test(part.text)}>
					<Words tokens={part.tokens} />
				</Linked>
			);
		default:
			return part.text;
	}
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
