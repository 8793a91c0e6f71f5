import { Gauge, type Registry } from "prom-client";
import type { Delay, ReadReplica } from "../db/read-replica.ts";

/** Longest time that the metrics wait for the replica. */
const ANSWER_MS = 3_000;

/**
 * Adds how far the replica in DATABASE_REPLICA_URL is behind. The delays have no value while it
 * cannot be used. Without a replica, none of these metrics has a value.
 */
export function addReadReplica(
	replica: ReadReplica | undefined,
	registers: Registry[],
): void {
	let delay: Promise<Delay | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_read_replica_answers",
		help: `1 if the replica in DATABASE_REPLICA_URL answered this request for metrics and is a standby of the database, 0 if it did not within ${ANSWER_MS / 1000} s.`,
		aggregator: "min",
		registers,
		async collect() {
			this.remove();
			if (!replica) return;
			delay = measureInTime(replica);
			this.set((await delay) ? 1 : 0);
		},
	});
	new Gauge({
		name: "assay_read_replica_behind_seconds",
		help: "Age of the data on the replica in DATABASE_REPLICA_URL: 0 if it has all that the database had stored a second before.",
		aggregator: "max",
		registers,
		async collect() {
			const seconds = (await delay)?.seconds;
			this.remove();
			if (seconds != null) this.set(seconds);
		},
	});
	new Gauge({
		name: "assay_read_replica_behind_bytes",
		help: "Write-ahead log that the replica in DATABASE_REPLICA_URL has not replayed yet.",
		aggregator: "max",
		registers,
		async collect() {
			const bytes = (await delay)?.bytes;
			this.remove();
			if (bytes !== undefined) this.set(bytes);
		},
	});
}

async function measureInTime(replica: ReadReplica): Promise<Delay | undefined> {
	const limit = Promise.withResolvers<undefined>();
	const timer = setTimeout(limit.resolve, ANSWER_MS, undefined);
	try {
		return await Promise.race([replica.measure(), limit.promise]);
	} catch {
		return undefined;
	} finally {
		clearTimeout(timer);
	}
}
