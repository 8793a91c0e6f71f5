import { Text, Title } from "@mantine/core";
import { inWriting, isFigures, linesIn, type ReportTable } from "./report.ts";
import styles from "./reports.module.css";

/** Shows a table of a report. On a phone, each row is a card. */
export function Table({ table }: { table: ReportTable }) {
	const { title, note, columns, rows, stacked = [] } = table;
	const areFigures = columns.map((_, at) => isFigures(table, at));
	return (
		<section aria-label={title}>
			<Title order={2} mb="xs">
				{title}
			</Title>
			{note && rows.length > 0 && (
				<Text size="sm" c="dimmed" mb="xs">
					{note}
				</Text>
			)}
			{rows.length === 0 ? (
				<Text c="dimmed">There are none.</Text>
			) : (
				// A wide table scrolls by itself, and the keyboard reaches it.
				<section
					className={styles.scroll}
					// biome-ignore lint/a11y/noNoninteractiveTabindex: so that the keyboard can scroll it.
					tabIndex={0}
					aria-label={`Table: ${title}`}
				>
					<table className={styles.table}>
						<thead>
							<tr>
								{columns.map((column, at) => (
									<th
										key={column}
										scope="col"
										data-figures={areFigures[at] || undefined}
									>
										{column}
									</th>
								))}
							</tr>
						</thead>
						<tbody>
							{rows.map((cells, at) => (
								// biome-ignore lint/suspicious/noArrayIndexKey: the rows never change their places.
								<tr key={at}>
									{cells.map(inWriting).map((cell, column) => (
										<td
											key={columns[column]}
											// A name needs no label, but a figure does.
											data-label={
												column > 0 || areFigures[0]
													? columns[column]
													: undefined
											}
											data-figures={areFigures[column] || undefined}
										>
											{typeof cell === "number" ? (
												cell.toLocaleString()
											) : stacked.includes(column) ? (
												<Stacked cell={cell} />
											) : (
												cell
											)}
										</td>
									))}
								</tr>
							))}
						</tbody>
					</table>
				</section>
			)}
		</section>
	);
}

function Stacked({ cell }: { cell: string }) {
	const [first, rest] = linesIn(cell);
	// One element, because on a phone a cell lays out its children side by side.
	return (
		<div>
			<Text span inherit fw={500}>
				{first}
			</Text>
			{rest}
		</div>
	);
}
