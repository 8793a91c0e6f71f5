import { createHash } from "node:crypto";
import type { PoolClient } from "pg";
import { badFields } from "../errors.ts";
import { obvious } from "./shown-in-tool-list.ts";
import { nameSchema } from "./text-schemas.ts";

/** Hours for which a repeated call answers with the first result. Then the key is forgotten. */
export const IDEMPOTENCY_HOURS = 24;
const MAX_KEY = 200;

/** The input field that makes it safe to repeat an add whose answer was lost. */
export const idempotencyShape = {
	idempotency_key: nameSchema(MAX_KEY)
		.optional()
		.meta(
			obvious(
				"Your own text. The same text again adds nothing and gives the first answer, for 24 hours",
			),
		),
};

/** A call with a key. A key belongs to the user, the operation and the organization. */
export interface KeyedCall {
	organizationId: string;
	userId: string;
	operation: string;
	key: string;
	/** The parsed input without the key. */
	input: unknown;
}

/**
 * Runs `run` and keeps its result. If an earlier call had the same key and input, returns the
 * earlier result instead. Waits for a call with the same key that runs at this moment. Throws
 * bad_request if the earlier call had another input.
 */
export async function answerOnce<Result>(
	client: PoolClient,
	{ organizationId, userId, operation, key, input }: KeyedCall,
	run: () => Promise<Result>,
): Promise<Result> {
	const hash = createHash("sha256").update(canonicalJson(input)).digest();
	const place = [organizationId, userId, operation, key];
	const { rowCount: isFirst } = await client.query(
		`insert into idempotency_keys as k (organization_id, user_id, operation, key, input_hash)
		values ($1, $2, $3, $4, $5)
		on conflict (organization_id, user_id, operation, key) do update
		set input_hash = excluded.input_hash, result = null, created_at = now()
		where k.created_at < now() - interval '${IDEMPOTENCY_HOURS} hours'`,
		[...place, hash],
	);
	const where =
		"organization_id = $1 and user_id = $2 and operation = $3 and key = $4";
	if (isFirst) {
		const result = await run();
		await client.query(
			`update idempotency_keys set result = $5 where ${where}`,
			[...place, JSON.stringify(result)],
		);
		return result;
	}
	const { rows } = await client.query<{ is_same: boolean; result: string }>(
		`select input_hash = $5 as is_same, result from idempotency_keys where ${where}`,
		[...place, hash],
	);
	const [first] = rows;
	if (!first?.is_same) {
		throw badFields([
			{
				field: "idempotency_key",
				message: `was used for another call of ${operation} in the last ${IDEMPOTENCY_HOURS} hours, with another input; use a new key`,
			},
		]);
	}
	return JSON.parse(first.result);
}

/** Returns JSON text in which the order of an object's properties makes no difference. */
function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_, inner) =>
		typeof inner === "object" && inner !== null && !Array.isArray(inner)
			? Object.fromEntries(
					Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)),
				)
			: inner,
	);
}
