import type { Pool } from "pg";
import { badFields } from "../errors.ts";
import { type Step, userIdOf } from "./exchange.ts";
import { asHashed, isPasswordOf } from "./password-hash.ts";
import {
	passwordSchema,
	requireGoodPassword,
	whyBad,
} from "./password-rules.ts";

/**
 * Throws bad_request if `password` is weak, or if it is the current password of the user with this
 * address. `pool` connects as assay_identity.
 */
export async function requireAnother(
	pool: Pool,
	email: string,
	password: string,
): Promise<void> {
	const { rows } = await pool.query<{ name: string; hash: string | null }>(
		`select u.name, a.password as hash from users u
		left join accounts a on a.user_id = u.id and a.provider_id = 'credential'
		where u.email = $1`,
		[email],
	);
	const [user] = rows;
	requireGoodPassword(password, [email, user?.name ?? ""]);
	if (user?.hash && (await isPasswordOf(user.hash, password))) {
		throw badFields([{ field: "password", message: SAME }]);
	}
}

/**
 * Rejects a new password that is weak or equal to the current password, in the shape of
 * better-auth's errors. The response does not reveal whether the caller gave the right present
 * password.
 */
export const rejectBadNewPassword: Step = async (exchange) => {
	const { currentPassword, newPassword } = exchange.body;
	const wanted = passwordSchema.safeParse(newPassword);
	// better-auth itself rejects a password that is too short or too long.
	if (!wanted.success) return undefined;
	if (
		typeof currentPassword === "string" &&
		asHashed(wanted.data) === asHashed(currentPassword)
	) {
		return rejection("SAME_PASSWORD", SAME);
	}
	const { rows } = await exchange.parts.pool.query<{
		email: string;
		name: string;
	}>("select email, name from users where id = $1", [userIdOf(exchange)]);
	const about = rows.flatMap(({ email, name }) => [email, name]);
	const message = whyBad(wanted.data, about);
	return message === undefined
		? undefined
		: rejection("WEAK_PASSWORD", message);
};

const SAME = "is your current password; choose a different one";

function rejection(code: string, message: string): Response {
	return Response.json({ code, message }, { status: 400 });
}
