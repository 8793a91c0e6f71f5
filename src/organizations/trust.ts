import type { PoolClient } from "pg";
import { appendChanges } from "../audit/log.ts";
import { forgetUnmailed } from "../notifications/unmailed.ts";
import type { Principal } from "../principal.ts";
import { requireOrganization } from "./organization-store.ts";

/**
 * Lifts the limits of an organization that a user made. It may then mail and invite people like an
 * organization that was made with a command. Returns false if there was nothing to lift. Throws
 * not_found.
 */
export async function trustOrganization(
	client: PoolClient,
	principal: Principal,
	id: string,
): Promise<boolean> {
	await requireOrganization(client, id);
	const { rows } = await client.query<{ name: string }>(
		"update organizations set made_by_user = false where id = $1 and made_by_user returning name",
		[id],
	);
	const [changed] = rows;
	if (!changed) return false;
	await forgetUnmailed(client, id);
	await appendChanges(client, principal, "trustOrganization", id, [
		{
			kind: "organization",
			id,
			name: changed.name,
			fields: { has_mail_limits: { before: true, after: false } },
		},
	]);
	return true;
}
