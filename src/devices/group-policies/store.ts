import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "../../errors.ts";
import { findCheckKey } from "../check-keys.ts";
import { checkName, type policyOfDevice } from "../device-record.ts";
import { CHOICE_NAMES, CHOICES, THRESHOLD_NAMES } from "../thresholds.ts";

/** Most groups with a policy in one organization. Each one is matched with all devices. */
export const MAX_GROUP_POLICIES = 50;

/** Most checks with a rule in one policy. */
const MAX_RULES = 100;

/** The values that a policy may replace and that are not about one check. */
export const OWN_FIELDS = [
	...THRESHOLD_NAMES,
	...CHOICE_NAMES,
	"max_silence_days",
] as const;
export type OwnField = (typeof OWN_FIELDS)[number];

const RULE_FIELDS = [
	"is_required",
	"grace_days",
	"new_device_grace_days",
] as const;

export const groupPolicy = z.object({
	group_id: z.string(),
	group_name: z.string(),
	priority: z
		.int()
		.describe("1 comes first; of a device's groups, the lowest applies"),
	min_password_length: z.int().nullable(),
	max_lock_delay_seconds: z.int().nullable(),
	max_patch_age_days: z.int().nullable(),
	max_definitions_age_days: z.int().nullable(),
	linux_malware_protection: z.enum(CHOICES.linux_malware_protection).nullable(),
	max_silence_days: z.int().nullable(),
	checks: z
		.array(
			z.object({
				check_key: z.string(),
				check_name: z.string().nullable(),
				is_required: z.boolean().nullable(),
				grace_days: z.int().nullable(),
				new_device_grace_days: z.int().nullable(),
			}),
		)
		.describe("The checks with a rule of its own"),
	device_count: z.int().describe("ACTIVE devices to which it applies"),
	updated_at: z.string(),
});

export interface GroupPolicy extends z.output<typeof groupPolicy> {
	id: string;
}

export type Rule = GroupPolicy["checks"][number];

/** A change of a rule. A field that is absent stays, and null means the organization's. */
export type RuleChange = { check_key: string } & {
	[Field in (typeof RULE_FIELDS)[number]]?: Rule[Field] | undefined;
};

/** Reads the policies of groups, the first in order first. */
export async function readGroupPolicies(
	client: PoolClient,
	organizationId: string,
): Promise<GroupPolicy[]> {
	const { rows } = await client.query<GroupPolicy>({
		name: "group_policies",
		text: `
			select
				p.id, p.group_id, g.name as group_name, p.priority,
				${OWN_FIELDS.map((name) => `p.${name}`).join(", ")},
				(
					select coalesce(jsonb_agg(jsonb_build_object(
						'check_key', r.check_key, 'is_required', r.is_required,
						'grace_days', r.grace_days, 'new_device_grace_days', r.new_device_grace_days
					) order by r.check_key), '[]')
					from device_group_policy_rules r
					where r.organization_id = p.organization_id and r.policy_id = p.id
						and r.valid_until is null
				) as checks,
				(
					select count(*)::int from devices d
					where d.organization_id = p.organization_id and d.group_policy_id = p.id
						and d.status = 'ACTIVE'
				) as device_count,
				p.updated_at
			from device_group_policies p
			join device_groups g on g.organization_id = p.organization_id and g.id = p.group_id
			where p.organization_id = $1 and p.priority is not null
			order by p.priority`,
		values: [organizationId],
	});
	return rows.map((row) => ({
		...row,
		checks: row.checks.map((rule) => ({
			...rule,
			check_name: checkName(rule.check_key),
		})),
	}));
}

