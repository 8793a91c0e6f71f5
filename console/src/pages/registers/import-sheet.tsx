import { Group, Select, Stack, Text } from "@mantine/core";
import type { ChosenSheet, ChosenWorkbook } from "./import-workbook.ts";

/** Asks which sheet of a workbook is imported, and which of its rows has the headings. */
export function SheetFields({
	workbook: { sheet, workbook },
	table,
	onSheet,
	onHeadings,
}: {
	workbook: ChosenWorkbook;
	/** The sheet, once it is read. */
	table: ChosenSheet | undefined;
	onSheet: (sheet: number) => void;
	onHeadings: (row: number) => void;
}) {
	const { sheets } = workbook;
	return (
		<Stack gap="sm" mt="md">
			<Group justify="center" align="flex-end" gap="md">
				{sheets.length > 1 && (
					<Select
						label="Sheet"
						data={sheets.map(({ name, isHidden }, at) => ({
							value: String(at),
							label: isHidden ? `${name} (hidden)` : name,
						}))}
						value={String(sheet)}
						onChange={(chosen) => chosen && onSheet(Number(chosen))}
						allowDeselect={false}
						w={340}
						maw="100%"
					/>
				)}
				{table && (
					<Select
						label="Row with the headings"
						data={table.headingChoices.map(({ row, text }) => ({
							value: String(row),
							label: `${row}: ${text}`,
						}))}
						value={String(table.headingRow)}
						onChange={(chosen) => chosen && onHeadings(Number(chosen))}
						allowDeselect={false}
						w={340}
						maw="100%"
					/>
				)}
			</Group>
			{table?.notes.map((note) => (
				<Text key={note} size="sm" ta="center" role="status">
					{note}
				</Text>
			))}
		</Stack>
	);
}
