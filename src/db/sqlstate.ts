/** The SQLSTATE codes that the code tells apart (appendix A of PostgreSQL's manual). */
export const FOREIGN_KEY_VIOLATION = "23503";
export const UNIQUE_VIOLATION = "23505";
/** A write on a standby, or where default_transaction_read_only is on. */
export const READ_ONLY_TRANSACTION = "25006";
export const INSUFFICIENT_PRIVILEGE = "42501";
/** Another transaction held a lock for longer than lock_timeout. */
export const LOCK_NOT_AVAILABLE = "55P03";
/** Most often: the statement took longer than statement_timeout. */
export const QUERY_CANCELED = "57014";

/** Class 40: a deadlock or a serialization failure. The same transaction may succeed at once. */
const TRANSACTION_ROLLBACK = "40";

/** Returns the code of an error: PostgreSQL's, or the operating system's such as ECONNREFUSED. */
export function codeOf(error: unknown): string | undefined {
	const code = error instanceof Error && (error as { code?: unknown }).code;
	return typeof code === "string" ? code : undefined;
}

/** True for a deadlock or a serialization failure: the same transaction may succeed at once. */
export function isTransactionConflict(error: unknown): boolean {
	return codeOf(error)?.startsWith(TRANSACTION_ROLLBACK) ?? false;
}

/** True when another transaction held a lock for longer than this one may wait. */
export function isLockTimeout(error: unknown): boolean {
	return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** True when the database takes no writes, for example because it is a standby. */
export function isReadOnlyDatabase(error: unknown): boolean {
	return codeOf(error) === READ_ONLY_TRANSACTION;
}
