import {
	Box,
	Button,
	Group,
	NativeSelect,
	Paper,
	Table,
	UnstyledButton,
} from "@mantine/core";
import {
	IconArrowDown,
	IconArrowsSort,
	IconArrowUp,
	IconChevronRight,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import { type ListControls, SIZES } from "../list-search.ts";

export interface Column<Row> {
	id: string;
	header: string;
	/**
	 * Renders a cell. The link that opens the row has the class `data-table-link` (see TextLink in
	 * links.tsx).
	 */
	cell: (row: Row) => ReactNode;
	/** The name in the operation's order_by. A column without a name cannot be sorted. */
	sort?: string;
	/** The direction after the first click on the header. Ascending by default. */
	firstDirection?: "asc" | "desc";
	align?: "left" | "right";
	width?: number | string;
}

/**
 * Shows one page of rows. The server sorts, filters and divides the list into pages. On a narrow
 * screen, the table scrolls inside its box. The box can receive the focus, so that the arrow keys
 * scroll it.
 */
export function DataTable<Row extends { id: string }>({
	label,
	columns,
	rows,
	list,
	isStale = false,
}: {
	/** Text that tells screen readers what the table lists. */
	label: string;
	columns: readonly Column<Row>[];
	rows: readonly Row[];
	/** The order and the page from the address. Without them, no column can be sorted. */
	list?: ListControls;
	/** True if the rows come from the previous request while new ones are loading. */
	isStale?: boolean;
}) {
	return (
		<Paper withBorder style={{ overflow: "hidden" }}>
			<Box
				tabIndex={0}
				role="region"
				aria-label={label}
				style={{ overflowX: "auto", opacity: isStale ? 0.6 : 1 }}
			>
				<Table aria-busy={isStale} miw={columns.length * 130}>
					<Table.Thead>
						<Table.Tr>
							{columns.map((column) => (
								<Header key={column.id} column={column} list={list} />
							))}
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{rows.map((row) => (
							<Table.Tr key={row.id} className="data-table-row">
								{columns.map(({ id, align = "left", cell }) => (
									<Table.Td key={id} ta={align}>
										{cell(row)}
									</Table.Td>
								))}
							</Table.Tr>
						))}
					</Table.Tbody>
				</Table>
			</Box>
		</Paper>
	);
}

function Header<Row>({
	column,
	list,
}: {
	column: Column<Row>;
	list: ListControls | undefined;
}) {
	const { sort, header, align = "left", width } = column;
	const size = width === undefined ? {} : { w: width };
	if (!sort || !list) {
		return (
			<Table.Th ta={align} scope="col" {...size}>
				{header}
			</Table.Th>
		);
	}
	const direction =
		list.search.sort === sort ? (list.search.dir ?? "asc") : undefined;
	const first = column.firstDirection ?? "asc";
	const next = direction ? (direction === "asc" ? "desc" : "asc") : first;
	const Arrow = !direction
		? IconArrowsSort
		: direction === "asc"
			? IconArrowUp
			: IconArrowDown;
	return (
		<Table.Th
			ta={align}
			scope="col"
			{...size}
			aria-sort={
				direction ? (direction === "asc" ? "ascending" : "descending") : "none"
			}
		>
			<UnstyledButton
				fw="inherit"
				fz="inherit"
				onClick={() => list.setSort(sort, next)}
			>
				<Group gap={4} wrap="nowrap">
					{header}
					<Arrow size={14} aria-hidden opacity={direction ? 1 : 0.45} />
				</Group>
			</UnstyledButton>
		</Table.Th>
	);
}

/**
 * The controls below a list: page size, first page and next page. They are hidden if the list fits
 * on one page.
 */
export function Pager({
	list,
	nextCursor,
}: {
	list: ListControls;
	nextCursor: string | null;
}) {
	const { cursor, size = SIZES[0] } = list.search;
	if (!nextCursor && !cursor && size === SIZES[0]) return null;
	return (
		<Group
			justify="flex-end"
			mt="md"
			component="nav"
			aria-label="Pages of the list"
		>
			<NativeSelect
				aria-label="Rows per page"
				data={SIZES.map((count) => ({
					value: String(count),
					label: `${count} per page`,
				}))}
				value={String(size)}
				onChange={({ currentTarget }) =>
					list.setSize(Number(currentTarget.value))
				}
				mr="auto"
			/>
			{cursor && (
				<Button variant="default" onClick={() => list.first()}>
					First page
				</Button>
			)}
			<Button
				variant="default"
				disabled={!nextCursor}
				rightSection={<IconChevronRight size={16} aria-hidden />}
				onClick={() => nextCursor && list.next(nextCursor)}
			>
				Next page
			</Button>
		</Group>
	);
}
