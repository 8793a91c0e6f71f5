import type { Pool, PoolClient } from "pg";

/** Largest number of passkeys of a user. */
export const MAX_PASSKEYS = 20;

export interface Passkey {
	id: string;
	userId: string;
	email: string;
	credentialId: Buffer<ArrayBuffer>;
	publicKey: Buffer<ArrayBuffer>;
	counter: number;
	transports: string[];
}

/** Returns the passkey with this credential id. `pool` connects as assay_identity. */
export async function findPasskey(
	pool: Pool,
	credentialId: string,
	rpId: string,
): Promise<Passkey | undefined> {
	const { rows } = await pool.query<{
		id: string;
		user_id: string;
		email: string;
		credential_id: Buffer<ArrayBuffer>;
		public_key: Buffer<ArrayBuffer>;
		counter: string;
		transports: string[];
	}>(
		`select p.id, p.user_id, u.email, p.credential_id, p.public_key, p.counter, p.transports
		from passkeys p join users u on u.id = p.user_id
		where p.credential_id = $1 and p.rp_id = $2`,
		[Buffer.from(credentialId, "base64url"), rpId],
	);
	const [row] = rows;
	return (
		row && {
			id: row.id,
			userId: row.user_id,
			email: row.email,
			credentialId: row.credential_id,
			publicKey: row.public_key,
			counter: Number(row.counter),
			transports: row.transports,
		}
	);
}

/** Returns what a browser needs to know of a user's passkeys in order to ask for one of them. */
export async function listCredentials(
	pool: Pool,
	userId: string,
	rpId: string,
): Promise<{ id: string; transports: string[] }[]> {
	const { rows } = await pool.query<{
		credential_id: Buffer;
		transports: string[];
	}>(
		"select credential_id, transports from passkeys where user_id = $1 and rp_id = $2",
		[userId, rpId],
	);
	return rows.map(({ credential_id, transports }) => ({
		id: credential_id.toString("base64url"),
		transports,
	}));
}

/**
 * Notes a use of a passkey. Returns false if the authenticator's count of signatures has not grown,
 * which means that the passkey was copied, or that this use is a repetition.
 */
export async function noteUse(
	pool: Pool,
	id: string,
	counter: number,
	isSynced: boolean,
): Promise<boolean> {
	const { rowCount } = await pool.query(
		`update passkeys set counter = $2, is_synced = $3, last_used_at = now()
		where id = $1 and (counter < $2 or counter = 0 and $2 = 0)`,
		[id, counter, isSynced],
	);
	return rowCount === 1;
}

/** Removes all passkeys of a user. `client` acts as assay_identity. Returns their number. */
export async function removePasskeys(
	client: PoolClient,
	userId: string,
): Promise<number> {
	const { rowCount } = await client.query(
		"delete from passkeys where user_id = $1",
		[userId],
	);
	return rowCount ?? 0;
}
