import type { Pool, PoolClient } from "pg";
import { AppError } from "../errors.ts";
import { makeId } from "../id.ts";
import { OrganizationQueue } from "../load/organization-queue.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";
import {
	type DeviceStatuses,
	type KeyHash,
	unknownDeviceKey,
} from "./authentication.ts";
import { type Enroller, KeyEnrollments } from "./key-enrollments.ts";

export const DEFAULT_TOKEN_DAYS = 7;
export const MAX_TOKEN_DAYS = 365;

export interface NewDevice {
	organizationId: string;
	/** The name that people give the device. Its enrollment token gets the same name. */
	name: string | undefined;
	/** Id of the person who uses the device. */
	ownerId?: string | null | undefined;
	/** Days until the enrollment token expires. A whole number of at least 1. */
	tokenDays: number;
	/**
	 * Name of the user who creates the device. The name is stored as text, because the account may be
	 * deleted later.
	 */
	createdBy: string;
}

export interface CreatedToken {
	enrollment_token_id: string;
	/** The secret. It is shown only here, and the database stores only its hash. */
	enrollment_token: string;
	/** Time at which the enrollment token expires, in RFC 3339. */
	expires_at: string;
}

/**
 * Creates a PENDING device with an enrollment token. `client` must be in a transaction of the
 * organization.
 */
export async function createDevice(
	client: PoolClient,
	device: NewDevice,
): Promise<CreatedToken & { device_id: string }> {
	const deviceId = makeId(device.organizationId, "device");
	await client.query(
		`insert into devices (organization_id, id, name, owner_id, search_text)
		values ($1, $2, $3, $4, search_text($3))`,
		[device.organizationId, deviceId, device.name, device.ownerId],
	);
	const token = await createEnrollmentToken(client, { ...device, deviceId });
	return { device_id: deviceId, ...token };
}

/** Creates an enrollment token for a device. Earlier tokens stay valid. */
export async function createEnrollmentToken(
	client: PoolClient,
	device: NewDevice & { deviceId: string },
): Promise<CreatedToken> {
	const tokenId = makeId(device.organizationId, "enrollment_token");
	const token = makeSecret("enr");
	const { rows } = await client.query<{ expires_at: string }>(
		`insert into enrollment_tokens
			(organization_id, id, device_id, name, token_hash, expires_at, created_by)
		values ($1, $2, $3, $4, $5, now() + $6 * interval '1 day', $7)
		returning expires_at`,
		[
			device.organizationId,
			tokenId,
			device.deviceId,
			device.name ?? device.deviceId,
			`\\x${hashSecret(token)}`,
			device.tokenDays,
			device.createdBy,
		],
	);
	const [row] = rows;
	if (!row)
		throw new Error(
			"the query that stores an enrollment token returned no row",
		);
	return {
		enrollment_token_id: tokenId,
		enrollment_token: token,
		expires_at: row.expires_at,
	};
}

export interface EnrollmentToken {
	id: string;
	state: "OPEN" | "EXPIRED" | "REVOKED";
	expires_at: string;
	created_at: string;
	created_by: string | null;
}

/**
 * Returns the newest token that was made since the device was last enrolled, without its secret. A
 * token that was exchanged no longer exists.
 */
export async function findEnrollmentToken(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<EnrollmentToken | null> {
	const { rows } = await client.query<EnrollmentToken>({
		name: "get.enrollment_token",
		text: `
			select
				t.id,
				case
					when t.revoked_at is not null then 'REVOKED'
					when t.expires_at <= now() then 'EXPIRED'
					else 'OPEN'
				end as state,
				t.expires_at, t.created_at, t.created_by
			from enrollment_tokens t
			join devices d on d.organization_id = t.organization_id and d.id = t.device_id
			where t.organization_id = $1 and t.device_id = $2
				and t.created_at > coalesce(d.enrolled_at, '-infinity'::timestamptz)
			order by t.created_at desc, t.id desc
			limit 1`,
		values: [organizationId, deviceId],
	});
	return rows[0] ?? null;
}

/**
 * Parts that `enroll` and `unenroll` need. Both first look up the organization, because the queue
 * shares its places among organizations.
 */
export interface Enrolling {
	pool: Pool;
	statuses: DeviceStatuses;
	queue: OrganizationQueue<string | undefined>;
	keys: KeyEnrollments;
}

export function makeEnrolling(pool: Pool, statuses: DeviceStatuses): Enrolling {
	const queue = new OrganizationQueue<string | undefined>("rare");
	const keys = new KeyEnrollments(pool, statuses, queue);
	return { pool, statuses, queue, keys };
}

/**
 * Exchanges an enrollment token, which works once, or an enrollment key for a new device key.
 * Rejects with unauthorized if the secret is unknown, used up, expired or revoked.
 */
export async function enroll(
	enrolling: Enrolling,
	secret: string,
	from: Enroller,
): Promise<string> {
	const enrolled = isWellFormedSecret("enk", secret)
		? await enrolling.keys.enroll(hashSecret(secret), from)
		: await exchangeToken(enrolling, secret, from.address);
	if (enrolled) return enrolled;
	throw new AppError(
		"unauthorized",
		"the enrollment token or key is unknown, used, expired or revoked; ask an administrator for a new one",
	);
}

async function exchangeToken(
	{ pool, statuses, queue }: Enrolling,
	token: string,
	address: string | undefined,
): Promise<string | undefined> {
	if (!isWellFormedSecret("enr", token)) return undefined;
	const tokenHash = hashSecret(token);
	const holder = await statuses.find(tokenHash);
	if (!holder) return undefined;
	return queue.take(holder.organizationId, async () => {
		const key = makeSecret("dev");
		const { rows } = await pool.query<{ device_id: string | null }>({
			name: "agent_enroll",
			text: "select agent_enroll($1, $2) as device_id from set_config('assay.address', $3, true)",
			values: [`\\x${tokenHash}`, `\\x${hashSecret(key)}`, address ?? null],
		});
		return rows[0]?.device_id ? key : undefined;
	});
}

/** Revokes a device's key. Rejects with unauthorized if no live device has the key. */
export async function unenroll(
	{ pool, statuses, queue }: Enrolling,
	keyHash: KeyHash,
	address: string | undefined,
): Promise<void> {
	const holder = await statuses.find(keyHash);
	if (!holder) throw unknownDeviceKey();
	await queue.take(holder.organizationId, async () => {
		const { rows } = await pool.query<{ revoked: boolean }>({
			name: "agent_unenroll",
			text: "select agent_unenroll($1) as revoked from set_config('assay.address', $2, true)",
			values: [`\\x${keyHash}`, address ?? null],
		});
		if (!rows[0]?.revoked) throw unknownDeviceKey();
		return undefined;
	});
}
