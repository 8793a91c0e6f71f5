import { z } from "zod";

export const DEFAULT_KEY_DAYS = 30;
export const MAX_KEY_DAYS = 365;
export const MAX_KEY_DEVICES = 100_000;
/** Days before its end from which a key counts as running out. */
export const RUNNING_OUT_DAYS = 7;

export const KEY_STATES = [
	"OPEN",
	"RUNNING_OUT",
	"USED_UP",
	"EXPIRED",
	"REVOKED",
] as const;

/** An SQL condition: the key `t` expires soon, or has at most a tenth of its devices left. */
const SOON = `(
	t.expires_at <= now() + interval '${RUNNING_OUT_DAYS} days'
	or t.max_devices - t.used <= t.max_devices / 10
)`;

/** An SQL expression for the state of a key `t`. */
export const KEY_STATE = `
	case
		when t.revoked_at is not null then 'REVOKED'
		when t.expires_at <= now() then 'EXPIRED'
		when t.used >= t.max_devices then 'USED_UP'
		when ${SOON} then 'RUNNING_OUT'
		else 'OPEN'
	end`;

export const enrollmentKey = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string(),
	state: z
		.enum(KEY_STATES)
		.describe(
			`RUNNING_OUT: at most ${RUNNING_OUT_DAYS} days or a tenth of the devices left`,
		),
	expires_at: z.string(),
	max_devices: z.int().describe("Most devices that may enroll with it"),
	used: z.int().describe("Devices that enrolled with it"),
	waiting: z.int().describe("Devices of it that wait for approval"),
	requires_approval: z.boolean(),
	group_id: z.string().nullable(),
	group_name: z.string().nullable(),
	last_used_at: z.string().nullable(),
	revoked_at: z.string().nullable(),
	created_by: z.string().nullable(),
	created_at: z.string(),
});

export type EnrollmentKey = z.output<typeof enrollmentKey>;

/** The columns of a key `t`. */
export const KEY_COLUMNS = `
	t.id, t.organization_id, t.name, ${KEY_STATE} as state, t.expires_at, t.max_devices, t.used,
	(
		select count(*)::int from devices d
		where d.organization_id = t.organization_id and d.enrollment_key_id = t.id
			and d.awaits_approval and d.status = 'PENDING'
	) as waiting,
	t.requires_approval, t.group_id,
	(
		select g.name from device_groups g
		where g.organization_id = t.organization_id and g.id = t.group_id
	) as group_name, t.last_used_at, t.revoked_at, t.created_by, t.created_at`;
