import type { Pool } from "pg";
import { organizationOfDomain } from "../../organizations/domains/domain-store.ts";
import { domainOf } from "../../records/mail-address.ts";

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
