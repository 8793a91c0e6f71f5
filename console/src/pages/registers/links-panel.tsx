import type { RegisterKind } from "../../register-kinds.ts";

/** The records linked to a record, by kind. */
export function LinksPanel(_: {
	organizationId: string;
	kind: RegisterKind;
	id: string;
}) {
	return null;
}
