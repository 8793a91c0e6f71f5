import type { IncomingMessage, ServerResponse } from "node:http";
import type { Pool } from "pg";
import type { Logger } from "pino";
import {
	Counter,
	collectDefaultMetrics,
	Gauge,
	Histogram,
	Registry,
} from "prom-client";
import type { ReadReplica } from "../db/read-replica.ts";
import type { Queue, QueueLoad } from "../load/queue.ts";
import { DISABLED_AFTER_DAYS } from "../outgoing/disabled-after.ts";
import { VERSION } from "../version.ts";
import { readUnsealedCounts, type UnsealedCounts } from "./audit-log.ts";
import { addCertificate } from "./certificate.ts";
import { addDatabaseGauges } from "./database-gauges.ts";
import { DatabaseReads } from "./database-reads.ts";
import { addDiskSpace } from "./disk-gauge.ts";
import type { DiskFolders } from "./disk-space.ts";
import { FleetCounts } from "./fleet.ts";
import { addFleet } from "./fleet-gauges.ts";
import { type MailCounts, readMailCounts } from "./mails.ts";
import { IGNORED_ADDRESSES } from "./names.ts";
import { addReadReplica } from "./read-replica.ts";
import { readReceiverCounts } from "./receivers.ts";
import { routeOf } from "./route.ts";

/**
 * Upper limits of the histogram's buckets, in seconds. A heartbeat takes 5 ms on a quiet machine,
 * and a client gives up after about 30 s.
 */
const DURATION_BUCKETS = [
	0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
];

/** Gauges of prom-client whose names end as only those of counters may. */
const MISNAMED = [
	"nodejs_active_resources_total",
	"nodejs_active_handles_total",
	"nodejs_active_requests_total",
];

export interface MetricsParts {
	pools: Record<"app" | "device" | "identity", Pool> & { replica?: Pool };
	/** The replica from which reads on request come. */
	replica: ReadReplica | undefined;
	/** Says how to connect to the database, to find out whether it answers. */
	healthPool: Pool;
	/** The queues in front of the database, by name. */
	queues: Record<string, Queue>;
	/** Names of operations. Requests to any other address share one series. */
	operations: ReadonlySet<string>;
	baseUrl: string;
	/** The folders on this machine that Assay fills. */
	folders: DiskFolders;
	/** True if ASSAY_ARCHIVE_URL is set. */
	hasArchive: boolean;
	log: Logger;
}

export interface Metrics {
	registry: Registry;
	/** Counts the request when its response is complete or its connection is closed. */
	observe(request: IncomingMessage, response: ServerResponse): void;
	/** Counts a request whose forwarded address was ignored. */
	countIgnoredAddress(): void;
}

/**
 * Makes the Prometheus metrics of this process. Requests are counted as they happen. All other
 * values are read only when somebody asks for the metrics, so they cost nothing in between.
 */
export function makeMetrics({
	pools,
	replica,
	healthPool,
	queues,
	operations,
	baseUrl,
	folders,
	hasArchive,
	log,
}: MetricsParts): Metrics {
	const registry = new Registry();
	const registers = [registry];
	collectDefaultMetrics({ register: registry });
	// These are sums over labels of other metrics, and no counters, as their names say.
	for (const name of MISNAMED) registry.removeSingleMetric(name);

	new Gauge({
		name: "assay_info",
		help: "Always 1; the version is its label.",
		labelNames: ["version"],
		aggregator: "first",
		registers,
	}).set({ version: VERSION }, 1);

	const requests = new Counter({
		name: "assay_http_requests_total",
		help: "Requests answered; status 0 means that the caller disconnected before the answer.",
		labelNames: ["door", "route", "status"],
		registers,
	});
	const durations = new Histogram({
		name: "assay_http_request_duration_seconds",
		help: "Time from a request's head to the end of its answer.",
		labelNames: ["door", "route"],
		buckets: DURATION_BUCKETS,
		registers,
	});
	const ignoredAddresses = new Counter({
		name: IGNORED_ADDRESSES,
		help: "Requests whose forwarded address was ignored, because the sender is not a trusted proxy.",
		registers,
	});
	addPools(pools, registers);
	addQueues(queues, registers);
	const reads = new DatabaseReads(pools.app, healthPool, log, registers);
	addFleet(new FleetCounts(reads), registers);
	addMails(reads, registers);
	addReceivers(reads, registers);
	addAuditLog(reads, registers);
	addDatabaseGauges(reads, hasArchive, registers);
	reads.addUnread(registers);
	addReadReplica(replica, registers);
	addCertificate(baseUrl, registers);
	addDiskSpace(folders, registers);

	return {
		registry,
		countIgnoredAddress: () => ignoredAddresses.inc(),
		observe(request, response) {
			const startedAt = performance.now();
			response.once("close", () => {
				const labels = routeOf(request.url ?? "", operations);
				const status = response.writableFinished ? response.statusCode : 0;
				requests.inc({ ...labels, status });
				durations.observe(labels, (performance.now() - startedAt) / 1000);
			});
		},
	};
}

