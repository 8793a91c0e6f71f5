/**
 * The SQLSTATE codes that Assay distinguishes. Appendix A of PostgreSQL's manual lists all codes.
 */
export const FOREIGN_KEY_VIOLATION = "23503";
export const UNIQUE_VIOLATION = "23505";
/** A statement tried to write on a standby, or where default_transaction_read_only is on. */
export const READ_ONLY_TRANSACTION = "25006";
export const INSUFFICIENT_PRIVILEGE = "42501";
/** The table does not exist. */
export const UNDEFINED_TABLE = "42P01";
/** The disk of the database server is full. */
export const DISK_FULL = "53100";
/** A statement needed more memory than the database server has. */
export const OUT_OF_MEMORY = "53200";
/** Another transaction held a lock for longer than lock_timeout. */
export const LOCK_NOT_AVAILABLE = "55P03";
/** A statement was canceled, in most cases because it took longer than statement_timeout. */
export const QUERY_CANCELED = "57014";

/**
 * Class 40: a deadlock or a serialization failure. A retry of the transaction may succeed
 * immediately.
 */
const TRANSACTION_ROLLBACK = "40";

/**
 * Returns the code of an error. The code comes from PostgreSQL, or from the operating system (such
 * as ECONNREFUSED).
 */
export function codeOf(error: unknown): string | undefined {
	const code = error instanceof Error && (error as { code?: unknown }).code;
	return typeof code === "string" ? code : undefined;
}

/**
 * Returns true for a deadlock or a serialization failure. A retry of the transaction may succeed
 * immediately.
 */
export function isTransactionConflict(error: unknown): boolean {
	return codeOf(error)?.startsWith(TRANSACTION_ROLLBACK) ?? false;
}

/** Returns true when another transaction held a lock for longer than this one may wait. */
export function isLockTimeout(error: unknown): boolean {
	return codeOf(error) === LOCK_NOT_AVAILABLE;
}

/** Returns true when the database does not accept writes, for example because it is a standby. */
export function isReadOnlyDatabase(error: unknown): boolean {
	return codeOf(error) === READ_ONLY_TRANSACTION;
}
