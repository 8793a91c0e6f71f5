/** As long as PostgreSQL keeps it; of more it would say that it cut. */
const MAX_BYTES = 63;

/**
 * What a connection is called in pg_stat_activity and, with %a, in PostgreSQL's log while it works
 * for a request: "assay <request id> <operation>". A request's id may be the caller's own, so
 * whatever is more than letters, digits and a few marks is taken out, before it can mean something in SQL.
 */
export function applicationName(requestId: string, operation: string): string {
	return ["assay", requestId, operation]
		.filter((part) => part !== "")
		.join(" ")
		.replace(/[^\w .:-]/g, "")
		.slice(0, MAX_BYTES)
		.trimEnd();
}
