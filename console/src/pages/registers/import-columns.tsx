import { Button, Code } from "@mantine/core";
import { IconDownload } from "@tabler/icons-react";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { describeKind } from "../../kinds.ts";
import { CardTable } from "../../parts/card-table.tsx";
import { saveFile } from "../../save-file.ts";
import { givenFields } from "./form-values.ts";

/** The byte order mark. Without it, Excel reads a UTF-8 file in the system's legacy encoding. */
const BYTE_ORDER_MARK = "\ufeff";

/**
 * Returns the column's name. For a reference such as owner_id it is `owner`, because people write a
 * name in such a column.
 */
export function headingOf({ name, reference }: FieldDescription): string {
	return reference ? name.replace(/_id(s?)$/, "$1") : name;
}

/** Downloads a file that has only the column names, for the user to fill in. */
export function TemplateButton({ kind }: { kind: KindDescription }) {
	return (
		<Button
			variant="default"
			leftSection={<IconDownload size={16} aria-hidden />}
			onClick={() => {
				const headings = givenFields(kind).map(headingOf).join(",");
				saveFile(
					`assay-${kind.key.many.replaceAll("_", "-")}-template.csv`,
					new Blob([`${BYTE_ORDER_MARK}${headings}\r\n`], {
						type: "text/csv;charset=utf-8",
					}),
				);
			}}
		>
			Download a template
		</Button>
	);
}

/** Lists the columns of the file and says how to write their values. */
export function Columns({ kind }: { kind: KindDescription }) {
	return (
		<CardTable
			label="Columns"
			minWidth={480}
			columns={["Column", "In a new record", "Content"]}
			rows={[
				...givenFields(kind).map((field) => ({
					key: field.name,
					cells: [
						<Code key="column">{headingOf(field)}</Code>,
						field.given === "required" ? "Required" : "Optional",
						contentOf(field),
					],
				})),
				{
					key: "id",
					cells: [
						<Code key="column">id</Code>,
						"Leave empty",
						"The ID of the record that the line changes, as an export has it",
					],
				},
			]}
		/>
	);
}

function contentOf(field: FieldDescription): string {
	const { type, choices = [], reference, help, min, max } = field;
	switch (type) {
		case "choice":
			return choices.map(({ label }) => label).join(", ");
		case "countries":
			return "Country codes such as DE; separate several with semicolons";
		case "date":
			return `${help}; for example 2026-12-31 or 31.12.2026`;
		case "datetime":
			return `${help}; for example 2026-12-31T15:30:00Z`;
		case "integer":
			return max !== undefined && max < 1000
				? `${help}, ${min} to ${max}`
				: help;
		case "reference":
			return reference ? `${help}: ${naming(reference)}` : help;
		case "references":
			return reference
				? `${help}: ${naming(reference)}; separate several with semicolons`
				: help;
		case "names":
		case "emails":
		case "checks":
			return `${help}; separate several with semicolons`;
		default:
			return help;
	}
}

function naming(reference: NonNullable<FieldDescription["reference"]>): string {
	return reference === "people"
		? "e-mail address or name"
		: `name of the ${describeKind(reference).noun}`;
}
