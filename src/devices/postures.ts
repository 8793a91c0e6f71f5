import type { Pool, PoolClient } from "pg";
import { byteaArray, textArray } from "../db/array.ts";
import { FOREIGN_KEY_VIOLATION } from "../db/sqlstate.ts";
import { AppError, overloaded } from "../errors.ts";
import {
	ID_KINDS,
	ID_LENGTH,
	makeIdWithoutTenant,
	NO_TENANT_PREFIX,
	parseId,
	TENANT_PREFIX_LENGTH,
} from "../id.ts";
import { Batcher } from "../load/batch.ts";
import type { Queue } from "../load/queue.ts";
import { DAY_MS } from "../units.ts";
import {
	batchKey,
	type KeyHash,
	MAX_HELD_PER_DEVICE,
	pendingDevice,
	unknownDeviceKey,
} from "./authentication.ts";
import { HourlyBytes } from "./hourly-bytes.ts";
import { formatRfc3339 } from "./rfc3339.ts";
import { leaveOutLockedDevices } from "./row-locks.ts";
import {
	type Evidence,
	isCanonicalCheck,
	MAX_HOURLY_BYTES,
	MAX_OTHER_CHECKS,
	OTHER_CHECKS_DAYS,
	type PostureStatus,
} from "./terms.ts";
import type { PostureResult } from "./wire.ts";

/**
 * Longest time that a device's clock may be ahead of ours. If the time of an observation is further
 * ahead, our time replaces it.
 */
const MAX_AHEAD_MS = 5 * 60_000;

/**
 * Longest time that a device's clock may be ahead when the device makes a report's id, which
 * contains a time. An earlier copy of the report cannot have been received longer than this before
 * that time. The search for a copy therefore reads only a few partitions.
 */
const MAX_ID_AHEAD_MS = 31 * DAY_MS;

/** A result in the form in which the raw report stores it. */
interface StoredResult {
	check_key: string;
	status: PostureStatus;
	/** Time of the observation: RFC 3339 in UTC, with microseconds. */
	observed_at: string;
	/** The time that the device gave, if it was too far in the future to be believed. */
	claimed_observed_at?: string;
	evidence?: Evidence;
}

interface Report {
	/** Id of the report without its tenant, which the database fills in. */
	id: string;
	/**
	 * The earliest time at which a copy of the report may have been received: an RFC 3339 time or
	 * -infinity. Null if the id was made for this request, because no copy can exist then.
	 */
	notBefore: string | null;
	results: StoredResult[];
	/** Time of each result's observation, in microseconds since 1970. */
	observedAt: number[];
}

interface Submission {
	keyHash: KeyHash;
	/** The tenant that the report ids of the request name. Null if the request names no report. */
	tenantPrefix: string | null;
	reports: Report[];
	/** Index of the first result that names a report. */
	firstNamed: number;
	/** Keys of the checks that have several results in the request. */
	repeatedChecks: ReadonlySet<string>;
	/** Keys of the non-canonical checks in the request. */
	otherChecks: readonly string[];
	/** Length of the request's body in bytes. */
	bytes: number;
}

type Outcome =
	| "stored"
	| "unauthorized"
	| "pending"
	| "foreign_report"
	| "too_many_checks";

/** Stores posture reports. One transaction stores many of them. */
export class Postures {
	readonly #batcher: Batcher<Submission, Outcome>;
	readonly #stored = new HourlyBytes(MAX_HOURLY_BYTES);

