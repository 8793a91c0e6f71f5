import {
	Box,
	Checkbox,
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
} from "@tabler/icons-react";
import { memo, type ReactNode } from "react";
import type { ListControls } from "../list-search.ts";
import classes from "./data-table.module.css";
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
	/** True if the list shows the column only on request. */
	isExtra?: boolean;
}

/** Roles that the linter considers redundant. The comment on DataTable says why they are needed. */
const BODY = { role: "rowgroup" };
const ROW = { role: "row" };
const CELL = { role: "cell" };

/**
 * Shows one page of rows. The server sorts, filters and divides the list into pages. If the table
 * is wider than its box, it scrolls inside it. The box can receive the focus, so that the arrow
 * keys scroll it. On a phone, each row is a card. The roles are written out, because the cards'
 * layout would take the table's meaning away from screen readers. The rows are plain elements,
 * because Mantine's need twice the time to appear, and a page has up to a thousand cells.
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
			{list && <SortField columns={columns} list={list} />}
			<Box
				tabIndex={0}
				role="region"
				aria-label={label}
				style={{ overflowX: "auto", opacity: isStale ? 0.6 : 1 }}
			>
				<Table
					role="table"
					aria-busy={isStale}
					className={`${classes.table} ${classes.cards}`}
					// A style of the element would win over the phone's layout, a variable does not.
					style={{ "--table-width": `${columns.length * 130}px` }}
				>
					<Table.Thead role="rowgroup">
						<Table.Tr role="row">
							{selection && <SelectAll selection={selection} rows={rows} />}
							{columns.map((column) => (
								<Header key={column.id} column={column} list={list} />
							))}
						</Table.Tr>
					</Table.Thead>
					<tbody {...BODY}>
						{rows.map((row) => (
							<OneRow
								key={row.id}
								row={row}
								columns={columns}
								{...(selection && {
									name: selection.nameOf(row),
									isChosen: selection.has(row.id),
									onChoose: selection.set,
								})}
							/>
						))}
					</tbody>
				</Table>
			</Box>
		</Paper>
	);
}

interface RowProps<Row extends { id: string }> {
	row: Row;
	columns: readonly Column<Row>[];
	/** The name for screen readers. Without it, the row cannot be chosen. */
	name?: string;
	isChosen?: boolean;
	onChoose?: Selection<Row>["set"];
}

/**
 * Renders only again when the row, its choice or the columns change. Pages that keep their columns
 * between renders thereby save most of the work of a list, for example while somebody types.
 */
const OneRow = memo(function OneRow({
	row,
	columns,
	name,
	isChosen = false,
	onChoose,
}: RowProps<{ id: string }>) {
	return (
		<tr
			{...ROW}
			className={`data-table-row ${classes.row}`}
			{...(onChoose ? { "data-selectable": true } : {})}
			{...(isChosen ? { "data-chosen": true } : {})}
		>
			{onChoose && (
				<td {...CELL} className={`data-table-cell ${classes.choose}`}>
					<input
						type="checkbox"
						className={`mantine-focus-auto ${classes.checkbox}`}
						aria-label={`Select ${name}`}
						checked={isChosen}
						onChange={({ currentTarget }) =>
							onChoose([row], currentTarget.checked)
						}
					/>
				</td>
			)}
			{columns.map(({ id, header, align = "left", cell }, index) => (
				<td
					key={id}
					{...CELL}
					className={`data-table-cell ${align === "right" ? classes.right : ""}`}
					// The first cell is the name and needs no label.
					{...(index > 0 ? { "data-label": header } : {})}
				>
					<div className={classes.value ?? ""}>{cell(row)}</div>
				</td>
			))}
		</tr>
	);
}) as <Row extends { id: string }>(props: RowProps<Row>) => ReactNode;

/** Chooses the order on a phone, where the list has no header row. */
function SortField<Row>({
	columns,
	list,
}: {
	columns: readonly Column<Row>[];
	list: ListControls;
}) {
	const { order, usualOrder } = list;
	const orders = columns.flatMap(({ sort: name, header, firstDirection }) =>
		name ? [{ name, header, direction: firstDirection ?? "asc" }] : [],
	);
	if (orders.length === 0) return null;
	return (
		<NativeSelect
			className={classes.sort ?? ""}
			p="xs"
			aria-label="Sort by"
			value={order ? `${order.field} ${order.direction}` : ""}
			onChange={({ currentTarget }) => {
				const [name, direction] = currentTarget.value.split(" ");
				if (name === usualOrder?.field && usualOrder?.label) list.clearSort();
				else if (name)
					list.setSort(name, direction === "desc" ? "desc" : "asc");
			}}
			data={[
				{ value: "", label: "Sort by …", disabled: true },
				...(usualOrder?.label
					? [
							{
								value: `${usualOrder.field} ${usualOrder.direction}`,
								label: usualOrder.label,
							},
						]
					: []),
				...orders.flatMap(({ name, header, direction }) => {
					const other = direction === "asc" ? "desc" : "asc";
					return [direction, other].map((one) => ({
						value: `${name} ${one}`,
						label: `${header}, ${one === "asc" ? "ascending" : "descending"}`,
					}));
				}),
			]}
		/>
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
		<Table.Th role="columnheader" w={40}>
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
			<Table.Th role="columnheader" ta={align} scope="col" {...size}>
				{header}
			</Table.Th>
		);
	}
	const direction =
		list.order?.field === sort ? list.order.direction : undefined;
	const first = column.firstDirection ?? "asc";
	const next = direction ? (direction === "asc" ? "desc" : "asc") : first;
	// A usual order that no column has can be reached only by a third click.
	const isLast = direction !== undefined && direction !== first;
	const sortNext = () =>
		isLast && list.usualOrder?.label
			? list.clearSort()
			: list.setSort(sort, next);
	const Arrow = !direction
		? IconArrowsSort
		: direction === "asc"
			? IconArrowUp
			: IconArrowDown;
	return (
		<Table.Th
			role="columnheader"
			ta={align}
			scope="col"
			{...size}
			aria-sort={
				direction ? (direction === "asc" ? "ascending" : "descending") : "none"
			}
		>
			<UnstyledButton fw="inherit" fz="inherit" onClick={sortNext}>
				<Group gap={4} wrap="nowrap">
					{header}
					<Arrow size={14} aria-hidden opacity={direction ? 1 : 0.45} />
				</Group>
			</UnstyledButton>
		</Table.Th>
	);
}
