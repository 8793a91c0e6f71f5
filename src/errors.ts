import {
	codeOf,
	DISK_FULL,
	isLockTimeout,
	isReadOnlyDatabase,
	isTransactionConflict,
	LOCK_NOT_AVAILABLE,
	QUERY_CANCELED,
} from "./db/sqlstate.ts";

/**
 * All error codes that a caller can receive, with their HTTP statuses. Callers compare codes and
 * never the text of a message. A message says what was wrong, where, and what to do next.
 */
export const HTTP_STATUS = {
	bad_request: 400,
	unauthorized: 401,
	forbidden: 403,
	not_found: 404,
	conflict: 409,
	internal_server_error: 500,
	service_unavailable: 503,
} as const;

export type ErrorCode = keyof typeof HTTP_STATUS;

/** One problem with one field of an input. */
export interface FieldIssue {
	/**
	 * Path of the field, such as `filter.owner_id` or `vendor_ids[2]`. It is empty if the issue
	 * concerns the whole input.
	 */
	field: string;
	/** The problem, such as "is required" or "must be one of LOW, HIGH". */
	message: string;
}

/** Returns the path of a field as people write it, such as `results[3].evidence`. */
export function issuePath(path: readonly PropertyKey[]): string {
	return path.reduce<string>((text, part) => {
		if (typeof part === "number") return `${text}[${part}]`;
		return text ? `${text}.${String(part)}` : String(part);
	}, "");
}

