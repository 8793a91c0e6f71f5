import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { requireFreshProof } from "./fresh-proof.ts";
import { resetUrl } from "./password-reset.ts";

/*
 * What an admin may do with another's account. An account is one for all organizations of its
 * user, so whoever sets its password gets in everywhere the user does. Hence the rule, which the
 * database holds (administers_account): only who is admin of every organization that the user
 * belongs to, whatever the user's role there. Everybody else asks for a mail, or whoever runs the
 * service (`assay user reset-link`, `assay user reset-two-factor`). Nobody does it to themselves:
 * that takes the present password, which a borrowed session does not have.
 */
const admin = {
	toolset: "members",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const input = z.strictObject({
	organization_id: organizationId(),
	user_id: idSchema("user").describe("The member"),
});

export const createPasswordResetLink = defineOperation({
	...admin,
	name: "createPasswordResetLink",
	title: "Make a link that sets a member's password",
	description:
		"Make a link with which a member sets a new password, once, within 24 hours; it replaces an earlier one. Only for members all of whose organizations you administer, and not for yourself.",
	input,
	output: z.object({
		reset_url: z.string().describe("To be passed on; shown only now"),
	}),
	run: async (context, { user_id }) => {
		await requireFreshProof(context);
		const user = await findOther(context, user_id);
		const token = makeSecret("rst");
		const { rows } = await context.client.query<{ is_allowed: boolean }>(
			"select add_password_reset(decode($1, 'hex'), $2) as is_allowed",
			[hashSecret(token), user_id],
		);
		if (!rows[0]?.is_allowed) throw notAllAdministered();
		context.changed({ kind: "user", id: user_id, name: user.name, fields: {} });
		return { reset_url: resetUrl(context.services.baseUrl, token) };
	},
});

export const resetTwoFactor = defineOperation({
	...admin,
	name: "resetTwoFactor",
	title: "Take a member's second factor away",
	description:
		"Take away the second factor of a member who has lost it, and sign the member out everywhere; the password alone signs in then. Only for members all of whose organizations you administer, and not for yourself.",
	isDestructive: true,
	isIdempotent: true,
	input,
	output: z.object({ user_id: z.string() }),
	run: async (context, { user_id }) => {
		await requireFreshProof(context);
		const user = await findOther(context, user_id);
		const { rows } = await context.client.query<{ is_allowed: boolean }>(
			"select remove_second_factor($1) as is_allowed",
			[user_id],
		);
		if (!rows[0]?.is_allowed) throw notAllAdministered();
		context.changed({
			kind: "user",
			id: user_id,
			name: user.name,
			fields: {
				two_factor: { after: "OFF" },
				sessions: { after: "ENDED" },
			},
		});
		return { user_id };
	},
});

/** The member of the organization; throws when there is none, or it is the caller. */
async function findOther(
	{ client, membership, principal }: Context,
	userId: string,
): Promise<{ name: string }> {
	const { rows } = await client.query<{ name: string }>(
		"select u.name from memberships m join users u on u.id = m.user_id where m.organization_id = $1 and m.user_id = $2",
		[membership.organizationId, userId],
	);
	if (!rows[0]) throw notFound(userId);
	if (userId === principal.userId) {
		throw new AppError(
			"bad_request",
			"this is your own account; change it under your profile, with your password",
		);
	}
	return rows[0];
}

function notAllAdministered(): AppError {
	return new AppError(
		"forbidden",
		"permission denied: the member also belongs to an organization that you do not administer; the member can ask for a reset by mail, and whoever runs the service can use `assay user reset-link` or `assay user reset-two-factor`",
	);
}
