import type { Pool } from "pg";
import { organizationOfDomain } from "../../organizations/domains/domain-store.ts";
import type { ClosedMembership, SignInWay } from "../../principal.ts";
import { domainOf } from "../../records/mail-address.ts";
import type { PasswordRule } from "../password-sign-in.ts";

/** The path that leads a browser to the identity provider of the installation. */
const PROVIDER_PATH = "/api/sign-in-with-provider";

/**
 * Adds the identity providers that lead to each organization that accepts nothing else. `pool`
 * connects as assay_identity.
 */
export async function withSignInWays(
	{ pool, issuer, providerName }: PasswordRule & { pool: Pool },
	closed: readonly ClosedMembership[],
	email: string,
): Promise<ClosedMembership[]> {
	const ids = closed
		.filter(({ why }) => why === "PROVIDER")
		.map(({ organizationId }) => organizationId);
	if (ids.length === 0) return [...closed];
	const { rows } = await pool.query<{
		organization_id: string;
		id: string;
		name: string;
	}>(
		`select organization_id, id, name from identity_providers
		where organization_id = any ($1) and is_enabled order by created_at, id`,
		[ids],
	);
	const own = issuer && (await organizationOfDomain(pool, domainOf(email)));
	const waysTo = (organizationId: string): SignInWay[] => [
		...rows
			.filter((row) => row.organization_id === organizationId)
			.map(({ id, name }) => ({
				name,
				path: `${PROVIDER_PATH}?provider=${id}`,
			})),
		...(own === organizationId
			? [{ name: providerName ?? "the identity provider", path: PROVIDER_PATH }]
			: []),
	];
	return closed.map((one) =>
		one.why === "PROVIDER"
			? { ...one, signInWays: waysTo(one.organizationId) }
			: one,
	);
}
