import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { confinedTo } from "./confined-session.ts";
import { requireFreshProof } from "./fresh-proof.ts";
import { RESET_LINK_HOURS } from "./link-hours.ts";
import { resetUrl } from "./password-reset.ts";

/*
 * Operations with which an admin resets another user's account.
 *
 * A user has one account for all organizations. Anybody who sets its password gets access to every
 * organization of that user. The caller must therefore be an admin of every organization that the
 * user belongs to, whatever the user's role there. The database enforces this rule in
 * administers_account. In all other cases, the user asks for a mail, or the operator of the service
 * runs `assay user reset-link` or `assay user reset-two-factor`.
 *
 * These operations do not reset the caller's own account. Changing one's own account requires the
 * current password, which somebody who borrows a session does not have.
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
	description: `Make a link with which a member sets a new password. It works once, within ${RESET_LINK_HOURS} hours, and replaces an earlier link. You must administer all organizations of the member, who cannot be you.`,
	input,
	output: z.object({
		reset_url: z
			.string()
			.describe("Link to pass on to the member; shown only now"),
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
	title: "Remove a member's second factor",
	description:
		"Remove the second factor and the passkeys of a member who has lost them, and sign the member out everywhere. The password alone then signs in. You must administer all organizations of the member, who cannot be you.",
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
				passkeys: { after: "REMOVED" },
				sessions: { after: "ENDED" },
			},
		});
		return { user_id };
	},
});

/**
 * Returns the member of the organization. Throws if nobody has this id, or if the member is the
 * caller.
 */
async function findOther(
	{ client, membership, principal }: Context,
	userId: string,
): Promise<{ name: string }> {
	// The member may belong to organizations that this session does not reach.
	if (confinedTo(principal)) {
		throw new AppError(
			"forbidden",
			"permission denied: this session reaches only one organization, and the account of a member belongs to all of theirs; sign in another way for it",
		);
	}
	const { rows } = await client.query<{ name: string }>(
		"select u.name from memberships m join users u on u.id = m.user_id where m.organization_id = $1 and m.user_id = $2",
		[membership.organizationId, userId],
	);
	if (!rows[0]) throw notFound(userId);
	if (userId === principal.userId) {
		throw new AppError(
			"bad_request",
			"this is your own account; change it under Account and security, with your password",
		);
	}
	return rows[0];
}

function notAllAdministered(): AppError {
	return new AppError(
		"forbidden",
		"permission denied: you do not administer all organizations of this member; the member can ask for a reset by mail, or the operator of the service can run `assay user reset-link` or `assay user reset-two-factor`",
	);
}
