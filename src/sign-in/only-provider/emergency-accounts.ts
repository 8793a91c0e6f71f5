import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "../../errors.ts";
import type { Services } from "../../invoke.ts";
import { relyingPartyId } from "../passkeys/relying-party.ts";
import { mayUsePassword } from "../password-sign-in.ts";

export const emergencyCandidate = z.object({
	user_id: z.string(),
	name: z.string(),
	email: z.string(),
	is_named: z.boolean().describe("It is an emergency account"),
	problem: z
		.enum(["NO_PASSWORD", "NO_SECOND_FACTOR", "NOT_ALLOWED"])
		.nullable()
		.describe(
			"Why the account could not sign in without the provider, or not safely: it has no password and no passkey, two-factor authentication is off, or the operator allows neither a password nor a passkey; null: it can",
		),
	last_used_at: z.string().nullable(),
});
export type EmergencyCandidate = z.output<typeof emergencyCandidate>;

/** Returns the administrators of the transaction's organization, emergency accounts first. */
export async function readCandidates(
	client: PoolClient,
	{ baseUrl, passwordRule }: Pick<Services, "baseUrl" | "passwordRule">,
): Promise<EmergencyCandidate[]> {
	const { rows } = await client.query<
		Omit<EmergencyCandidate, "problem" | "last_used_at"> & {
			has_password: boolean;
			has_second_factor: boolean;
			has_passkey: boolean;
			last_used_at: Date | null;
		}
	>("select * from emergency_candidates($1)", [
		relyingPartyId(baseUrl) ?? null,
	]);
	return rows.map(
		({ has_password, has_second_factor, has_passkey, ...row }) => {
			const isAllowed =
				!passwordRule || mayUsePassword(passwordRule, row.email);
			const problem =
				!has_password && !has_passkey
					? ("NO_PASSWORD" as const)
					: has_second_factor
						? null
						: ("NO_SECOND_FACTOR" as const);
			return {
				...row,
				problem: isAllowed ? problem : ("NOT_ALLOWED" as const),
				last_used_at:
					row.last_used_at && new Date(row.last_used_at).toISOString(),
			};
		},
	);
}

/**
 * Names exactly these members as emergency accounts. Throws bad_request if one of them is new and
 * cannot be one.
 */
export async function nameEmergencyAccounts(
	client: PoolClient,
	organizationId: string,
	candidates: readonly EmergencyCandidate[],
	userIds: readonly string[],
): Promise<void> {
	const issues = userIds.flatMap((id, index) => {
		const found = candidates.find(({ user_id }) => user_id === id);
		if (found?.is_named || found?.problem === null) return [];
		return [
			{
				field: `emergency_user_ids[${index}]`,
				message: found
					? WORDS[found.problem ?? "NO_PASSWORD"]
					: "must be the id of an administrator of the organization",
			},
		];
	});
	if (issues.length > 0) throw badFields(issues);
	await client.query(
		`insert into emergency_members (organization_id, user_id)
		select $1, unnest($2::text[]) on conflict do nothing`,
		[organizationId, userIds],
	);
	await client.query(
		"delete from emergency_members where organization_id = $1 and not (user_id = any ($2))",
		[organizationId, userIds],
	);
}

const WORDS: Record<NonNullable<EmergencyCandidate["problem"]>, string> = {
	NO_PASSWORD:
		"must have a password or a passkey, and two-factor authentication must be on",
	NO_SECOND_FACTOR:
		"must have two-factor authentication on; an authenticator app or a passkey can be the second factor",
	NOT_ALLOWED:
		"must be allowed to sign in without the installation's identity provider; the operator names such addresses in ASSAY_PASSWORD_SIGN_IN",
};
