import type { Credentials } from "../backup/credentials.ts";
import type { Config } from "../config/config.ts";
import type { Database } from "../db/database.ts";
import { revokeEnrollmentKey } from "../devices/enrollment-key-operations.ts";
import { revokeInvitation } from "../organizations/invitation-operations.ts";
import { revokeScimCredential } from "../scim/operations.ts";
import { revoke } from "./api-token.ts";
import type { Revocable } from "./restored-credentials.ts";
import { type Run, runAsOperator } from "./with-organization.ts";

type Of<List extends keyof Credentials> = Credentials[List][number];

/** How an entry of each list is revoked. API tokens belong to a user and not to an organization. */
const REVOKE = {
	scim_credentials: (
		run: Run,
		{ organization_id, id }: Of<"scim_credentials">,
	) => run(revokeScimCredential, { organization_id, id }),
	enrollment_keys: (run: Run, { id }: Of<"enrollment_keys">) =>
		run(revokeEnrollmentKey, { id }),
	invitations: (run: Run, { organization_id, id }: Of<"invitations">) =>
		run(revokeInvitation, { organization_id, id }),
};

/**
 * Revokes every entry of these lists. Each revocation is in the audit log of the organizations that
 * it concerns.
 */
export async function revokeCredentials(
	database: Database,
	config: Config,
	credentials: Credentials,
	lists: readonly Revocable[],
): Promise<void> {
	for (const list of lists) {
		if (list === "api_tokens") {
			for (const { id } of credentials.api_tokens) await revoke(database, id);
			continue;
		}
		for (const one of credentials[list]) {
			const run = runAsOperator(database, config, one.organization_id);
			await REVOKE[list](run, one);
		}
	}
}
