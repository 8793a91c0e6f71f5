import type { ClientBase, Pool } from "pg";
import { type Step, userIdOf } from "./exchange.ts";

/** The service's secret, and the one it had before if the operator still names it. */
export interface Secrets {
	secret: string;
	previousSecret?: string | undefined;
}

/** The secret that decrypts a second factor, or UNREADABLE if none does. */
export type Encryption = "CURRENT" | "PREVIOUS" | "UNREADABLE";

interface StoredFactor {
	user_id: string;
	email: string;
	secret: string;
	backup_codes: string;
}

// better-auth is loaded with the first request that needs it, so that the service starts faster.
const loadCrypto = () => import("better-auth/crypto");

const COLUMNS = "f.user_id, u.email, f.secret, f.backup_codes";
const TABLES = "two_factors f join users u on u.id = f.user_id";

/** Says which secret decrypts each of the second factors. The client acts as assay_identity. */
export async function examineEncryption(
	client: ClientBase | Pool,
	secrets: Secrets,
): Promise<{ user_id: string; email: string; encryption: Encryption }[]> {
	const { rows } = await client.query<StoredFactor>(
		`select ${COLUMNS} from ${TABLES} order by u.email`,
	);
	return Promise.all(
		rows.map(async (row) => ({
			user_id: row.user_id,
			email: row.email,
			encryption: worst(
				await Promise.all(
					[row.secret, row.backup_codes].map(
						async (value) => (await decrypt(value, secrets)).encryption,
					),
				),
			),
		})),
	);
}

/**
 * Encrypts the second factor of a request's user with the current secret, if it is still encrypted
 * with the previous one. Answers 403 if neither secret decrypts it. Without this step, better-auth
 * would answer 500 after the operator changed the secret.
 */
export const renewEncryption: Step = async (exchange) => {
	const { pool, log, ...secrets } = exchange.parts;
	const userId = userIdOf(exchange);
	const { rows } = await pool.query<StoredFactor>(
		`select ${COLUMNS} from ${TABLES} where f.user_id = $1`,
		[userId],
	);
	const [row] = rows;
	if (!row) return;
	const found = await Promise.all(
		[row.secret, row.backup_codes].map((value) => decrypt(value, secrets)),
	);
	const encryption = worst(found.map((one) => one.encryption));
	if (encryption === "CURRENT") return;
	if (encryption === "UNREADABLE") {
		log.error(
			{ userId },
			"a second factor cannot be decrypted, because the service's secret was changed; set ASSAY_SECRET_PREVIOUS to the former secret, or run assay user reset-two-factor",
		);
		return Response.json(
			{
				code: "SECOND_FACTOR_UNREADABLE",
				message:
					"this service cannot read your second factor any more, because its secret was changed; ask its operator to reset your second factor",
			},
			{ status: 403 },
		);
	}
	const { symmetricEncrypt } = await loadCrypto();
	const [secret, codes] = await Promise.all(
		found.map(({ text }) =>
			symmetricEncrypt({ key: secrets.secret, data: text }),
		),
	);
	// Codes that were used or renewed meanwhile stay as they are.
	await pool.query(
		`update two_factors set secret = $2, backup_codes = $3
		where user_id = $1 and secret = $4 and backup_codes = $5`,
		[userId, secret, codes, row.secret, row.backup_codes],
	);
};

function worst(found: Encryption[]): Encryption {
	for (const one of ["UNREADABLE", "PREVIOUS"] as const) {
		if (found.includes(one)) return one;
	}
	return "CURRENT";
}

async function decrypt(
	data: string,
	{ secret, previousSecret }: Secrets,
): Promise<{ encryption: Encryption; text: string }> {
	const keys = [
		["CURRENT", secret],
		["PREVIOUS", previousSecret],
	] as const;
	const { symmetricDecrypt } = await loadCrypto();
	for (const [encryption, key] of keys) {
		if (key === undefined) continue;
		try {
			return { encryption, text: await symmetricDecrypt({ key, data }) };
		} catch {
			// The text was encrypted with another secret.
		}
	}
	return { encryption: "UNREADABLE", text: "" };
}
