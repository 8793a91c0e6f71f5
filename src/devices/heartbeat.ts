import type { Pool, PoolClient } from "pg";
import { byteaArray, textArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { Batcher } from "../load/batch.ts";
import { OrganizationQueue } from "../load/organization-queue.ts";
import type { Queue } from "../load/queue.ts";
import {
	batchKey,
	type DeviceStatuses,
	type KeyHash,
	MAX_HELD_PER_DEVICE,
	unknownDeviceKey,
} from "./authentication.ts";
import { leaveOutLockedDevices } from "./row-locks.ts";
import type { HeartbeatRequest } from "./wire.ts";

interface Beat {
	keyHash: KeyHash;
	facts: HeartbeatRequest;
	/** Name of the agent, if its request gives one. */
	agentName?: string | undefined;
	/** Address of the sender, for the audit log. */
	address: string | undefined;
}

/** The state of the device, as its heartbeat has found it. */
export interface BeatResult {
	deviceId: string;
	heartbeatIntervalSeconds: number;
	postureIntervalSeconds: number;
	/** Policy of a group that applies to the device. */
	groupPolicyId: string | null;
}

/**
 * Stores heartbeats. Heartbeats of active devices are stored in batches, and the one statement of a
 * batch also checks their keys. If the statement does not find a key, the service looks it up
 * separately. The key then belongs to a device that sends its first heartbeat, or it is not valid.
 */
export class Heartbeats {
	readonly #pool: Pool;
	readonly #statuses: DeviceStatuses;
	readonly #active: Batcher<Beat, BeatResult | undefined>;
	/** The queue of first heartbeats. Each is stored in a transaction of its own. */
	readonly #first = new OrganizationQueue<BeatResult | undefined>(
		"first_heartbeats",
	);

	constructor(pool: Pool, statuses: DeviceStatuses) {
		this.#pool = pool;
		this.#statuses = statuses;
		this.#active = new Batcher<Beat, BeatResult | undefined>({
			name: "heartbeats",
			key: batchKey,
			bytes: (beat: Beat) =>
				64 + beat.facts.hostname.length + beat.facts.os_version.length,
			maxBatchRows: 256,
			maxBatchBytes: 1 << 20,
			maxInFlight: 2,
			minIntervalMs: 5,
			maxWaitingRows: 8192,
			maxHeldPerKey: MAX_HELD_PER_DEVICE,
			maxWaitingBytes: 32 << 20,
			run: leaveOutLockedDevices(pool, "heartbeats", store),
		});
	}

	/**
	 * Stores a heartbeat and resolves when it is durable. Rejects with an AppError: unauthorized (no
	 * live device has the key), bad_request (another live device of the organization has the
	 * hardware, or the device waits for approval) or service_unavailable.
	 */
	async record(beat: Beat): Promise<BeatResult> {
		const result = await this.#active.add(beat);
		if (result) return result;
		const holder = await this.#statuses.find(beat.keyHash);
		if (!holder) throw unknownDeviceKey();
		const first = await this.#first.take(holder.organizationId, () =>
			this.#activate(beat),
		);
		if (!first) throw unknownDeviceKey();
		return first;
	}

	/** The queues of heartbeats that wait for the database, by name. */
	get queues(): Record<string, Queue> {
		return { heartbeats: this.#active, first_heartbeats: this.#first.queue };
	}

	/** The queue that every heartbeat enters first. */
	get queue(): Queue {
		return this.#active;
	}

	async idle(): Promise<void> {
		await this.#active.idle();
		await this.#first.idle();
	}

	/** Returns the result of a first heartbeat, or undefined if the key was revoked meanwhile. */
	async #activate(beat: Beat): Promise<BeatResult | undefined> {
		const { rows } = await this.#pool.query<{ outcome: string }>({
			name: "agent_activate",
			text: `select agent_activate($1, $2, $3, $4, $5, $6, $7) as outcome
				from set_config('assay.address', $8, true) a, set_config('assay.agent', $9, true) b`,
			values: [
				`\\x${beat.keyHash}`,
				beat.facts.hardware_uuid,
				beat.facts.serial_number ?? null,
				beat.facts.hostname,
				beat.facts.platform,
				beat.facts.os_version,
				beat.facts.agent_version,
				beat.address ?? null,
				beat.agentName ?? null,
			],
		});
		const outcome = rows[0]?.outcome;
		if (outcome === "awaits_approval") {
			throw new AppError(
				"bad_request",
				"the device waits until an administrator approves it in the console, under Devices; keep the key and try again",
			);
		}
		if (outcome === "duplicate_hardware") {
			throw new AppError(
				"bad_request",
				"another device of the organization already has this hardware_uuid; an administrator must say on its page in the console that this is the same device, set up again, or revoke one of the two devices",
			);
		}
		// The device is active now, through this heartbeat or a simultaneous one. The heartbeat can
		// therefore be stored like any other.
		const [result] = await store(this.#pool, [beat]);
		return result;
	}
}

/**
 * Stores heartbeats of active devices. A heartbeat whose key belongs to no active device is
 * skipped, and its result is undefined.
 */
async function store(
	db: Pool | PoolClient,
	beats: Beat[],
): Promise<(BeatResult | undefined)[]> {
	const facts = beats.map((beat) => beat.facts);
	const { rows } = await db.query<
		[number, string, number, number, string | null]
	>({
		name: "agent_store_heartbeats",
		text: `
			select
				ordinal, device_id, heartbeat_interval_seconds, posture_interval_seconds, group_policy_id
			from agent_store_heartbeats($1, $2, $3, $4, $5, $6, $7, $8)`,
		values: [
			byteaArray(beats.map((beat) => beat.keyHash)),
			textArray(facts.map((fact) => fact.hardware_uuid)),
			textArray(facts.map((fact) => fact.serial_number ?? null)),
			textArray(facts.map((fact) => fact.hostname)),
			textArray(facts.map((fact) => fact.platform)),
			textArray(facts.map((fact) => fact.os_version)),
			textArray(facts.map((fact) => fact.agent_version)),
			textArray(beats.map((beat) => beat.address ?? null)),
		],
		rowMode: "array",
	});
	const results = new Array<BeatResult | undefined>(beats.length);
	for (const [ordinal, deviceId, heartbeatS, postureS, policyId] of rows) {
		results[ordinal - 1] = {
			deviceId,
			heartbeatIntervalSeconds: heartbeatS,
			postureIntervalSeconds: postureS,
			groupPolicyId: policyId,
		};
	}
	return results;
}
