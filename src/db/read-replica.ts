import { setTimeout as sleep } from "node:timers/promises";
import type { ClientBase, ClientConfig, Pool, PoolClient } from "pg";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { AppError, isDatabaseUnavailable, plainReason } from "../errors.ts";
import {
	makePool,
	retriedTransaction,
	type TransactionScope,
	transaction,
} from "./pool.ts";
import { connectionTo } from "./postgres-tls.ts";
import { MAX_BEHIND_SECONDS } from "./replicas.ts";
import { assertOwnSessions } from "./server-sessions.ts";

export const REPLICA_SETTING = "DATABASE_REPLICA_URL";

/** Three exports at a time, and other reads beside them. */
const POOL_SIZE = 6;
/** A replica may be promoted. Its connections are checked again after this time. */
const MAX_AGE_SECONDS = 60;
/** Longest time, in milliseconds, that a read waits for what the primary has already stored. */
const CATCH_UP_MS = 1_000;
const LOOK_MS = 20;

const NO_STANDBY = "is not a standby";

/** Reads of one request. */
export interface ReplicaReads {
	/** All of them show the changes up to this moment. Undefined before the first one. */
	moment: string | undefined;
	/**
	 * Runs `work` in a transaction on the replica. Throws a service_unavailable AppError if the replica
	 * is away, is none, or is too far behind.
	 */
	read: <Result>(
		scope: TransactionScope,
		work: (client: PoolClient) => Promise<Result>,
	) => Promise<Result>;
}

/** How far the replica is behind the primary. */
export interface Delay {
	/**
	 * The replica shows all changes up to this moment of the primary, and perhaps later ones. Null if
	 * it has replayed no transaction since its start.
	 */
	moment: string | null;
	seconds: number | null;
	bytes: number;
}

/** The end of the log that the primary had stored at a moment. */
interface Position {
	moment: string;
	lsn: string;
}

/**
 * The replica in DATABASE_REPLICA_URL. It answers reads that may be a little old. The service works
 * without it, so each use finds out anew whether it is there.
 */
export class ReadReplica {
	readonly pool: Pool;
	readonly #primary: Pool;
	readonly #connection: ClientConfig;
	readonly #log: Logger;
	#ownSessions: Promise<void> | undefined;
	#isFailing = false;

	constructor(primary: Pool, connection: ClientConfig, log: Logger) {
		this.#primary = primary;
		this.#connection = connection;
		this.#log = log;
		this.pool = makePool(connection, {
			max: POOL_SIZE,
			name: "assay replica",
			maxAgeSeconds: MAX_AGE_SECONDS,
			accept: (client) => this.#requireSameDatabase(client),
		});
	}

	/** Begins the reads of a request. */
	beginReads(): ReplicaReads {
		let position: Promise<Position> | undefined;
		const reads: ReplicaReads = {
			moment: undefined,
			read: async (scope, work) => {
				position ??= readPosition(this.#primary);
				const wanted = await position;
				return this.#noting((begun) =>
					retriedTransaction(this.pool, scope, async (client) => {
						const isFirst = reads.moment === undefined;
						const delay = await catchUp(client, wanted, isFirst);
						reads.moment ??= requireRecent(delay);
						// A balancer may have led to another replica.
						if (delay.moment === null || delay.moment < reads.moment) {
							throw new UnusableReplica("has older data than before");
						}
						begun();
						return work(client);
					}),
				);
			},
		};
		return reads;
	}

	/** Returns how far the replica is behind. Throws if it cannot be used, however short the delay. */
	async measure(): Promise<Delay> {
		const position = await readPosition(this.#primary);
		return this.#noting(() =>
			transaction(this.pool, { isReadOnly: true }, (client) =>
				catchUp(client, position, true),
			),
		);
	}

	close(): Promise<void> {
		return this.pool.end();
	}

	/**
	 * Runs `work`. The log gets one line when the replica begins to fail, and one when it ends. `work`
	 * calls `begun` when the replica has proved fit. Errors after that may come from the statements.
	 */
	async #noting<Result>(
		work: (begun: () => void) => Promise<Result>,
	): Promise<Result> {
		let hasBegun = false;
		try {
			this.#ownSessions ??= this.#requireOwnSessions();
			await this.#ownSessions;
			const result = await work(() => {
				hasBegun = true;
			});
			if (this.#isFailing) this.#log.info("the read replica can be used again");
			this.#isFailing = false;
			return result;
		} catch (error) {
			if (hasBegun && !isDatabaseUnavailable(error)) throw error;
			const unusable = toUnusable(error);
			if (!this.#isFailing) {
				const reason = reasonOf(unusable);
				this.#log.warn({ reason }, "the read replica cannot be used");
			}
			this.#isFailing = true;
			throw unusable;
		}
	}

	/** A pooler between transactions would lend its connections with the role of another client. */
	async #requireOwnSessions(): Promise<void> {
		try {
			await assertOwnSessions(this.#connection, REPLICA_SETTING);
		} catch (error) {
			this.#ownSessions = undefined;
			throw error;
		}
	}

	async #requireSameDatabase(client: ClientBase): Promise<void> {
		const [here, there] = await Promise.all([
			identify(client),
			identify(this.#primary),
		]);
		if (!here.isStandby) throw new UnusableReplica(NO_STANDBY);
		if (here.database !== there.database) {
			throw new UnusableReplica("is a replica of another database");
		}
	}
}

