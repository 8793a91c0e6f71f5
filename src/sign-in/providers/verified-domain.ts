import type { Pool } from "pg";
import { organizationOfDomain } from "../../organizations/domains/domain-store.ts";

/**
 * Returns true if the domain of the address was verified for the organization, by DNS or by the
 * operator. `pool` connects as assay_identity.
 */
export async function isVerifiedDomain(
	pool: Pool,
	organizationId: string,
	email: string,
): Promise<boolean> {
	return (await organizationOfDomain(pool, domainOf(email))) === organizationId;
}

/** Returns the domain of an address, in lower case. */
export function domainOf(email: string): string {
	return email.slice(email.lastIndexOf("@") + 1).toLowerCase();
}
