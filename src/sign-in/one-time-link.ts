import type { Pool } from "pg";
import { z } from "zod";
import { checkSetupLink } from "../organizations/first-setup.ts";
import {
	hashInvitation,
	unusableInvitation,
} from "../organizations/invitation-operations.ts";
import type { Role } from "../principal.ts";
import type { EventParts } from "./account-events.ts";
import { checkResetLink, type ResetLink } from "./password-reset.ts";

export const linkInput = z.strictObject({ token: z.string() });

export type Link =
	| { purpose: "SETUP" }
	| ({ purpose: "PASSWORD_RESET" } & Omit<ResetLink, "hash">)
	| ({ purpose: "INVITATION" } & Invitation);

interface Invitation {
	email: string;
	organization_name: string;
	role: Role;
	invited_by: string;
}

/**
 * Returns the purpose of a link, so that its page can say whose password it sets, or which
 * organization it leads to, before the user types anything. The result is the same whether or not
 * the invited address has an account. If the link cannot be used, throws bad_request with the
 * message that using it would give.
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
		const { hash: _, ...link } = await checkResetLink(pool, token);
		return { purpose: "PASSWORD_RESET", ...link };
	}
	return { purpose: "INVITATION", ...(await readInvitation(pool, token)) };
}

/**
 * Returns the invitation that a link belongs to. `pool` connects as assay_identity, the role that
 * may look for an invitation in every organization.
 */
async function readInvitation(pool: Pool, token: string): Promise<Invitation> {
	const { rows } = await pool.query<Invitation>(
		`
		select i.email, o.name as organization_name, i.role, i.invited_by
		from invitations i join organizations o on o.id = i.organization_id
		where (i.token_hash = decode($1, 'hex') or i.mailed_token_hash = decode($1, 'hex'))
			and i.accepted_at is null and i.revoked_at is null and i.expires_at > now()
		`,
		[hashInvitation(token)],
	);
	if (!rows[0]) throw unusableInvitation();
	return rows[0];
}
