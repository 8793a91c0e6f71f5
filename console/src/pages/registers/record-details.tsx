import { Box, Paper, Stack, Title } from "@mantine/core";
import type {
	FieldDescription,
	KindDescription,
} from "../../kind-description.ts";
import { type AnyRecord, titleOf } from "../../kinds.ts";
import { Columns } from "../../parts/columns.tsx";
import { FieldValue, Questioned } from "../../parts/records/field-value.tsx";
import {
	referencesIn,
	useRecordNames,
} from "../../parts/records/record-names.ts";
import { shownValue } from "../../parts/records/undecided.ts";
import { isMeaningful, sectionsOf } from "../../register-layouts.ts";
import { DecideRisk } from "./decide-risk.tsx";
import { HintList } from "./hint-list.tsx";
import { isUndecided, useHints } from "./hints.ts";

/** Shows all fields of a record, in the order in which people read them. */
export function RecordDetails({
	kind,
	record,
	organizationId,
}: {
	kind: KindDescription;
	record: AnyRecord;
	organizationId: string;
}) {
	const names = useRecordNames(organizationId, referencesIn(kind, [record]));
	const hints = useHints(kind, record, organizationId);
	const { title: named } = kind;
	// If the page's heading shows the whole title, it is not repeated here. The heading cuts off a
	// long title.
	const inHeading =
		named && record[named] === titleOf(kind, record) ? named : null;
	// The hint above the details says what the note of a suggested risk says.
	const inHint =
		isUndecided(record) && shownValue(record, "note") === null ? "note" : null;
	return (
		<Stack>
			<HintList kind={kind} hints={hints}>
				<DecideRisk record={record} />
			</HintList>
			{sectionsOf(kind).map(({ title, fields }) => (
				<Paper
					key={title}
					withBorder
					p="lg"
					component="section"
					aria-label={title}
				>
					<Title order={2} mb="md">
						{title}
					</Title>
					<Columns as="dl" cols={{ base: 1, xs: 2, md: 3 }} spacing="lg">
						{fields
							.filter(
								({ name }) =>
									name !== inHeading &&
									name !== inHint &&
									isMeaningful(name, record),
							)
							.map((field) => (
								<Box
									key={field.name}
									style={isLong(field, record) ? { gridColumn: "1 / -1" } : {}}
								>
									<Box component="dt" c="dimmed" fz="sm" mb={2}>
										{field.label}
									</Box>
									<Box component="dd" m={0}>
										<Questioned
											hint={hints.find((hint) => hint.field === field.name)}
										>
											<FieldValue
												field={field}
												value={shownValue(record, field.name)}
												implied={record.checks}
												names={names}
												organizationId={organizationId}
											/>
										</Questioned>
									</Box>
								</Box>
							))}
					</Columns>
				</Paper>
			))}
		</Stack>
	);
}

const LONG = 60;

/**
 * Returns true for a long text, which takes the whole width. Short texts are placed side by side.
 */
function isLong({ name, type }: FieldDescription, record: AnyRecord): boolean {
	const value = record[name];
	if (type === "text") return true;
	return type === "name" && typeof value === "string" && value.length > LONG;
}
