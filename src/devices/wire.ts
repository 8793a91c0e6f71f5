import { z } from "zod";
import { issuePath } from "../issue-path.ts";
import {
	type Evidence,
	MAX_EVIDENCE_DEPTH,
	MAX_RESULTS,
	PLATFORMS,
	POSTURE_STATUSES,
} from "./terms.ts";

// The shapes of the Device Agent API, as agents send them. Unknown fields are ignored.

/** The message for a field of the wrong kind, or "is required" for one that is absent. */
function says(message: string) {
	return {
		error: (issue: { input?: unknown }) =>
			issue.input === undefined ? "is required" : message,
	};
}

const body = says("must be a JSON object");
const text = z.string(says("must be a string"));
// Not zod's own min and max: they read the length of a value of any type, and throw on some.
const required = text.refine((value) => value !== "", "must not be empty");

export const enrollRequest = z.object({ token: required }, body);

export const heartbeatRequest = z.object(
	{
		hardware_uuid: required,
		serial_number: text.nullish(),
		hostname: required,
		platform: z.enum(PLATFORMS, says(`must be one of ${PLATFORMS.join(", ")}`)),
		os_version: required,
		agent_version: required,
	},
	body,
);

export type HeartbeatRequest = z.infer<typeof heartbeatRequest>;

const evidence = z.custom<Evidence>(
	(value) =>
		typeof value === "object" &&
		value !== null &&
		!Array.isArray(value) &&
		isShallow(value, MAX_EVIDENCE_DEPTH),
	`must be an object nested at most ${MAX_EVIDENCE_DEPTH} deep`,
);

function isShallow(value: unknown, levels: number): boolean {
	if (typeof value !== "object" || value === null) return true;
	if (levels === 0) return false;
	for (const inner of Object.values(value)) {
		if (!isShallow(inner, levels - 1)) return false;
	}
	return true;
}

const RFC3339 =
	/^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([+-])(\d\d):(\d\d))$/;

/** The earliest time that PostgreSQL and RFC 3339 both know: year 1. */
const EARLIEST = -62_135_596_800_000_000;

/** `compute`, remembering its last answer: the results of a report mostly share one time. */
function rememberLast<Input, Output>(
	compute: (input: Input) => Output,
): (input: Input) => Output {
	let last: { input: Input; output: Output } | undefined;
	return (input) => {
		if (last?.input !== input) last = { input, output: compute(input) };
		return last.output;
	};
}

/**
 * Microseconds since 1970 of an RFC 3339 time with offset, undefined when malformed.
 * Nanoseconds are cut off, a leap second (:60) is the next minute's first, and the
 * year 0 is read as the beginning of year 1.
 */
export const parseRfc3339 = rememberLast((text: string): number | undefined => {
	const match = RFC3339.exec(text);
	if (!match) return undefined;
	const [year, month, day, hour, minute, second] = match
		.slice(1, 7)
		.map(Number) as [number, number, number, number, number, number];
	const offsetHours = Number(match[9] ?? 0);
	const offsetMinutes = Number(match[10] ?? 0);
	if (hour > 23 || minute > 59 || second > 60) return undefined;
	if (offsetHours > 23 || offsetMinutes > 59) return undefined;
	const date = new Date(0);
	// Not Date.UTC, which reads the years 0 to 99 as 1900 to 1999.
	date.setUTCFullYear(year, month - 1, day);
	if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) {
		return undefined;
	}
	const offset =
		(offsetHours * 60 + offsetMinutes) * (match[8] === "-" ? -1 : 1);
	const seconds =
		date.getTime() / 1000 + hour * 3600 + (minute - offset) * 60 + second;
	const fraction = Number((match[7] ?? "").padEnd(6, "0").slice(0, 6));
	return Math.max(seconds * 1_000_000 + fraction, EARLIEST);
});

/** Microseconds since 1970 as RFC 3339 UTC with six digits. */
export const formatRfc3339 = rememberLast((microseconds: number): string => {
	const millis = Math.floor(microseconds / 1000);
	const rest = String(microseconds - millis * 1000).padStart(3, "0");
	return `${new Date(millis).toISOString().slice(0, -1)}${rest}Z`;
});

const observedAt = text.transform((time, context) => {
	const microseconds = parseRfc3339(time);
	if (microseconds === undefined) {
		context.addIssue({
			code: "custom",
			message:
				"must be an RFC 3339 time with offset, such as 2026-03-31T08:00:00.123Z",
		});
		return z.NEVER;
	}
	return microseconds;
});

export const postureResult = z.object(
	{
		check_key: required,
		status: z.enum(
			POSTURE_STATUSES,
			says(`must be one of ${POSTURE_STATUSES.join(", ")}`),
		),
		evidence: evidence.nullish(),
		/** Parsed to microseconds since 1970. */
		observed_at: observedAt,
		correlation_id: text.nullish(),
	},
	says("must be an object"),
);

export type PostureResult = z.infer<typeof postureResult>;

export const posturesRequest = z.object(
	{
		// Counted before any is looked at: a megabyte holds half a million wrong ones.
		results: z
			.array(z.unknown(), says("must be an array"))
			.refine(
				(results) => results.length <= MAX_RESULTS,
				`must have at most ${MAX_RESULTS} elements`,
			)
			.pipe(z.array(postureResult)),
	},
	body,
);

/** `server_time` for a moment in seconds since 1970: RFC 3339 UTC, whole seconds. */
export const formatServerTime = rememberLast(
	(seconds: number): string =>
		`${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`,
);

/** What is wrong with a body, naming each field: `results[3].status must be one of …`. */
export function describeIssues(error: z.ZodError): string {
	const shown = error.issues.slice(0, 5).map((issue) => {
		const path = issuePath(issue.path);
		return `${path || "the body"} ${issue.message}`;
	});
	const more = error.issues.length - shown.length;
	return shown.join("; ") + (more > 0 ? `; and ${more} more` : "");
}
