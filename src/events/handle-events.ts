import type { PoolClient } from "pg";
import type { Logger } from "pino";
import { retrySeconds } from "../jobs/retry.ts";
import type { AnyEventHandler, EventHandler, StoredEvent } from "./types.ts";

const HANDLED_TOGETHER = 500;

/** Longest wait, in seconds, before an event is tried again. */
const MAX_WAIT_SECONDS = 4 * 3600;

/**
 * A handler fails this often in one run, or tries for this long, and the rest of the events waits
 * for the next run. Otherwise a handler that always fails would hold up everybody else.
 */
const MAX_FAILURES = 20;
const MAX_MS = 5_000;

/** Seconds until the next attempt after 1, 2, 3 … attempts have failed. */
const WAITS = Array.from({ length: 9 }, (_, index) =>
	retrySeconds(index + 1, MAX_WAIT_SECONDS),
);

interface DueEvent extends StoredEvent {
	/** Names of the handlers that still have to handle the event. Null means all. */
	waiting_for: string[] | null;
}

/** The handlers that an event still waits for, and whether one of them failed on it alone. */
interface Waiting {
	id: string;
	waiting_for: string[];
	has_failed: boolean;
}

/**
 * Handles the events of an organization that are due, and returns how many there were. Each handler
 * works behind a savepoint of its own. If a handler fails, the other handlers go on, and so does
 * the same handler with the other events. The event that it failed on waits and is retried later.
 * The same holds for each part of a divided handler.
 */
export async function handleEvents(
	client: PoolClient,
	organizationId: string,
	handlers: AnyEventHandler[],
	log: Logger,
): Promise<number> {
	const { rows: locks } = await client.query<{ ours: boolean }>(
		"select pg_try_advisory_xact_lock(hashtextextended('events ' || $1, 0)) as ours",
		[organizationId],
	);
	if (!locks[0]?.ours) return 0;
	// New events come first, so those that are retried never hold them up.
	const { rows: events } = await client.query<DueEvent>(
		`select id, type, record_id, data, occurred_at, waiting_for from events
		where organization_id = $1 and handled_at is null and (retry_at is null or retry_at <= now())
		order by retry_at is not null, id limit $2`,
		[organizationId, HANDLED_TOGETHER],
	);
	const waiting = new Map<string, Waiting>();
	for (const whole of handlers) {
		if (events.length === 0) break;
		const parts =
			"divide" in whole ? await whole.divide(client, organizationId) : [whole];
		for (const part of parts) {
			// An event may wait for the whole, because an older version stored that name.
			const wanted = events.filter(
				({ waiting_for }) =>
					waiting_for === null ||
					waiting_for.includes(part.name) ||
					waiting_for.includes(whole.name),
			);
			const left = await tryHandler(client, organizationId, part, wanted, log);
			for (const [id, hasFailed] of left) {
				const one = waiting.get(id) ?? {
					id,
					waiting_for: [],
					has_failed: false,
				};
				one.waiting_for.push(part.name);
				one.has_failed ||= hasFailed;
				waiting.set(id, one);
			}
		}
	}
	await noteHandled(
		client,
		organizationId,
		events.flatMap(({ id }) => (waiting.has(id) ? [] : id)),
	);
	await noteWaiting(client, organizationId, [...waiting.values()]);
	return events.length;
}

/**
 * Gives events to a handler. If it fails on them together, each half is tried by itself, and so on
 * down to the events that are the cause. Returns the ids of the events that have to wait, with true
 * for those that the handler failed on, and false for those that it has not tried.
 */
async function tryHandler(
	client: PoolClient,
	organizationId: string,
	handler: EventHandler,
	events: DueEvent[],
	log: Logger,
): Promise<Map<string, boolean>> {
	const left = new Map<string, boolean>();
	const endsAt = performance.now() + MAX_MS;
	let failures = 0;
	let firstError: unknown;

	async function attempt(some: DueEvent[]): Promise<void> {
		if (some.length === 0) return;
		if (
			failures >= MAX_FAILURES ||
			(failures > 0 && performance.now() > endsAt)
		) {
			for (const { id } of some) left.set(id, false);
			return;
		}
		await client.query("savepoint handler");
		try {
			await handler.handle(client, organizationId, some);
			await client.query("release savepoint handler");
		} catch (error) {
			failures++;
			firstError ??= error;
			// This fails if the connection is lost. The whole transaction then runs again.
			await client.query("rollback to savepoint handler");
			const [only, ...others] = some;
			if (only && others.length === 0) {
				left.set(only.id, true);
				return;
			}
			const middle = some.length >> 1;
			await attempt(some.slice(0, middle));
			await attempt(some.slice(middle));
		}
	}

	await attempt(events);
	if (left.size > 0) {
		log.error(
			{
				err: firstError,
				organization: organizationId,
				handler: handler.name,
				waiting: left.size,
				eventIds: [...left.keys()].slice(0, 10),
			},
			"events could not be handled and are retried later",
		);
	}
	return left;
}

async function noteHandled(
	client: PoolClient,
	organizationId: string,
	ids: string[],
): Promise<void> {
	await client.query(
		`update events set handled_at = now(), waiting_for = null, retry_at = null
		where organization_id = $1 and id = any ($2::bigint[])`,
		[organizationId, ids],
	);
}

async function noteWaiting(
	client: PoolClient,
	organizationId: string,
	waiting: Waiting[],
): Promise<void> {
	if (waiting.length === 0) return;
	await client.query(
		`update events e set
			waiting_for = w.waiting_for,
			attempts = e.attempts + w.has_failed::integer,
			retry_at = now() + ($3::integer[])[least(e.attempts + 1, cardinality($3::integer[]))]
				* interval '1 second'
		from jsonb_to_recordset($2) w (id bigint, waiting_for text[], has_failed boolean)
		where e.organization_id = $1 and e.id = w.id`,
		[organizationId, JSON.stringify(waiting), WAITS],
	);
}
