import { z } from "zod";

export const DEFAULT_KEY_DAYS = 30;
export const MAX_KEY_DAYS = 365;
export const MAX_KEY_DEVICES = 100_000;

export const KEY_STATES = [
	"OPEN",
	"RUNNING_OUT",
	"USED_UP",
	"EXPIRED",
	"REVOKED",
] as const;

/** An SQL expression for the state of a key `t`. The function contains the rule. */
export const KEY_STATE =
	"enrollment_key_state(t.created_at, t.expires_at, t.revoked_at, t.max_devices, t.used)";

/**
 * An SQL expression for what administrators are told of a key `t`: RUNNING_OUT, ENDED (in the last
 * 14 days, and not revoked since), or null.
 */
export const KEY_WARNING =
	"enrollment_key_warning(t.created_at, t.expires_at, t.revoked_at, t.max_devices, t.used, t.last_used_at)";

export const enrollmentKey = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string(),
	state: z
		.enum(KEY_STATES)
		.describe(
			"RUNNING_OUT: the last tenth of its devices or of its time, at most 7 days",
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
