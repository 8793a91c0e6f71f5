import { Text } from "@mantine/core";
import { FIELD_LABELS } from "../../../parts/field-labels.ts";

/** Shows what is new in a version of a document. Renders nothing if its author did not say so. */
export function WhatIsNew({ changelog }: { changelog: string | null }) {
	if (!changelog) return null;
	return (
		<Text size="sm">
			<b>{FIELD_LABELS.document.changelog}:</b> {changelog}
		</Text>
	);
}