	constructor(pool: Pool) {
		this.#batcher = new Batcher<Submission, Outcome>({
			name: "postures",
			key: batchKey,
			bytes: (submission) => submission.bytes,
			maxBatchRows: 64,
			maxBatchBytes: 2 << 20,
			maxInFlight: 2,
			minIntervalMs: 20,
			maxWaitingRows: 4096,
			maxHeldPerKey: MAX_HELD_PER_DEVICE,
			maxWaitingBytes: 64 << 20,
			run: leaveOutLockedDevices(pool, "reports", store),
		});
	}

	/**
	 * Stores the results of one request, either all or none, and resolves when they are durable.
	 * `bytes` is the length of the request's body. Rejects with an AppError:
	 *
	 * - bad_request: a correlation_id is not a report id of the device's tenant, or the device uses
	 *   too many non-canonical checks.
	 * - unauthorized: no active device has the key.
	 * - service_unavailable: the service is overloaded, or the device has stored too many bytes
	 *   within the hour.
	 */
	async record(
		keyHash: KeyHash,
		results: PostureResult[],
		bytes: number,
	): Promise<void> {
		if (this.#stored.isUsedUp(keyHash)) {
			throw overloaded(
				`the device has sent ${MAX_HOURLY_BYTES >> 20} MiB of reports within an hour, which is the maximum; retry later`,
			);
		}
		const grouped = groupByReport(results, Date.now());
		const outcome = await this.#batcher.add({ keyHash, bytes, ...grouped });
		if (outcome === "unauthorized") throw unknownDeviceKey();
		if (outcome === "pending") throw pendingDevice();
		if (outcome === "foreign_report") throw foreignReport(grouped.firstNamed);
		if (outcome === "too_many_checks") throw tooManyChecks();
		this.#stored.add(keyHash, bytes);
	}

	/** The queue of requests that wait for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}

async function store(
	db: Pool | PoolClient,
	submissions: Submission[],
): Promise<Outcome[]> {
	const rejected = await noteOtherChecks(db, submissions);
	if (rejected.size === 0) return storeReports(db, submissions);
	const accepted = submissions.filter((_, index) => !rejected.has(index));
	const outcomes = accepted.length > 0 ? await storeReports(db, accepted) : [];
	return submissions.map((_, index) =>
		rejected.has(index) ? "too_many_checks" : (outcomes.shift() as Outcome),
	);
}

/**
 * Records which non-canonical checks the devices use. Returns the indexes of submissions whose
 * devices use too many. Agents usually report only canonical checks, and such reports need no
 * query.
 */
async function noteOtherChecks(
	db: Pool | PoolClient,
	submissions: Submission[],
): Promise<Set<number>> {
	const using = [...submissions.entries()].filter(
		([, { otherChecks }]) => otherChecks.length > 0,
	);
	if (using.length === 0) return new Set();
	const deviceOf: number[] = [];
	const checkKeys: string[] = [];
	using.forEach(([, { otherChecks }], index) => {
		for (const checkKey of otherChecks) {
			deviceOf.push(index + 1);
			checkKeys.push(checkKey);
		}
	});
	const { rows } = await db.query<{ ordinal: number }>({
		name: "agent_note_check_keys",
		text: "select ordinal from agent_note_check_keys($1, $2, $3, $4, $5) ordinal",
		values: [
			byteaArray(using.map(([, { keyHash }]) => keyHash)),
			`{${deviceOf.join(",")}}`,
			textArray(checkKeys),
			MAX_OTHER_CHECKS,
			OTHER_CHECKS_DAYS,
		],
	});
	return new Set(rows.map(({ ordinal }) => using[ordinal - 1]?.[0] as number));
}

async function storeReports(
	db: Pool | PoolClient,
	submissions: Submission[],
): Promise<Outcome[]> {
	const keyHashes: KeyHash[] = [];
	const tenantPrefixes: (string | null)[] = [];
	const reportIds: string[] = [];
	const notBefore: (string | null)[] = [];
	const rawResults: string[] = [];
	const reportOf: number[] = [];
	const positions: number[] = [];
	const checkKeys: string[] = [];
	const statuses: string[] = [];
	const observedAt: number[] = [];
	const isOnly: boolean[] = [];
	/**
	 * The index at which each submission begins in the arrays. All reports of a submission have the
	 * same outcome.
	 */
	const begins: number[] = [];

	for (const submission of submissions) {
		begins.push(reportIds.length);
		for (const report of submission.reports) {
			keyHashes.push(submission.keyHash);
			tenantPrefixes.push(submission.tenantPrefix);
			reportIds.push(report.id);
			notBefore.push(report.notBefore);
			rawResults.push(JSON.stringify(report.results));
			report.results.forEach((result, index) => {
				reportOf.push(reportIds.length);
				positions.push(index + 1);
				checkKeys.push(result.check_key);
				statuses.push(result.status);
				observedAt.push(report.observedAt[index] as number);
				isOnly.push(!submission.repeatedChecks.has(result.check_key));
			});
		}
	}

	const stored = db.query<{ outcome: Outcome }>({
		name: "agent_store_postures",
		text: "select outcome from agent_store_postures($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) order by ordinal",
		values: [
			byteaArray(keyHashes),
			textArray(tenantPrefixes),
			textArray(reportIds),
			textArray(notBefore),
			`[${rawResults.join(",")}]`,
			`{${reportOf.join(",")}}`,
			`{${positions.join(",")}}`,
			textArray(checkKeys),
			textArray(statuses),
			`{${observedAt.join(",")}}`,
			`{${isOnly.join(",")}}`,
		],
	});
	try {
		const { rows } = await stored;
		return begins.map((begin) => rows[begin]?.outcome as Outcome);
	} catch (error) {
		// A device was deleted while its report was being stored. The error does not say which device
		// of the batch it was. The batcher therefore sends the halves of the batch separately, until
		// the report is alone.
		const isGone = (error as { code?: string }).code === FOREIGN_KEY_VIOLATION;
		if (isGone && submissions.length === 1) return ["unauthorized"];
		throw error;
	}
}