export class AppError extends Error {
	readonly code: ErrorCode;
	/** The wrong fields of a bad_request. A form can show each message beside its field. */
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

/** A start cannot succeed before a person changes something, such as a setting. */
export class StartRefused extends AppError {
	override name = "StartRefused";
}

/**
 * Exit code of `assay start` after StartRefused, EX_CONFIG of sysexits.h. The unit of systemd then
 * does not start the service again.
 */
export const EXIT_REFUSED = 78;

/** The service is in maintenance. The header `Retry-After` says that the caller may retry. */
export class InMaintenance extends AppError {
	constructor(refusal: string) {
		super("forbidden", refusal);
		this.name = "InMaintenance";
	}
}

/** Makes a bad_request that names the wrong fields. */
export function badFields(fields: FieldIssue[]): AppError {
	const message = fields
		.map(({ field, message }) => (field ? `${field}: ${message}` : message))
		.join("; ");
	return new AppError("bad_request", message, { fields });
}

/** Makes the error of a service that is healthy but overloaded. The caller should retry later. */
export function overloaded(
	message = "the service is overloaded; retry later",
): AppError {
	return new AppError("service_unavailable", message);
}

/**
 * Number of seconds that a caller should wait after a 503. The header `Retry-After` has this
 * number.
 */
export const RETRY_AFTER_SECONDS = 15;

/**
 * Matches SQLSTATE codes of errors that pass, so that a caller should retry (appendix A of
 * PostgreSQL's manual):
 *
 * - 08: connection lost
 * - 25006: read-only standby
 * - 25P03: a transaction was idle for too long
 * - 28: our login was rejected
 * - 3D000: the database does not exist
 * - 40: deadlock or serialization failure
 * - 53: resources or disk full
 * - 55000: the database is closed to connections
 * - 55P03: lock timeout
 * - 57: shutdown or statement timeout
 * - 58: I/O error
 */
const UNAVAILABLE_SQLSTATE =
	/^(08|25006|25P03|28|3D000|40|53|55000|55P03|57|58)/;

/** Errors of the operating system that can occur between the service and the database. */
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
 * Errors that mean that the database cannot be reached, but only if they come from connecting to
 * its Unix socket. From any other system call, they mean that the service cannot read one of its
 * own files.
 */
const CONNECT_ERRNO = new Set(["ENOENT", "EACCES"]);

/** Errors of OpenSSL and Node about the certificate of the database server. */
const UNAVAILABLE_TLS =
	/^(CERT_|UNABLE_TO_|SELF_SIGNED_|DEPTH_ZERO_|INVALID_CA|ERR_TLS_CERT_|ERR_SSL_)/;

/**
 * Matches messages of `pg` for errors without a code: a connection was cut or closed, the server has
 * no TLS, the pool could not connect in time, or an answer never came.
 */
const UNAVAILABLE_MESSAGE =
	/^(Connection terminated|The server does not support SSL|Client .* is not queryable$|timeout exceeded when trying to connect|timeout expired|Query read timeout)/;

/** Returns true if the database cannot be reached, or is starting, stopping or full. */
export function isDatabaseUnavailable(error: unknown): boolean {
	if (!(error instanceof Error)) return false;
	const code = codeOf(error);
	if (code === undefined) return UNAVAILABLE_MESSAGE.test(error.message);
	if (CONNECT_ERRNO.has(code)) {
		return (error as { syscall?: unknown }).syscall === "connect";
	}
	return (
		UNAVAILABLE_ERRNO.has(code) ||
		UNAVAILABLE_SQLSTATE.test(code) ||
		UNAVAILABLE_TLS.test(code)
	);
}

/**
 * Returns true if the database is unavailable for everybody. It returns false for a lock that was
 * held too long, a deadlock or a slow statement, which may concern the data of one organization.
 */
export function isConnectionTrouble(error: unknown): boolean {
	return (
		isDatabaseUnavailable(error) &&
		!isTransactionConflict(error) &&
		!isLockTimeout(error) &&
		codeOf(error) !== QUERY_CANCELED
	);
}

/** Returns true if no connection of the pool became free in time. */
export function isPoolTimeout(error: unknown): boolean {
	return (
		error instanceof Error &&
		error.message === "timeout exceeded when trying to connect"
	);
}

/** The message of a 503 whose cause is the database and not the number of requests. */
export const SLOW_DATABASE =
	"the service's database is too slow to answer; retry later";

/** Says whether the database or the load is the cause, so that an operator looks there first. */
function describeUnavailable(error: unknown): string {
	if (isReadOnlyDatabase(error)) {
		return "the service's database does not accept writes at the moment; retry later";
	}
	const code = codeOf(error);
	// The log tells the operator that the disk is full. That is nobody else's business.
	if (code === DISK_FULL) {
		return "the service cannot store data at the moment; retry later, and if it happens again, tell the operator";
	}
	if (code === QUERY_CANCELED) return SLOW_DATABASE;
	if (code === LOCK_NOT_AVAILABLE || isTransactionConflict(error)) {
		return "the service is overloaded: other requests change the same data; retry later";
	}
	if (isPoolTimeout(error)) {
		return "all connections of the service to its database are busy: it is overloaded, or the database does not answer; retry later";
	}
	return "the service cannot reach its database; retry later";
}

/**
 * Turns any thrown value into an AppError. An error that the caller can do nothing about becomes
 * "internal error". The original error is its `cause`, which only the log shows.
 */
export function toAppError(error: unknown): AppError {
	if (error instanceof AppError) return error;
	if (isDatabaseUnavailable(error)) {
		return new AppError("service_unavailable", describeUnavailable(error), {
			cause: error,
		});
	}
	return new AppError(
		"internal_server_error",
		"internal error; retry, and if it happens again, give the operator the x-request-id of this response",
		{
			cause: error,
		},
	);
}

const NODE_HINT =
	"; if the root CA is installed locally, try running Node.js with --use-system-ca";

/**
 * Returns the message of a failed connection in plain words. It leaves out Node's hint about unknown
 * certificates, because the service has settings of its own for them, and OpenSSL's places in
 * `4093…:error:0A00010B:SSL routines:tls_validate_record_header:wrong version number:../deps/…:78:`.
 */
export function plainReason(message: string): string {
	const parts = message.split(":");
	return parts[1] === "error" && parts[3] === "SSL routines"
		? `TLS failed: ${parts[5]}`
		: message.replace(NODE_HINT, "");
}
