import { Table } from "@mantine/core";
import type { CSSProperties, ReactNode } from "react";
import classes from "./data-table.module.css";

/**
 * A short table within a page. If it is wider than its box, it scrolls inside it. On a phone, each
 * row is a card, as in DataTable. The roles are written out, because the cards' layout would take
 * the table's meaning away from screen readers.
 */
export function CardTable({
	label,
	minWidth,
	columns,
	rows,
	firstStyle = {},
}: {
	/** Text that tells screen readers what the table lists. */
	label: string;
	/** The least width of the table in px on a screen where it is a table. */
	minWidth: number;
	columns: readonly string[];
	/** The cells of each row, in the order of the columns. The first one names the row. */
	rows: readonly { key: string; cells: readonly ReactNode[] }[];
	/** The style of the first column. */
	firstStyle?: CSSProperties;
}) {
	return (
		<Table.ScrollContainer
			minWidth={minWidth}
			type="native"
			className={classes.scroll ?? ""}
			tabIndex={0}
			role="region"
			aria-label={label}
		>
			<Table role="table" className={classes.cards ?? ""}>
				<Table.Thead role="rowgroup">
					<Table.Tr role="row">
						{columns.map((column, at) => (
							<Table.Th
								key={column}
								role="columnheader"
								scope="col"
								style={at === 0 ? firstStyle : {}}
							>
								{column}
							</Table.Th>
						))}
					</Table.Tr>
				</Table.Thead>
				<Table.Tbody role="rowgroup">
					{rows.map(({ key, cells }) => (
						<Table.Tr key={key} role="row" className="data-table-row">
							{cells.map((cell, at) => (
								<Table.Td
									key={columns[at]}
									role="cell"
									style={at === 0 ? firstStyle : {}}
									// The first cell is the name and needs no label.
									{...(at > 0 ? { "data-label": columns[at] } : {})}
								>
									<div className={classes.value ?? ""}>{cell}</div>
								</Table.Td>
							))}
						</Table.Tr>
					))}
				</Table.Tbody>
			</Table>
		</Table.ScrollContainer>
	);
}
