import {
	Anchor,
	Blockquote,
	Box,
	Checkbox,
	Code,
	Divider,
	List,
	Stack,
	Table,
	Text,
	Title,
} from "@mantine/core";
import type { Token, Tokens } from "marked";
import { createContext, type ReactNode, useContext } from "react";
import { type Block, blocksOf, type Inline, inlinesOf } from "./tokens.ts";

/** Shows Markdown. Its HTML is shown as text, so it can do nothing. */
export function Markdown({
	blocks,
	under = 0,
}: {
	blocks: readonly Block[];
	/**
	 * The level of the heading that the text stands under. The headings of the text follow it, so that
	 * a page has one heading of the first level. They look as they would alone.
	 */
	under?: number;
}) {
	const least = Math.min(
		...blocks.map((block) => (block.type === "heading" ? block.depth : 6)),
	);
	const deeper = under === 0 ? 0 : under + 1 - least;
	return (
		<Stack gap="md">
			{blocks.map((block, index) => (
				// A document does not change while it is shown.
				// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
				<Shown key={index} block={block} deeper={deeper} />
			))}
		</Stack>
	);
}

function Shown({ block, deeper }: { block: Block; deeper: number }) {
	switch (block.type) {
		case "heading":
			return (
				<Title
					order={Math.min(block.depth + deeper, 6) as 2}
					size={`h${Math.min(block.depth, 6) as 2}`}
					id={block.id}
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
					{...(block.ordered && { start: Number(block.start) })}
					spacing={6}
					withPadding={false}
				>
					{block.items.map((item, index) => (
						<List.Item
							// biome-ignore lint/suspicious/noArrayIndexKey: the place is the key
							key={index}
							icon={item.task && <TaskBox isDone={item.checked === true} />}
						>
							<Markdown blocks={blocksOf(item.tokens)} />
						</List.Item>
					))}
				</List>
			);
		case "blockquote":
			return (
				<Blockquote py="xs" px="md">
					<Markdown blocks={blocksOf(block.tokens)} />
				</Blockquote>
			);
		case "hr":
			return <Divider />;
		case "html":
			return <Text>{block.text}</Text>;
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

function TaskBox({ isDone }: { isDone: boolean }) {
	return (
		<Checkbox
			checked={isDone}
			readOnly
			disabled
			size="xs"
			aria-label={isDone ? "Done" : "Not done"}
		/>
	);
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
	const Linked = useContext(LinkContext);
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
		case "del":
			return (
				<s>
					<Words tokens={part.tokens} />
				</s>
			);
		case "br":
			return <br />;
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

export interface LinkProps {
	to: string;
	/** True if the text of the link is the name of a file. */
	isFileName: boolean;
	children: ReactNode;
}

/** Shows a link to the web or to a mail address. Anything else, such as a script, is plain text. */
function WebLink({ to, children }: LinkProps) {
	return /^(https?:\/\/|mailto:)/i.test(to) ? (
		<Anchor
			href={to}
			target="_blank"
			rel="noreferrer"
			inherit
			underline="always"
		>
			{children}
		</Anchor>
	) : (
		children
	);
}

/** How links are shown, if not as links to the web alone. */
export const LinkContext =
	createContext<(props: LinkProps) => ReactNode>(WebLink);
