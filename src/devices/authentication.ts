import type { Pool } from "pg";
import { byteaArray } from "../db/array.ts";
import { AppError } from "../errors.ts";
import { Batcher, type Queue } from "../load/batch.ts";
import { hashSecret, isWellFormedSecret } from "../tokens/secret.ts";

/** The SHA-256 of a device key, hexadecimal: what finds the device. */
export type KeyHash = string;

/** Scheme in any case, one or more spaces (contract: agents in the field differ). */
const BEARER = /^bearer +(\S+)$/i;

/**
 * The hash of the device key in an Authorization header, or undefined when the
 * header is missing or malformed or the key fails its checksum; costs no query.
 */
export function readDeviceKey(header: string | undefined): KeyHash | undefined {
	const key = header === undefined ? undefined : BEARER.exec(header)?.[1];
	if (key === undefined || !isWellFormedSecret("dev", key)) return undefined;
	return hashSecret(key);
}

export function unknownDeviceKey(): AppError {
	return new AppError(
		"unauthorized",
		"the device key is missing, malformed, unknown or revoked; enroll the device again with a new enrollment token",
	);
}

/** The contract's 401 for a report before the first heartbeat: the one that is no loss of the key. */
export function pendingDevice(): AppError {
	return new AppError(
		"unauthorized",
		"the device has not sent its first heartbeat yet; keep the key, send a heartbeat, then the report",
	);
}

/** Hexadecimal digits sort like the bytes they stand for. */
export function batchKey(item: { keyHash: KeyHash }): string {
	return item.keyHash;
}

/**
 * Requests with one key that may wait while another with it is under way. A device sends one at a
 * time; a thousand clients with one key, even an invented one, must not take others' places.
 */
export const MAX_HELD_PER_DEVICE = 4;

/** What a secret opens: a live device's key, or an enrollment token, which may be expired or revoked. */
export interface KeyHolder {
	status: "PENDING" | "ACTIVE" | "TOKEN";
	organizationId: string;
}

interface LookUp {
	/** Its own: any number of look-ups of one key may travel together. */
	number: string;
	keyHash: KeyHash;
}

/**
 * Looks up the status and organization of the device behind a key, for requests that no other
 * statement authenticates: many look-ups are one statement.
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

	/** Undefined: the key is unknown or revoked. */
	find(keyHash: KeyHash): Promise<KeyHolder | undefined> {
		return this.#batcher.add({ number: String(this.#lookUps++), keyHash });
	}

	/** What waits for the database. */
	get queue(): Queue {
		return this.#batcher;
	}

	idle(): Promise<void> {
		return this.#batcher.idle();
	}
}
