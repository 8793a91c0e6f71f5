import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase, Pool } from "pg";
import type { Logger } from "pino";
import { overloaded } from "../errors.ts";
import { type Poller, startPoller } from "../jobs/poller.ts";

/**
 * Entries that one transaction seals. It takes about 50 ms, and an erasure or another process waits
 * that long.
 */
const AT_ONCE = 1000;

/** The poller lengthens an interval by up to a fifth, so there is a look at least once a second. */
const POLL_MS = 800;

/** Time until the sealer tries a log again that it could not continue. */
const BROKEN_MS = 60_000;

/**
 * Longest time that `sealAll` waits while another process seals. An erasure seals in its transaction,
 * which takes seconds in a long log. A commit on a busy disk takes as long.
 */
const MAX_WAIT_MS = 30_000;

/** Time until `sealAll` looks again whether the other process has finished. */
const AGAIN_MS = 20;

interface Sealed {
	/** Null if another process is sealing. */
	sealed: number | null;
	/** Organizations whose log does not end as its head says. */
	broken: string[];
}

/**
 * Numbers and chains the committed entries of all organizations, oldest first. One process at a
 * time does it. A process that is killed leaves its entries to the next one.
 */
export function startSealer(pool: Pool, log: Logger): Poller {
	const broken = new Map<string, number>();
	return startPoller(
		"audit seals",
		POLL_MS,
		async () => {
			const now = Date.now();
			for (const [id, until] of broken) if (until < now) broken.delete(id);
			const result = await seal(pool, [...broken.keys()]);
			for (const id of result.broken) {
				broken.set(id, now + BROKEN_MS);
				log.error(
					{ organizationId: id },
					"an audit log was changed at its end, so its new entries are not sealed; run assay audit verify",
				);
			}
			return result.sealed === AT_ONCE || result.broken.length > 0;
		},
		log,
	);
}

/**
 * Seals every entry that is visible now. Waits while another process is sealing, for 30 s at most.
 * In a transaction, nobody else can seal until it ends.
 *
 * It asks for the lock again and again, because a statement of the service that waits for a lock
 * fails after 3 s, and keeps a connection of the pool until then.
 */
export async function sealAll(database: Pool | ClientBase): Promise<void> {
	const until = performance.now() + MAX_WAIT_MS;
	const broken: string[] = [];
	for (;;) {
		const result = await seal(database, broken);
		if (result.sealed === null) {
			if (performance.now() > until) {
				throw overloaded(
					`another process has been sealing the audit log for ${MAX_WAIT_MS / 1000} seconds; try again when it has finished`,
				);
			}
			await sleep(AGAIN_MS);
			continue;
		}
		broken.push(...result.broken);
		const isDone = result.sealed < AT_ONCE;
		if (isDone && result.broken.length === 0) return;
	}
}

async function seal(
	database: Pool | ClientBase,
	except: readonly string[],
): Promise<Sealed> {
	const { rows } = await database.query<Sealed>({
		name: "audit_seal",
		text: "select sealed, broken from audit_seal($1, false, $2)",
		values: [AT_ONCE, except],
	});
	return rows[0] ?? { sealed: 0, broken: [] };
}
