import type { Pool } from "pg";
import { badFields } from "../errors.ts";
import { asHashed, isPasswordOf } from "./password-hash.ts";
import {
	passwordSchema,
	requireGoodPassword,
	whyBad,
} from "./password-rules.ts";

/**
 * Throws bad_request unless `password` is good and another one than the user with this address has
 * now. `pool` is that of assay_identity.
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
 * The same for who changes the password at better-auth's address, in the shape of its refusals;
 * undefined: nothing is wrong with the new one. Whether the present one is right is not said here.
 */
export async function refuseNewPassword(
	pool: Pool,
	userId: string,
	body: unknown,
): Promise<Response | undefined> {
	const { currentPassword, newPassword } = (body ?? {}) as Record<
		string,
		unknown
	>;
	const wanted = passwordSchema.safeParse(newPassword);
	// What is of a wrong length as it was sent, better-auth itself refuses.
	if (!wanted.success) return undefined;
	if (
		typeof currentPassword === "string" &&
		asHashed(wanted.data) === asHashed(currentPassword)
	) {
		return refusal("SAME_PASSWORD", SAME);
	}
	const { rows } = await pool.query<{ email: string; name: string }>(
		"select email, name from users where id = $1",
		[userId],
	);
	const about = rows.flatMap(({ email, name }) => [email, name]);
	const message = whyBad(wanted.data, about);
	return message === undefined ? undefined : refusal("WEAK_PASSWORD", message);
}

const SAME = "is the one that there is already; take another";

function refusal(code: string, message: string): Response {
	return Response.json({ code, message }, { status: 400 });
}
