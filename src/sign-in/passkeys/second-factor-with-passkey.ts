import { AppError } from "../../errors.ts";
import { type Exchange, userIdOf } from "../exchange.ts";
import { listCredentials } from "./passkey-store.ts";
import { relyingPartyId } from "./relying-party.ts";
import { refusedPasskey } from "./sign-in-with-passkey.ts";
import { verifyPasskey } from "./verify-passkey.ts";

/**
 * Returns {app, passkeys}: the ways in which a user who has given the right password, or who has a
 * session, can give a second factor. Recovery codes always work.
 */
export async function listFactors(exchange: Exchange): Promise<Response> {
	const { pool, baseUrl } = exchange.parts;
	const userId = userIdOf(exchange);
	const { rows } = await pool.query<{ app: boolean }>(
		`select exists (
			select from two_factors f join users u on u.id = f.user_id
			where f.user_id = $1 and f.verified and u.two_factor_enabled
		) as app`,
		[userId],
	);
	const rpId = relyingPartyId(baseUrl);
	const passkeys =
		rpId === undefined ? [] : await listCredentials(pool, userId, rpId);
	return Response.json({
		app: rows[0]?.app === true,
		passkeys: passkeys.length,
	});
}

/**
 * Switches two-factor authentication on without an authenticator app. The request that began it has
 * checked the password and made the recovery codes. A passkey confirms it, as a code of the app
 * would.
 */
export async function enableWithPasskey(exchange: Exchange): Promise<Response> {
	const { pool } = exchange.parts;
	const userId = userIdOf(exchange);
	const passkey = await verifyPasskey(exchange, {
		purpose: "second-factor",
		subject: userId,
		userId,
		mustVerifyUser: false,
	});
	if (!passkey) return refusedPasskey(400);
	const { rowCount } = await pool.query(
		`update users u set two_factor_enabled = true, updated_at = now()
		where u.id = $1 and exists (select from two_factors f where f.user_id = u.id)`,
		[userId],
	);
	if (rowCount === 1) return Response.json({ status: true });
	throw new AppError(
		"bad_request",
		"make recovery codes first, with /two-factor/enable",
	);
}
