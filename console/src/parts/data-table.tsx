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
import { tableFeatures, useTable } from "@tanstack/react-table";
import { type ReactNode, useMemo } from "react";
import { type ListControls, SIZES } from "../list-search.ts";

export interface Column<Row> {
	id: string;
	header: string;
	/** What the row shows; the link of the row has the class `data-table-link` (TextLink of links.tsx). */
	cell: (row: Row) => ReactNode;
	/** The field of the operation's order_by; without it the header does not sort. */
	sort?: string;
	/** What a first click on the header does. */
	firstDirection?: "asc" | "desc";
	align?: "left" | "right";
	width?: number | string;
}

// The server sorts, filters and pages; what is left for the browser is the table's model.
const features = tableFeatures({});

/**
 * A page of records. It scrolls within its box where the screen is narrow, and the box can
 * be reached by keyboard.
 */
export function DataTable<Row extends { id: string }>({
	label,
	columns,
	rows,
	list,
	isStale = false,
}: {
	/** Says to a screen reader what the table lists. */
	label: string;
	columns: readonly Column<Row>[];
	rows: readonly Row[];
	/** What the address says; without it nothing sorts. */
	list?: ListControls;
	/** The rows are those of before, while new ones are on their way. */
	isStale?: boolean;
}) {
	const definitions = useMemo(
		() =>
			columns.map((column) => ({
				id: column.id,
				header: column.header,
				accessorFn: (row: Row) => row.id,
			})),
		[columns],
	);
	const table = useTable({
		features,
		columns: definitions,
		data: rows,
		getRowId: (row: Row) => row.id,
	});
	const byId = new Map(columns.map((column) => [column.id, column]));
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
							{table.getFlatHeaders().map(({ id }) => {
								const column = byId.get(id);
								return (
									column && <Header key={id} column={column} list={list} />
								);
							})}
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{table.getRowModel().rows.map((row) => (
							<Table.Tr key={row.id} className="data-table-row">
								{row.getAllCells().map(({ id, column }) => (
									<Table.Td key={id} ta={byId.get(column.id)?.align ?? "left"}>
										{byId.get(column.id)?.cell(row.original)}
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

/** Below a list: its next page, the way back to the first, and how many records a page has. */
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
				aria-label="Records a page"
				data={SIZES.map((count) => ({
					value: String(count),
					label: `${count} a page`,
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
