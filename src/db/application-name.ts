/** PostgreSQL keeps this many bytes of a name and logs a notice when it cuts a longer one. */
const MAX_BYTES = 63;

/**
 * Returns the name of a connection while it works for a request: "assay <request id> <operation>".
 * It appears in pg_stat_activity and, with %a, in PostgreSQL's log. The caller may choose the
 * request id, so everything except letters, digits and a few marks is removed before it can mean
 * something in SQL.
 */
export function applicationName(requestId: string, operation: string): string {
	return ["assay", requestId, operation]
		.filter((part) => part !== "")
		.join(" ")
		.replace(/[^\w .:-]/g, "")
		.slice(0, MAX_BYTES)
		.trimEnd();
}
