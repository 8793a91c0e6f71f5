import type { PoolClient } from "pg";
import type { AuditEvent } from "../audit/events.ts";
import { appendChanges } from "../audit/log.ts";
import { takeTransactionLocks } from "../db/transaction-locks.ts";
import type { Change } from "../operation.ts";
import type { Principal } from "../principal.ts";

/** A request of a SCIM client whose credential was found. */
export interface ScimCaller {
	organizationId: string;
	credentialId: string;
	/** The actor in the audit log. */
	principal: Principal;
	/** The address of the SCIM service, such as https://assay.example.com/scim/v2. */
	baseUrl: string;
}

/** A request within its transaction, which sees only the caller's organization. */
export interface ScimContext extends ScimCaller {
	client: PoolClient;
}

/** Writes changes to the organization's audit log. */
export function note(
	{ client, principal, organizationId }: ScimContext,
	event: AuditEvent,
	changes: Change[],
): Promise<void> {
	return appendChanges(client, principal, event, organizationId, changes);
}

/**
 * Lets the changes of an organization's SCIM clients follow each other, because the roles of members
 * depend on several rows.
 */
export function lockProvisioning(
	client: PoolClient,
	organizationId: string,
): Promise<void> {
	return takeTransactionLocks(client, `scim ${organizationId}`);
}
