import type { Pool } from "pg";
import { z } from "zod";
import { checkSetupLink } from "../organizations/first-setup.ts";
import {
	hashInvitation,
	unusableInvitation,
} from "../organizations/invitation-operations.ts";
import type { Role } from "../principal.ts";
import type { EventParts } from "./account-events.ts";
import { checkResetLink } from "./password-reset.ts";

export const linkInput = z.strictObject({ token: z.string() });

export type Link =
	| { purpose: "SETUP" }
	| { purpose: "PASSWORD_RESET"; email: string }
	| ({ purpose: "INVITATION" } & Invitation);

interface Invitation {
	email: string;
	organization_name: string;
	role: Role;
	invited_by: string;
	/** The address has an account already: its owner signs in and accepts. */
	has_account: boolean;
}

/**
 * What a link that somebody holds is good for, before anything is typed into its page: whose
 * password it sets, or where it leads. It tells no more than using it would. Throws
 * bad_request in the words that using it would.
 */
export async function readLink(
	{ pool, appPool }: EventParts,
	{ token }: z.output<typeof linkInput>,
): Promise<Link> {
	if (token.startsWith("asy_set_")) {
		await checkSetupLink(appPool, token);
		return { purpose: "SETUP" };
	}
	if (token.startsWith("asy_rst_")) {
		const { email } = await checkResetLink(pool, token);
		return { purpose: "PASSWORD_RESET", email };
	}
	return { purpose: "INVITATION", ...(await readInvitation(pool, token)) };
}

/** `pool` is that of assay_identity, which may look for an invitation in every organization. */
async function readInvitation(pool: Pool, token: string): Promise<Invitation> {
	const { rows } = await pool.query<Invitation>(
		`
		select i.email, o.name as organization_name, i.role, i.invited_by,
			exists (select from users u where u.email = i.email) as has_account
		from invitations i join organizations o on o.id = i.organization_id
		where i.token_hash = decode($1, 'hex')
			and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
		`,
		[hashInvitation(token)],
	);
	if (!rows[0]) throw unusableInvitation();
	return rows[0];
}
