import { AppError } from "../errors.ts";
import type { Context } from "../operation.ts";
import type { Exchange, Step } from "./exchange.ts";

/**
 * Number of minutes for which a password or a code counts as fresh after it was given. Actions that
 * give lasting access require a fresh one.
 */
export const FRESH_MINUTES = 10;

/** Records that the session's user has just given the password or a code. */
export const noteProof: Step = async ({ parts, subject }) => {
	await parts.pool.query(
		"update sessions set proved_at = now() where id = $1",
		[subject.sessionId],
	);
};

/** Checks the password of the session's user. */
export async function verifyPassword({
	auth,
	body,
	headers,
}: Exchange): Promise<Response> {
	try {
		await auth.api.verifyPassword({
			body: { password: String(body.password ?? "") },
			headers,
		});
		return Response.json({ status: true });
	} catch (error) {
		const { statusCode, body } = error as {
			statusCode?: number;
			body?: object;
		};
		if (statusCode === undefined || statusCode >= 500) throw error;
		return Response.json(body ?? {}, { status: statusCode });
	}
}

/**
 * Throws forbidden, with the field "proof", unless the user of the caller's session has given the
 * password or a code within the last FRESH_MINUTES. Calls from the command line need no proof.
 */
export async function requireFreshProof({
	client,
	principal,
}: Context): Promise<void> {
	if (principal.kind === "SYSTEM") return;
	const { rows } = await client.query<{ is_fresh: boolean | null }>(
		`select own_session_proved_at($1) > now() - interval '${FRESH_MINUTES} minutes' as is_fresh`,
		[principal.sessionId ?? null],
	);
	if (rows[0]?.is_fresh) return;
	throw needsProof();
}

/** Makes the error with which the console asks for a new proof. */
export function needsProof(): AppError {
	const message = `enter your password, a code of your second factor or a passkey again; the last one is more than ${FRESH_MINUTES} minutes old`;
	return new AppError("forbidden", message, {
		fields: [{ field: "proof", message }],
	});
}
