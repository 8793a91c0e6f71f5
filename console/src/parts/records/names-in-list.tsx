import type { ReactNode } from "react";
import { NamesOfList, useRecordNames } from "./record-names.ts";

/**
 * Loads the names of the records that a list refers to. Cells read them from the context, so that
 * the list does not render again when the names arrive.
 */
export function NamesInList({
	organizationId,
	ids,
	children,
}: {
	organizationId: string;
	ids: readonly string[];
	children: ReactNode;
}) {
	const names = useRecordNames(organizationId, ids);
	return <NamesOfList value={names}>{children}</NamesOfList>;
}
