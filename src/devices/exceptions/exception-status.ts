/** The devices that an exception covers. */
export const SCOPES = ["DEVICE", "GROUP", "PLATFORM", "ALL"] as const;

export const EXCEPTION_STATUSES = [
	"REQUESTED",
	"SCHEDULED",
	"IN_FORCE",
	"ENDED",
	"REJECTED",
] as const;
export type ExceptionStatus = (typeof EXCEPTION_STATUSES)[number];

/** Days before its end at which an exception reminds of itself, the first reminder first. */
export const REMINDER_DAYS = [14, 3] as const;

/** Days before its end in which somebody has to decide what comes after an exception. */
export const ENDING_DAYS = 30;

/** An SQL condition: the exception `t` is approved and ends soon. */
export const ENDS_SOON = `(t.decision = 'APPROVED' and t.ends_at > now()
	and t.ends_at < now() + interval '${ENDING_DAYS} days')`;

/** Longest time from an exception's start to its end. */
export const MAX_EXCEPTION_DAYS = 366;

/**
 * Returns an SQL condition: the exception `e` excuses its devices at this time. It counts from its
 * start, but not before it was approved.
 */
export const isInForce = (now: string) =>
	`(e.decision = 'APPROVED' and e.starts_at <= ${now} and e.decided_at <= ${now} and e.ends_at > ${now})`;

/** An SQL expression for the status of an exception `t`. */
export const EXCEPTION_STATUS = `
	case
		when t.decision = 'REJECTED' then 'REJECTED'
		when t.ends_at <= now() then 'ENDED'
		when t.decision is null then 'REQUESTED'
		when t.starts_at > now() then 'SCHEDULED'
		else 'IN_FORCE'
	end`;
