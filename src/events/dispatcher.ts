import type { Pool } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { isConnectionTrouble } from "../errors.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import { handleEvents } from "./handle-events.ts";
import type { AnyEventHandler } from "./types.ts";

const POLL_MS = 5_000;

/**
 * Hands events to the handlers. Several processes may do so at once: a lock lets only one process
 * handle the events of an organization, which keeps their order. An organization or a handler that
 * fails does not hold up the others.
 */
export function startDispatcher(
	pool: Pool,
	handlers: AnyEventHandler[],
	afterwards: () => void,
	log: Logger,
	firstLooks?: FirstLooks,
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
					handleEvents(client, id, handlers, log),
				).catch((err) => {
					// Without the database, nothing can be done for the other organizations either.
					if (isConnectionTrouble(err)) throw err;
					log.error(
						{ err, organization: id },
						"the events of an organization have to wait",
					);
					return 0;
				});
			}
			if (handled > 0) afterwards();
			return handled > 0;
		},
		log,
		firstLooks,
	);
}
