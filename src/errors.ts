import {
	codeOf,
	isReadOnlyDatabase,
	isTransactionConflict,
	LOCK_NOT_AVAILABLE,
	QUERY_CANCELED,
} from "./db/sqlstate.ts";

/**
 * The errors that a caller can receive, as a closed list. Nobody matches on the text of a message.
 * A message says what was wrong, where, and what to do next.
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

/** One problem with one field of an input. */
export interface FieldIssue {
	/** `filter.owner_id`, `vendor_ids[2]`; empty for the input as a whole. */
	field: string;
	/** "is required", "must be one of LOW, HIGH". */
	message: string;
}

/** Returns the path to a field of an input as people write it: `results[3].evidence`. */
export function issuePath(path: readonly PropertyKey[]): string {
	return path.reduce<string>((text, part) => {
		if (typeof part === "number") return `${text}[${part}]`;
		return text ? `${text}.${String(part)}` : String(part);
	}, "");
}

export class AppError extends Error {
	readonly code: ErrorCode;
	/**
	 * The fields at fault of a bad_request, so that a form can show each message beside its field.
	 */
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

/** Makes a bad_request that names the fields at fault. */
export function badFields(fields: FieldIssue[]): AppError {
	const message = fields
		.map(({ field, message }) => (field ? `${field}: ${message}` : message))
		.join("; ");
	return new AppError("bad_request", message, { fields });
}

/** Makes the error of a service that is healthy but overloaded. The caller should retry later. */
export function overloaded(
	message = "the service is overloaded: it receives more requests than it can handle; retry later",
): AppError {
	return new AppError("service_unavailable", message);
}

/** Seconds that a 503 asks the caller to wait, as `Retry-After`. */
export const RETRY_AFTER_SECONDS = 15;

/**
 * SQLSTATEs that mean "not now" rather than "never" (appendix A of PostgreSQL's manual): 08
 * connection, 25006 read-only standby, 25P03 transaction left idle, 28 our login was rejected,
 * 3D000 database does not exist, 40 deadlock or serialization, 53 resources or disk full, 55000
 * database closed to connections, 55P03 lock timeout, 57 shutdown or statement timeout, 58 I/O.
 */
const UNAVAILABLE_SQLSTATE =
	/^(08|25006|25P03|28|3D000|40|53|55000|55P03|57|58)/;

/** Errors of the operating system on the way to the database. */
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

/**
 * These mean that the database is away only when they come from connecting to its Unix socket.
 * From any other system call they mean that the service cannot read one of its own files.
 */
const CONNECT_ERRNO = new Set(["ENOENT", "EACCES"]);

/**
 * Messages of errors without a code from `pg`: a connection that was cut or closed, a pool that
 * could not connect in time, an answer that never came.
 */
const UNAVAILABLE_MESSAGE =
	/^(Connection terminated|Client .* is not queryable$|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** True when the database is away, starting, stopping or full. */
export function isDatabaseUnavailable(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const code = codeOf(error);
	if (code === undefined) return UNAVAILABLE_MESSAGE.test(error.message);
	if (CONNECT_ERRNO.has(code)) {
		return (error as { syscall?: unknown }).syscall === "connect";
	}
	return UNAVAILABLE_ERRNO.has(code) || UNAVAILABLE_SQLSTATE.test(code);
}

/** The message of `pg` when no connection of the pool was free in time. */
const POOL_TIMEOUT = "timeout exceeded when trying to connect";

function isOverload(error: unknown): boolean {
	const code = codeOf(error);
	return (
		code === LOCK_NOT_AVAILABLE ||
		code === QUERY_CANCELED ||
		isTransactionConflict(error) ||
		(error instanceof Error && error.message === POOL_TIMEOUT)
	);
}

function describeUnavailable(error: unknown): string {
	if (isReadOnlyDatabase(error)) {
		return "the service's database does not accept writes at the moment; retry later";
	}
	return isOverload(error)
		? "the service is overloaded, or its database is slow to answer; retry later"
		: "the service cannot reach its database; retry later";
}

/**
 * Turns any thrown value into an AppError. A fault that the caller cannot do anything about
 * becomes "internal error"; the original is its `cause`, which only the log shows.
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
