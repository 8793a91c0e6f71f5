import {
	Box,
	Checkbox,
	Group,
	Paper,
	Table,
	UnstyledButton,
} from "@mantine/core";
import {
	IconArrowDown,
	IconArrowsSort,
	IconArrowUp,
} from "@tabler/icons-react";
import type { ReactNode } from "react";
import type { ListControls } from "../list-search.ts";
import type { Selection } from "./selection.ts";

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
	selection,
	isStale = false,
}: {
	/** Text that tells screen readers what the table lists. */
	label: string;
	columns: readonly Column<Row>[];
	rows: readonly Row[];
	/** The order and the page from the address. Without them, no column can be sorted. */
	list?: ListControls;
	/** The chosen rows. With it, each row has a checkbox. */
	selection?: Selection<Row> | undefined;
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
							{selection && <SelectAll selection={selection} rows={rows} />}
							{columns.map((column) => (
								<Header key={column.id} column={column} list={list} />
							))}
						</Table.Tr>
					</Table.Thead>
					<Table.Tbody>
						{rows.map((row) => (
							<Table.Tr
								key={row.id}
								className="data-table-row"
								{...(selection?.has(row.id) ? { "data-chosen": true } : {})}
							>
								{selection && (
									<Table.Td>
										<Checkbox
											aria-label={`Select ${selection.nameOf(row)}`}
											checked={selection.has(row.id)}
											onChange={({ currentTarget }) =>
												selection.set([row], currentTarget.checked)
											}
										/>
									</Table.Td>
								)}
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

/** The checkbox in the header, which selects all rows of the page. */
function SelectAll<Row extends { id: string }>({
	selection,
	rows,
}: {
	selection: Selection<Row>;
	rows: readonly Row[];
}) {
	const chosen = rows.filter(({ id }) => selection.has(id)).length;
	return (
		<Table.Th w={40}>
			<Checkbox
				aria-label="Select all on this page"
				checked={chosen === rows.length}
				indeterminate={chosen > 0 && chosen < rows.length}
				onChange={({ currentTarget }) =>
					selection.set(rows, currentTarget.checked)
				}
			/>
		</Table.Th>
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