function addPools(pools: MetricsParts["pools"], registers: Registry[]): void {
	new Gauge({
		name: "assay_db_connections",
		help: "Connections to the database, by state.",
		labelNames: ["pool", "state"],
		registers,
		collect() {
			for (const [name, pool] of Object.entries(pools)) {
				this.set({ pool: name, state: "idle" }, pool.idleCount);
				this.set(
					{ pool: name, state: "used" },
					pool.totalCount - pool.idleCount,
				);
			}
		},
	});
	new Gauge({
		name: "assay_db_waiting",
		help: "Callers that wait for a connection to the database.",
		labelNames: ["pool"],
		registers,
		collect() {
			for (const [name, pool] of Object.entries(pools)) {
				this.set({ pool: name }, pool.waitingCount);
			}
		},
	});
}

function addQueues(
	queues: MetricsParts["queues"],
	registers: Registry[],
): void {
	const each = (set: (queue: string, load: QueueLoad) => void) => {
		for (const [name, queue] of Object.entries(queues)) set(name, queue.load());
	};
	const gauge = (
		name: string,
		help: string,
		read: (load: QueueLoad) => number,
	) =>
		new Gauge({
			name,
			help,
			labelNames: ["queue"],
			registers,
			collect() {
				each((queue, load) => this.set({ queue }, read(load)));
			},
		});
	const counter = (
		name: string,
		help: string,
		read: (load: QueueLoad) => number,
	) =>
		new Counter({
			name,
			help,
			labelNames: ["queue"],
			registers,
			collect() {
				this.reset();
				each((queue, load) => this.inc({ queue }, read(load)));
			},
		});
	gauge(
		"assay_queue_rows",
		"Rows from devices that wait for the database.",
		(load) => load.rows,
	);
	gauge(
		"assay_queue_bytes",
		"Size of the waiting rows in memory.",
		(load) => load.bytes,
	);
	gauge(
		"assay_batches_in_flight",
		"Batches the database is storing.",
		(load) => load.inFlight,
	);
	counter(
		"assay_batches_total",
		"Batches sent to the database.",
		(load) => load.batches,
	);
	counter(
		"assay_batch_rows_total",
		"Rows in those batches; divide by assay_batches_total for the size of a batch.",
		(load) => load.batchedRows,
	);
	counter(
		"assay_queue_refused_total",
		"Rows answered with 503 because the queue was full.",
		(load) => load.refused,
	);
}

function addMails(reads: DatabaseReads, registers: Registry[]): void {
	let counts: Promise<MailCounts | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_mails",
		help: "Mails that wait (queued), those of them that had a failed attempt (retrying), and mails that failed in the last two days.",
		labelNames: ["state"],
		aggregator: "max",
		registers,
		async collect() {
			counts = reads.read("mails", readMailCounts);
			const found = await counts;
			this.reset();
			if (!found) return;
			this.set({ state: "queued" }, found.queued);
			this.set({ state: "retrying" }, found.retrying);
			this.set({ state: "failed" }, found.failed);
		},
	});
	new Gauge({
		name: "assay_oldest_mail_seconds",
		help: "Age of the oldest mail that waits.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await counts;
			this.remove();
			if (found) this.set(found.oldest_seconds);
		},
	});
}

function addReceivers(reads: DatabaseReads, registers: Registry[]): void {
	new Gauge({
		name: "assay_receivers",
		help: `Webhooks and chats that fail, and that were disabled after ${DISABLED_AFTER_DAYS} days of failures.`,
		labelNames: ["kind", "state"],
		aggregator: "max",
		registers,
		async collect() {
			const counts = await reads.read("receivers", readReceiverCounts);
			this.reset();
			for (const { kind, failing, disabled } of counts ?? []) {
				this.set({ kind, state: "failing" }, failing);
				this.set({ kind, state: "disabled" }, disabled);
			}
		},
	});
}

function addAuditLog(reads: DatabaseReads, registers: Registry[]): void {
	let counts: Promise<UnsealedCounts | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_audit_unsealed_entries",
		help: "Entries of all audit logs that are not sealed yet.",
		aggregator: "max",
		registers,
		async collect() {
			counts = reads.read("audit_log", readUnsealedCounts);
			const found = await counts;
			this.remove();
			if (found) this.set(found.entries);
		},
	});
	new Gauge({
		name: "assay_audit_oldest_unsealed_seconds",
		help: "Age of the oldest entry of an audit log that is not sealed yet.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await counts;
			this.remove();
			if (found) this.set(found.oldest_seconds);
		},
	});
}
