import type { Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { type Poller, startPoller } from "../jobs/poller.ts";
import type { StoredEvent } from "./types.ts";

/**
 * Stores the consequences of events, oldest event first. It runs in the transaction that marks the
 * events as handled, so each consequence is stored exactly once. It must send nothing itself.
 */
export type EventHandler = (
	client: PoolClient,
	organizationId: string,
	events: StoredEvent[],
) => Promise<void>;

const POLL_MS = 5_000;
const HANDLED_TOGETHER = 500;

/**
 * Hands events to the handlers. Several processes may do so at once: a lock lets only one process
 * handle the events of an organization, which keeps their order.
 */
export function startDispatcher(
	pool: Pool,
	handlers: EventHandler[],
	afterwards: () => void,
	log: Logger,
): Poller {
	return startPoller(
		"events",
		POLL_MS,
		async () => {
			const { rows } = await pool.query<{ id: string }>(
				"select id from organizations_with_events() as id",
			);
			let handled = 0;
			for (const { id } of rows) {
				handled += await withTenant(pool, id, (client) =>
					handleEvents(client, id, handlers),
				);
			}
			if (handled > 0) afterwards();
			return handled > 0;
		},
		log,
	);
}

async function handleEvents(
	client: PoolClient,
	organizationId: string,
	handlers: EventHandler[],
): Promise<number> {
	const { rows: locks } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_xact_lock(hashtextextended('events ' || $1, 0)) as ours",
		[organizationId],
	);
	if (!locks[0]?.ours) return 0;
	const { rows: events } = await client.query<StoredEvent>(
		`select id, type, record_id, data, occurred_at from events
		where organization_id = $1 and handled_at is null order by id limit $2`,
		[organizationId, HANDLED_TOGETHER],
	);
	for (const handle of handlers) await handle(client, organizationId, events);
	await client.query(
		"update events set handled_at = now() where organization_id = $1 and id = any ($2::bigint[])",
		[organizationId, events.map(({ id }) => id)],
	);
	return events.length;
}