/**
 * Returns the configured replica, if there is one. The log says if it cannot be used. The service
 * starts nevertheless.
 */
export function openReplica(
	{ replicaUrl }: Config,
	primary: Pool,
	log: Logger,
): ReadReplica | undefined {
	if (!replicaUrl) return undefined;
	const connection = connectionTo(replicaUrl, REPLICA_SETTING);
	const replica = new ReadReplica(primary, connection, log);
	replica.measure().catch(() => {});
	return replica;
}

/** The replica cannot be read. The caller can read from the primary instead. */
export class UnusableReplica extends AppError {
	readonly why: string;

	constructor(why: string, cause?: unknown) {
		super(
			"service_unavailable",
			`the read replica ${why}; retry later, or leave out read_from=replica to read from the primary`,
			{ cause },
		);
		this.why = why;
	}
}

function toUnusable(error: unknown): UnusableReplica {
	return error instanceof UnusableReplica
		? error
		: new UnusableReplica("does not answer, or refuses", error);
}

/** Says in the words of PostgreSQL, if there are any, why the replica cannot be used. */
export function reasonOf({ why, cause }: UnusableReplica): string {
	return cause instanceof Error ? plainReason(cause.message) : `it ${why}`;
}

/** Returns the moment of a replica that is recent enough for a reader who asked for it. */
function requireRecent({ moment, seconds }: Delay): string {
	if (moment === null || seconds === null) {
		throw new UnusableReplica("has not caught up since its start");
	}
	if (seconds > MAX_BEHIND_SECONDS) {
		throw new UnusableReplica(
			`is ${Math.round(seconds / 60)} minutes behind, more than ${MAX_BEHIND_SECONDS / 60}`,
		);
	}
	return moment;
}

async function readPosition(primary: Pool): Promise<Position> {
	const { rows } = await primary.query<Position>(
		"select now() as moment, pg_current_wal_flush_lsn()::text as lsn",
	);
	return rows[0] as Position;
}

/**
 * Returns how far the replica is behind `position`. With `waits`, it first gets a moment to catch up.
 * The time of its last transaction alone would not do: if nobody writes, it is old, although nothing
 * is missing.
 */
async function catchUp(
	client: ClientBase,
	position: Position,
	waits: boolean,
): Promise<Delay> {
	const deadline = performance.now() + (waits ? CATCH_UP_MS : 0);
	for (;;) {
		const { isStandby, bytes, moment } = await readProgress(client, position);
		if (!isStandby || bytes === null) throw new UnusableReplica(NO_STANDBY);
		if (bytes === 0) return { moment: position.moment, seconds: 0, bytes };
		if (performance.now() >= deadline) {
			const ms = Date.parse(position.moment) - Date.parse(moment ?? "");
			const seconds = moment === null ? null : Math.max(0, ms / 1000);
			return { moment, seconds, bytes };
		}
		await sleep(LOOK_MS);
	}
}

async function readProgress(client: ClientBase, { lsn }: Position) {
	const { rows } = await client.query<{
		isStandby: boolean;
		bytes: number | null;
		moment: string | null;
	}>(
		`select
			pg_is_in_recovery() as "isStandby",
			greatest(pg_wal_lsn_diff($1::pg_lsn, pg_last_wal_replay_lsn()), 0)::float8 as bytes,
			pg_last_xact_replay_timestamp() as moment`,
		[lsn],
	);
	return rows[0] as (typeof rows)[number];
}

/** Names a database of a cluster. A replica has the same name, and no other database has it. */
async function identify(
	client: ClientBase | Pool,
): Promise<{ isStandby: boolean; database: string }> {
	const { rows } = await client.query<{ isStandby: boolean; database: string }>(
		`select pg_is_in_recovery() as "isStandby", system_identifier || '/' || d.oid as database
		from pg_control_system(), pg_database d where d.datname = current_database()`,
	);
	return rows[0] as { isStandby: boolean; database: string };
}
