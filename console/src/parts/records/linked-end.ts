/** A record at the other end of a link, as the audit log stores it. */
export interface LinkedEnd {
	kind: string;
	id: string;
	name: string | null;
}

export function isLinkedEnd(value: unknown): value is LinkedEnd {
	return (
		typeof value === "object" &&
		value !== null &&
		"kind" in value &&
		"id" in value &&
		typeof value.id === "string"
	);
}
