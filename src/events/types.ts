import type { PoolClient } from "pg";

/** Every event, with what it means. docs/webhooks.md has an example of each. */
export const EVENT_TYPES = {
	"posture.failed": "A check of a device has begun to fail.",
	"posture.passed": "A check of a device passes after another status.",
	"device.enrolled": "A device has enrolled. It may still await approval.",
	"device.activated": "The first heartbeat of a device was accepted.",
	"device.revoked": "A device was taken out of service.",
	"enrollment_key.running_out":
		"An enrollment key expires soon, or few devices are left.",
	"enrollment_key.ended": "An enrollment key has expired or is used up.",
	"exception.requested": "Somebody asks for an exception from a check.",
	"exception.approved": "An administrator approved an exception.",
	"exception.rejected": "An administrator rejected an exception.",
	"exception.expiring": "An exception ends in at most 14 or 3 days.",
	"exception.ended": "An exception has ended.",
	"nonconformity.opened": "The service opened a nonconformity for a check.",
	"nonconformity.reopened": "The service reopened a nonconformity for a check.",
	"nonconformity.closed": "The service closed a nonconformity for a check.",
	"record.created": "A record was added to a register.",
	"record.updated": "A record of a register was changed.",
	"record.deleted": "A record of a register was deleted.",
	"work.overdue":
		"Once a day: tasks, nonconformities, obligations or improvements are overdue.",
	"reviews.due":
		"Once a day: reviews, notices or expiries are overdue or due within 14 days.",
	"signatures.missing":
		"Once a day: documents have waited for signatures for more than a week.",
	"webhook.test": "An administrator tests a webhook.",
} as const;

export type EventType = keyof typeof EVENT_TYPES;

export const EVENT_TYPE_NAMES = Object.keys(EVENT_TYPES) as [
	EventType,
	...EventType[],
];

/** An event that waits for its consequences. */
export interface StoredEvent {
	id: string;
	type: EventType;
	record_id: string;
	/** Ids and codes, no names. */
	data: Record<string, unknown>;
	occurred_at: string;
}

export interface EventHandler {
	/** Name that the database stores for an event that waits for the handler. It never changes. */
	name: string;
	/**
	 * Stores the consequences of events, oldest event first. It runs in the transaction that marks
	 * the events as handled, so each consequence is stored exactly once. It must send nothing itself.
	 */
	handle: (
		client: PoolClient,
		organizationId: string,
		events: StoredEvent[],
	) => Promise<void>;
}

/**
 * A handler with several receivers in an organization. Each part serves one receiver, and fails and
 * is retried by itself. The name of a part begins with the name of the whole and never changes.
 */
export interface DividedHandler {
	/** An event that waits for this name waits for all parts. */
	name: string;
	/** Returns the parts. If this throws, the events of the organization wait for the next run. */
	divide: (
		client: PoolClient,
		organizationId: string,
	) => Promise<EventHandler[]>;
}

export type AnyEventHandler = EventHandler | DividedHandler;
