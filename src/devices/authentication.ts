import type { Pool } from "pg";
import { byteaArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { Batcher } from "../load/batch.ts";
import type { Queue } from "../load/queue.ts";
import { hashSecret, isWellFormedSecret } from "../tokens/secret.ts";

/** The SHA-256 of a device key, in hexadecimal. The service finds the device by this hash. */
export type KeyHash = string;

/**
 * Matches the scheme in upper or lower case, followed by one or more spaces, because agents write
 * it differently.
 */
const BEARER = /^bearer +(\S+)$/i;

/**
 * Returns the hash of the device key in an Authorization header. Returns undefined if the header is
 * missing or malformed, or if the key fails its checksum. This needs no query.
 */
export function readDeviceKey(header: string | undefined): KeyHash | undefined {
	const key = header === undefined ? undefined : BEARER.exec(header)?.[1];
	if (key === undefined || !isWellFormedSecret("dev", key)) return undefined;
	return hashSecret(key);
}

/** The 401 for a request whose key is not valid. */
export class InvalidDeviceKey extends AppError {
	constructor() {
		super(
			"unauthorized",
			"the device key is missing, malformed, unknown or revoked; enroll the device again with a new enrollment token",
		);
	}
}

export function unknownDeviceKey(): AppError {
	return new InvalidDeviceKey();
}

/**
 * The 401 for a report before the device's first heartbeat. It is the only 401 after which the
 * agent keeps its key.
 */
export function pendingDevice(): AppError {
	return new AppError(
		"unauthorized",
		"the device has not sent its first heartbeat yet; keep the key, send a heartbeat, and then send the report",
	);
}

/**
 * Returns the key by which a batch is sorted. Hexadecimal digits sort in the same order as the
 * bytes that they stand for.
 */
export function batchKey(item: { keyHash: KeyHash }): string {
	return item.keyHash;
}

/**
 * Largest number of requests with one key that may wait while another request with that key is in
 * progress. A real device sends one at a time. A thousand clients with one key, even an invented
 * one, must not take the places of other devices.
 */
export const MAX_HELD_PER_DEVICE = 4;

/**
 * The owner of a secret. It is a live device, an enrollment token, which may be expired or revoked,
 * or an enrollment key that can be used.
 */
export interface KeyHolder {
	status: "PENDING" | "ACTIVE" | "TOKEN" | "KEY";
	organizationId: string;
}

interface LookUp {
	/**
	 * Number of the look-up. Each look-up has another one, so that any number of look-ups of one key
	 * can share a batch.
	 */
	number: string;
	keyHash: KeyHash;
}

/**
 * Looks up the status and organization of the device that has a key. This serves requests whose
 * keys no other statement checks. Many look-ups are combined into one statement.
 */
export class DeviceStatuses {
	readonly #batcher: Batcher<LookUp, KeyHolder | undefined>;
	#lookUps = 0;

	constructor(pool: Pool) {
		this.#batcher = new Batcher({
			name: "statuses",
			key: ({ number }) => number,
			bytes: () => 64,
			maxBatchRows: 256,
			maxBatchBytes: 1 << 20,
			maxInFlight: 1,
			maxWaitingRows: 4096,
			maxWaitingBytes: 1 << 20,
			run: async (items) => {
				const { rows } = await pool.query<{
					ordinal: number;
					status: KeyHolder["status"];
					organization_id: string;
				}>({
					name: "agent_authenticate",
					text: "select ordinal, status, organization_id from agent_authenticate($1)",
					values: [byteaArray(items.map((item) => item.keyHash))],
				});
				const holders = new Array<KeyHolder | undefined>(items.length);
				for (const { ordinal, status, organization_id } of rows) {
					holders[ordinal - 1] = { status, organizationId: organization_id };
				}
				return holders;
			},
		});
	}

	/** Resolves to the owner of the key, or to undefined if the key is unknown or revoked. */
	find(keyHash: KeyHash): Promise<KeyHolder | undefined> {
		return this.#batcher.add({ number: String(this.#lookUps++), keyHash });
	}

	/** The queue of look-ups that wait for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}
