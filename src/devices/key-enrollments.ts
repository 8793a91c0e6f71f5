import type { Pool } from "pg";
import { byteaArray, textArray } from "../db/array.ts";
import { overloaded } from "../errors.ts";
import { makeId } from "../id.ts";
import type { OrganizationQueue } from "../load/organization-queue.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import type { DeviceStatuses } from "./authentication.ts";

/** Largest number of devices that one statement enrolls. */
const MAX_BATCH = 128;
/** Largest number of devices that may wait for one key. Further ones get 503 and come back. */
const MAX_WAITING = 512;

/** The facts about the sender of a request to enroll. */
export interface Enroller {
	/** Network address of the sender, for the audit log. */
	address?: string | undefined;
	/** Mail address of the device's user, as the installer claims. It counts only with a key. */
	ownerEmail?: string | undefined;
}

interface Waiting {
	from: Enroller;
	resolve: (deviceKey: string | undefined) => void;
	reject: (error: unknown) => void;
}

/**
 * Enrolls devices with enrollment keys. The devices of one key that arrive together are enrolled by
 * one statement, which counts them all in the key's row. A whole fleet therefore does not wait for
 * that row one device after the other, and a flood with one key delays no other organization.
 */
export class KeyEnrollments {
	readonly #pool: Pool;
	readonly #statuses: DeviceStatuses;
	readonly #queue: OrganizationQueue<string | undefined>;
	/** Devices that wait, by the hash of their enrollment key. */
	readonly #waiting = new Map<string, Waiting[]>();

	constructor(
		pool: Pool,
		statuses: DeviceStatuses,
		queue: OrganizationQueue<string | undefined>,
	) {
		this.#pool = pool;
		this.#statuses = statuses;
		this.#queue = queue;
	}

	/**
	 * Makes a PENDING device and resolves to its key, or to undefined if the enrollment key cannot be
	 * used. Rejects with service_unavailable if too many devices use the key at this moment.
	 */
	async enroll(keyHash: string, from: Enroller): Promise<string | undefined> {
		const holder = await this.#statuses.find(keyHash);
		if (!holder) return undefined;
		return new Promise((resolve, reject) => {
			const entry = { from, resolve, reject };
			const waiting = this.#waiting.get(keyHash);
			if (!waiting) {
				this.#waiting.set(keyHash, [entry]);
				void this.#run(keyHash, holder.organizationId);
			} else if (waiting.length < MAX_WAITING) waiting.push(entry);
			else {
				reject(
					overloaded(
						"too many devices use this enrollment key at the moment; retry later",
					),
				);
			}
		});
	}

	/** Enrolls all waiting devices of a key, batch by batch, as the queue admits them. */
	async #run(keyHash: string, organizationId: string): Promise<void> {
		for (;;) {
			let batch: Waiting[] = [];
			try {
				await this.#queue.take(organizationId, async () => {
					// The queue repeats a job that met a lock. The repetition has the same devices.
					if (batch.length === 0) {
						batch = this.#waiting.get(keyHash)?.splice(0, MAX_BATCH) ?? [];
					}
					const keys = await this.#store(keyHash, organizationId, batch);
					batch.forEach(({ resolve }, index) => {
						resolve(keys[index]);
					});
					return undefined;
				});
			} catch (error) {
				// A queue that is full took no device out of the list, so all of them are turned away.
				const failed =
					batch.length > 0 ? batch : this.#waiting.get(keyHash)?.splice(0);
				for (const { reject } of failed ?? []) reject(error);
			}
			if (this.#waiting.get(keyHash)?.length === 0) {
				this.#waiting.delete(keyHash);
				return;
			}
		}
	}

	/** Stores the devices. Returns their keys, and none for those that the key had no room for. */
	async #store(
		keyHash: string,
		organizationId: string,
		batch: Waiting[],
	): Promise<string[]> {
		const keys = batch.map(() => makeSecret("dev"));
		const { rows } = await this.#pool.query<{ made: number }>({
			name: "agent_enroll_with_key",
			text: "select agent_enroll_with_key($1, $2, $3, $4, $5) as made",
			values: [
				`\\x${keyHash}`,
				textArray(batch.map(() => makeId(organizationId, "device"))),
				byteaArray(keys.map(hashSecret)),
				textArray(batch.map(({ from }) => from.ownerEmail ?? null)),
				textArray(batch.map(({ from }) => from.address ?? null)),
			],
		});
		return keys.slice(0, rows[0]?.made ?? 0);
	}
}
