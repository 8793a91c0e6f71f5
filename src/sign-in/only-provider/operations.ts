import { z } from "zod";
import { badFields } from "../../errors.ts";
import { type Context, defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { idSchema } from "../../records/text-schemas.ts";
import { requireFreshProof } from "../fresh-proof.ts";
import {
	emergencyCandidate,
	nameEmergencyAccounts,
	readCandidates,
} from "./emergency-accounts.ts";
import { MAX_EMERGENCY_ACCOUNTS } from "./max-emergency-accounts.ts";
import { lockSignInRule, readSignInRule } from "./sign-in-rule.ts";

const admin = {
	toolset: "sign_in",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const signInRule = z.object({
	only_provider: z
		.boolean()
		.describe("Only sessions of the identity provider reach the organization"),
	since: z.string().nullable(),
	accepts_older_tokens: z
		.boolean()
		.describe("API tokens that were made before go on reaching it"),
	older_tokens: z
		.int()
		.describe(
			"Number of API tokens of members that were made without the provider and reach it",
		),
	members_without_provider: z
		.int()
		.describe("Number of members who never signed in with the provider"),
	is_own_session_accepted: z
		.boolean()
		.describe("You signed in with the organization's provider"),
	administrators: z
		.array(emergencyCandidate)
		.describe("Administrators, who can be emergency accounts"),
});

export const getSignInRule = defineOperation({
	...admin,
	name: "getSignInRule",
	title: "Get the sign-in rule",
	description:
		"Read whether an organization accepts only its identity provider, and who has an emergency account.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ rule: signInRule }),
	run: async (context) => ({ rule: await read(context) }),
});

export const updateSignInRule = defineOperation({
	...admin,
	name: "updateSignInRule",
	title: "Change the sign-in rule",
	description:
		"Change whether an organization accepts only its identity provider, and who has an emergency account. Only the given fields change. A change takes effect with the next request of every session and API token.",
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		only_provider: z
			.boolean()
			.optional()
			.describe("Only sessions of the identity provider reach it"),
		accepts_older_tokens: z
			.boolean()
			.optional()
			.describe("API tokens that were made before go on reaching it"),
		emergency_user_ids: z
			.array(idSchema("user"))
			.max(MAX_EMERGENCY_ACCOUNTS)
			.optional()
			.describe("All administrators with an emergency account"),
	}),
	output: z.object({ rule: signInRule }),
	run: async (context, given) => {
		const { client, membership, services } = context;
		const { organizationId } = membership;
		await requireFreshProof(context);
		const name = await lockSignInRule(client, organizationId);
		const before = await read(context);
		const isOn = given.only_provider ?? before.only_provider;
		if (!isOn && given.accepts_older_tokens === false) {
			throw badFields([
				{
					field: "accepts_older_tokens",
					message: "can be false only while only_provider is true",
				},
			]);
		}
		if (before.only_provider && !isOn) {
			await client.query(
				"delete from sign_in_rules where organization_id = $1",
				[organizationId],
			);
		}
		if (given.emergency_user_ids) {
			const ids = [...new Set(given.emergency_user_ids)];
			if (isOn && ids.length === 0) throw noEmergencyAccount();
			const candidates = await readCandidates(client, services);
			await nameEmergencyAccounts(client, organizationId, candidates, ids);
		}
		if (isOn) {
			if (!before.only_provider) await requireReadiness(context);
			await client.query(
				`insert into sign_in_rules (organization_id, accepts_older_tokens)
				values ($1, coalesce($2, true))
				on conflict (organization_id) do update
				set accepts_older_tokens = coalesce($2, sign_in_rules.accepts_older_tokens)`,
				[organizationId, given.accepts_older_tokens],
			);
		}
		const after = await read(context);
		noteChange(context, name, before, after);
		return { rule: after };
	},
});

type Rule = Awaited<ReturnType<typeof read>>;

async function read(context: Context) {
	const { client, membership, principal, services } = context;
	const { organizationId } = membership;
	const rule = await readSignInRule(client, organizationId);
	const { rows } = await client.query<{ older: number; without: number }>(
		`select count_members_without_provider($2) as without,
			(
				select count(*)::integer from memberships m join api_tokens t on t.user_id = m.user_id
				where m.organization_id = o.id and t.revoked_at is null
					and (t.expires_at is null or t.expires_at > now())
					and (t.organization_ids is null or m.organization_id = any (t.organization_ids))
					and t.sign_in_organization_id is distinct from o.id
					and is_token_accepted(o.id, t.sign_in_organization_id, t.created_at)
			) as older
		from organizations o where o.id = $1`,
		[organizationId, services.passwordRule?.issuer ?? null],
	);
	return {
		only_provider: rule !== undefined,
		since: rule ? new Date(rule.since).toISOString() : null,
		accepts_older_tokens: rule?.accepts_older_tokens ?? true,
		older_tokens: rows[0]?.older ?? 0,
		members_without_provider: rows[0]?.without ?? 0,
		is_own_session_accepted: principal.signInOrganizationId === organizationId,
		administrators: await readCandidates(client, services),
	};
}

/**
 * Throws bad_request unless the caller has signed in with the provider, and somebody gets in without
 * it. The caller then knows that the provider works, and nobody depends on it alone.
 */
async function requireReadiness(context: Context): Promise<void> {
	const { client, membership, principal, services } = context;
	if (principal.signInOrganizationId !== membership.organizationId) {
		throw badFields([
			{
				field: "only_provider",
				message:
					"can be switched on only in a session that began with the organization's identity provider; sign in with it first, to be sure that it works for you",
			},
		]);
	}
	const candidates = await readCandidates(client, services);
	const isReady = candidates.some(
		({ is_named, problem }) => is_named && problem === null,
	);
	if (!isReady) throw noEmergencyAccount();
}

function noEmergencyAccount() {
	return badFields([
		{
			field: "emergency_user_ids",
			message:
				"must name at least one administrator who can sign in without the identity provider, while only_provider is true",
		},
	]);
}

function noteChange(
	context: Context,
	name: string | null,
	before: Rule,
	after: Rule,
): void {
	const named = ({ administrators }: Rule) =>
		administrators.filter((one) => one.is_named).map((one) => one.email);
	const values = (rule: Rule) => ({
		only_provider: rule.only_provider,
		accepts_older_tokens: rule.accepts_older_tokens,
		emergency_accounts: named(rule),
	});
	const [old, now] = [values(before), values(after)];
	const fields = Object.fromEntries(
		(Object.keys(now) as (keyof typeof now)[])
			.filter((name) => String(old[name]) !== String(now[name]))
			.map((name) => [name, { before: old[name], after: now[name] }]),
	);
	if (Object.keys(fields).length === 0) return;
	context.changed({
		kind: "organization",
		id: context.membership.organizationId,
		name,
		fields,
	});
}
