/**
 * What can go wrong, as a caller may know it: a closed list. Nobody matches on
 * message text; a message says what was wrong, where, and what to do next.
 */
export const HTTP_STATUS = {
	bad_request: 400,
	unauthorized: 401,
	forbidden: 403,
	not_found: 404,
	internal_server_error: 500,
	service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof HTTP_STATUS;

/** What is wrong with one field of an input. */
export interface FieldIssue {
	/** `filter.owner_id`, `vendor_ids[2]`; empty for the input as a whole. */
	field: string;
	/** "is required", "must be one of LOW, HIGH". */
	message: string;
}

export class AppError extends Error {
	readonly code: ErrorCode;
	/** For bad_request: the fields at fault, so that a form can show each beside its field. */
	readonly fields: FieldIssue[] | undefined;

	constructor(
		code: ErrorCode,
		message: string,
		options?: ErrorOptions & { fields?: FieldIssue[] },
	) {
		super(message, options);
		this.name = "AppError";
		this.code = code;
		this.fields = options?.fields;
	}

	get status(): number {
		return HTTP_STATUS[this.code];
	}
}

/** A bad_request that names the fields at fault. */
export function badFields(fields: FieldIssue[]): AppError {
	const message = fields
		.map(({ field, message }) => (field ? `${field}: ${message}` : message))
		.join("; ");
	return new AppError("bad_request", message, { fields });
}

/** What is refused because there is more to do than can be done soon: nothing is out of order. */
export function busy(
	message = "the service is busy: it receives more than it can do at present; try again later",
): AppError {
	return new AppError("service_unavailable", message);
}

/** Seconds a caller is asked to wait after a 503, as `Retry-After`. */
export const RETRY_AFTER_SECONDS = 15;

/**
 * PostgreSQL states that mean "not now" rather than "not ever" (appendix A of its
 * manual): 08 connection, 25006 read-only standby, 25P03 a transaction left idle, 28 our login refused, 3D000 database
 * gone, 40 deadlock or serialization, 53 resources or disk full, 55000 database closed to
 * connections, 55P03 lock timeout, 57 shutdown or statement timeout, 58 I/O.
 */
const UNAVAILABLE_SQLSTATE =
	/^(08|25006|25P03|28|3D000|40|53|55000|55P03|57|58)/;

/** Errors of the operating system while reaching the database. */
const UNAVAILABLE_ERRNO = new Set([
	"ECONNREFUSED",
	"ECONNRESET",
	"EPIPE",
	"ETIMEDOUT",
	"ENOTFOUND",
	"EAI_AGAIN",
	"EHOSTUNREACH",
	"ENETUNREACH",
	"EMFILE",
]);

/** The same of a Unix socket; a file of ours that cannot be read is another trouble. */
const FILE_ERRNO = new Set(["ENOENT", "EACCES"]);

/**
 * `pg` gives these no code: a connection that is cut, or was cut or closed before this
 * statement, a pool that could not connect in time, a lost answer.
 */
const UNAVAILABLE_MESSAGE =
	/^(Connection terminated|Client .* is not queryable$|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** True when the database is away, starting, stopping or full. */
export function isDatabaseUnavailable(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const { code, syscall } = error as { code?: unknown; syscall?: unknown };
	if (typeof code === "string") {
		if (FILE_ERRNO.has(code)) return syscall === "connect";
		return UNAVAILABLE_ERRNO.has(code) || UNAVAILABLE_SQLSTATE.test(code);
	}
	return UNAVAILABLE_MESSAGE.test(error.message);
}

/** "read_only_sql_transaction": a write on a standby, or where default_transaction_read_only is on. */
export const READ_ONLY_SQLSTATE = "25006";

export function isReadOnlyDatabase(error: unknown): boolean {
	return (
		error instanceof Error &&
		(error as { code?: unknown }).code === READ_ONLY_SQLSTATE
	);
}

/** True for a deadlock or serialization failure: the same statement may pass at once. */
export function isTransactionConflict(error: unknown): boolean {
	const code = error instanceof Error && (error as { code?: unknown }).code;
	return typeof code === "string" && code.startsWith("40");
}

/** True when another transaction kept a lock for longer than was to be waited for it. */
export function isLockTimeout(error: unknown): boolean {
	return (
		error instanceof Error && (error as { code?: unknown }).code === "55P03"
	);
}

/** No connection was free in time. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";
/**
 * Another transaction kept what this one needs for too long (55P03), or was in its way each time it
 * tried (40); the statement took longer than it may (57014).
 */
const BUSY_SQLSTATE = /^(40|55P03|57014)/;

function describeUnavailable(error: unknown): string {
	if (isReadOnlyDatabase(error)) {
		return "the service's database takes no writes at present; try again later";
	}
	const { code, message } = error as { code?: unknown; message?: unknown };
	return BUSY_SQLSTATE.test(String(code)) || message === POOL_TIMEOUT
		? "the service is busy, or its database slow to answer; try again later"
		: "the service cannot reach its database; try again later";
}

/**
 * Any thrown value as an AppError. A fault that is not ours to describe becomes
 * "internal error" with the original as `cause`, for the log alone.
 */
export function toAppError(error: unknown): AppError {
	if (error instanceof AppError) return error;
	if (isDatabaseUnavailable(error)) {
		return new AppError("service_unavailable", describeUnavailable(error), {
			cause: error,
		});
	}
	return new AppError("internal_server_error", "internal error", {
		cause: error,
	});
}
