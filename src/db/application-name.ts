/** Longest application name, in bytes. PostgreSQL cuts a longer name and logs a notice. */
const MAX_BYTES = 63;

/**
 * Returns the application name of a connection that works for a request: "assay <request id>
 * <operation>". The name appears in pg_stat_activity and, with %a, in PostgreSQL's log. The caller
 * may choose the request id, so this function removes every character that could mean something in
 * SQL.
 */
export function applicationName(requestId: string, operation: string): string {
	return ["assay", requestId, operation]
		.filter((part) => part !== "")
		.join(" ")
		.replace(/[^\w .:-]/g, "")
		.slice(0, MAX_BYTES)
		.trimEnd();
}