function tooManyChecks(): AppError {
	return new AppError(
		"bad_request",
		`results[].check_key must be a canonical check or one reported before, because the device has used ${MAX_OTHER_CHECKS} other checks within ${OTHER_CHECKS_DAYS} days, which is the maximum`,
	);
}

function foreignReport(index: number): AppError {
	return new AppError(
		"bad_request",
		`results[${index}].correlation_id names a posture report of another organization; use one of this device's organization, or leave it out`,
	);
}

function groupByReport(
	results: PostureResult[],
	nowMs: number,
): Omit<Submission, "keyHash" | "bytes"> {
	const reports = new Map<string, Report>();
	const seen = new Set<string>();
	const repeatedChecks = new Set<string>();
	let tenantPrefix: string | null = null;
	let firstNamed = -1;

	results.forEach((result, index) => {
		const correlationId = result.correlation_id || "";
		let report = reports.get(correlationId);
		if (!report) {
			report = openReport(correlationId, index, nowMs);
			reports.set(correlationId, report);
			const prefix = report.id.slice(0, TENANT_PREFIX_LENGTH);
			if (correlationId !== "") {
				// A device belongs to only one tenant. If a request names two tenants, at least one of them
				// is wrong.
				if (tenantPrefix !== null && tenantPrefix !== prefix) {
					throw foreignReport(index);
				}
				if (tenantPrefix === null) firstNamed = index;
				tenantPrefix = prefix;
			}
		}
		const checkKey = result.check_key;
		if (seen.has(checkKey)) repeatedChecks.add(checkKey);
		seen.add(checkKey);

		const isAhead = result.observed_at > (nowMs + MAX_AHEAD_MS) * 1000;
		const observedAt = isAhead ? nowMs * 1000 : result.observed_at;
		const stored: StoredResult = {
			check_key: checkKey,
			status: result.status,
			observed_at: formatRfc3339(observedAt),
		};
		if (isAhead) stored.claimed_observed_at = formatRfc3339(result.observed_at);
		if (result.evidence) stored.evidence = result.evidence;
		report.results.push(stored);
		report.observedAt.push(observedAt);
	});
	return {
		tenantPrefix,
		firstNamed,
		reports: [...reports.values()],
		repeatedChecks,
		otherChecks: [...seen].filter((checkKey) => !isCanonicalCheck(checkKey)),
	};
}

function openReport(
	correlationId: string,
	index: number,
	nowMs: number,
): Report {
	if (correlationId === "") {
		return {
			id: makeIdWithoutTenant("device_posture_report"),
			notBefore: null,
			results: [],
			observedAt: [],
		};
	}
	const id = parseId(correlationId);
	if (id?.kind !== "device_posture_report" || id.prefix === NO_TENANT_PREFIX) {
		throw new AppError(
			"bad_request",
			`results[${index}].correlation_id must be the id of a device posture report: ${ID_LENGTH} characters of base64url, kind ${ID_KINDS.device_posture_report}`,
		);
	}
	const isBelievable = id.madeAtMs <= nowMs + MAX_ID_AHEAD_MS;
	return {
		id: correlationId,
		notBefore: isBelievable
			? new Date(id.madeAtMs - MAX_ID_AHEAD_MS).toISOString()
			: "-infinity",
		results: [],
		observedAt: [],
	};
}