/** Reads the policies of all groups, and says which of them applies to the device. */
export async function readPoliciesOfDevice(
	client: PoolClient,
	organizationId: string,
	deviceId: string,
): Promise<z.output<typeof policyOfDevice>[]> {
	const { rows } = await client.query<z.output<typeof policyOfDevice>>({
		name: "group_policies.of_device",
		text: `
			select p.group_id, g.name as group_name, p.priority, p.max_silence_days,
				coalesce(d.group_policy_id = p.id, false) as applies
			from device_group_policies p
			join device_groups g on g.organization_id = p.organization_id and g.id = p.group_id
			left join devices d on d.organization_id = p.organization_id and d.id = $2
			where p.organization_id = $1 and p.priority is not null
			order by p.priority`,
		values: [organizationId, deviceId],
	});
	return rows;
}

/** Gives the policies their numbers in this order. */
export async function storeOrder(
	client: PoolClient,
	organizationId: string,
	ids: readonly string[],
): Promise<void> {
	await client.query(
		`update device_group_policies p set priority = w.place
		from unnest($2::text[]) with ordinality w (id, place)
		where p.organization_id = $1 and p.id = w.id and p.priority is distinct from w.place`,
		[organizationId, ids],
	);
}

/** Changes the given rules that differ. The caller holds the lock of the policies. */
export async function changeGroupRules(
	client: PoolClient,
	organizationId: string,
	policyId: string,
	before: readonly Rule[],
	changes: readonly RuleChange[],
): Promise<void> {
	const rules = new Map(before.map((rule) => [rule.check_key, rule]));
	const changed = new Map<string, Partial<Rule>>();
	for (const [index, { check_key, ...given }] of changes.entries()) {
		const field = `checks[${index}].check_key`;
		const key = await findCheckKey(client, organizationId, check_key, field);
		if (changed.has(key)) {
			throw badFields([{ field, message: `names ${key} a second time` }]);
		}
		const known = rules.get(key);
		const values = RULE_FIELDS.map((name) => [
			name,
			given[name] === undefined ? (known?.[name] ?? null) : given[name],
		]);
		changed.set(key, { check_key: key, ...Object.fromEntries(values) });
	}
	const different = [...changed.values()].filter((rule) => {
		const known = rules.get(rule.check_key ?? "");
		return RULE_FIELDS.some((name) => rule[name] !== (known?.[name] ?? null));
	});
	if (different.length > 0) {
		await storeRules(client, organizationId, policyId, different);
	}
	if (new Set([...rules.keys(), ...changed.keys()]).size > MAX_RULES) {
		const message = `a policy may have rules for at most ${MAX_RULES} checks`;
		throw badFields([{ field: "checks", message }]);
	}
}

async function storeRules(
	client: PoolClient,
	organizationId: string,
	policyId: string,
	rules: readonly Partial<Rule>[],
): Promise<void> {
	const { rows } = await client.query<{ at: string }>(
		`with ended as (
			update device_group_policy_rules set valid_until = clock_timestamp()
			where organization_id = $1 and policy_id = $2 and check_key = any($3) and valid_until is null
			returning valid_until
		)
		select coalesce((select max(valid_until) from ended), clock_timestamp())::text as at`,
		[organizationId, policyId, rules.map(({ check_key }) => check_key)],
	);
	// A check without a value of its own needs no rule.
	await client.query(
		`insert into device_group_policy_rules
			(organization_id, policy_id, check_key, valid_from, ${RULE_FIELDS.join(", ")})
		select $1, $2, x.check_key, $3, x.is_required, x.grace_days, x.new_device_grace_days
		from jsonb_to_recordset($4) x
			(check_key text, is_required boolean, grace_days integer, new_device_grace_days integer)
		where num_nonnulls(x.is_required, x.grace_days, x.new_device_grace_days) > 0`,
		[organizationId, policyId, rows[0]?.at, JSON.stringify(rules)],
	);
}

/** Returns the values of a policy by the names that the audit log gives them. */
export function valuesOf(policy: GroupPolicy): Record<string, unknown> {
	return Object.fromEntries([
		["priority", policy.priority],
		...OWN_FIELDS.map((name) => [name, policy[name]]),
		...policy.checks.flatMap((rule) =>
			RULE_FIELDS.map((name) => [`${rule.check_key}.${name}`, rule[name]]),
		),
	]);
}
