import { z } from "zod";
import { badFields } from "../../errors.ts";
import { makeId } from "../../id.ts";
import { notFound } from "../../invoke.ts";
import { type Change, type Context, defineOperation } from "../../operation.ts";
import { organizationId } from "../../records/list-pages.ts";
import { obvious } from "../../records/shown-in-tool-list.ts";
import { idSchema } from "../../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../../records/unchanged.ts";
import { readRules } from "../check-rule-store.ts";
import { MAX_GRACE_DAYS, SILENCE_DAYS } from "../check-rules.ts";
import { countFleet } from "../count-states.ts";
import { namedCheck } from "../device-record.ts";
import { compareFleets, effects } from "../policy-effects.ts";
import { threshold } from "../policy-operations.ts";
import { CHOICES, type ThresholdName } from "../thresholds.ts";
import {
	assignGroupPolicies,
	lockGroupPolicies,
	MAX_ASSIGNED,
} from "./assign.ts";
import {
	changeGroupRules,
	type GroupPolicy,
	groupPolicy,
	MAX_GROUP_POLICIES,
	OWN_FIELDS,
	type OwnField,
	readGroupPolicies,
	storeOrder,
	valuesOf,
} from "./store.ts";

const groupId = () => idSchema("device_group").meta(obvious("Id of the group"));

export const listDeviceGroupPolicies = defineOperation({
	name: "listDeviceGroupPolicies",
	title: "List the device policies of groups",
	description:
		"List the groups with a device policy, in order. It replaces values of getDevicePolicy; null is the organization's.",
	toolset: "device_policy",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ group_policies: z.array(groupPolicy) }),
	run: async ({ client }, { organization_id }) => {
		const policies = await readGroupPolicies(client, organization_id);
		return { group_policies: policies.map(withoutId) };
	},
});

const graceDays = (meaning: string) =>
	z
		.int()
		.min(0)
		.max(MAX_GRACE_DAYS)
		.nullable()
		.optional()
		.meta(obvious(meaning));

/** The list of tools describes the thresholds once, in updateDevicePolicy. */
const given = (name: ThresholdName) => {
	const within = threshold(name);
	return within
		.nullable()
		.optional()
		.meta(obvious(within.description ?? ""));
};

export const setDeviceGroupPolicy = defineOperation({
	name: "setDeviceGroupPolicy",
	title: "Set the device policy of a group",
	description:
		"Give a group of devices a policy, or change it. Only the given fields change; null: the organization's value. Of a device's groups, the lowest priority applies. dry_run as in updateDevicePolicy.",
	toolset: "device_policy",
	access: "admin",
	isIdempotent: true,
	tenant: "group_id",
	input: z.strictObject({
		group_id: groupId(),
		...unchangedShape,
		priority: z
			.int()
			.min(1)
			.max(MAX_GROUP_POLICIES)
			.optional()
			.describe("Place; the others move. A new one is last by default"),
		min_password_length: given("min_password_length"),
		max_lock_delay_seconds: given("max_lock_delay_seconds"),
		max_patch_age_days: given("max_patch_age_days"),
		max_definitions_age_days: given("max_definitions_age_days"),
		linux_malware_protection: z
			.enum(CHOICES.linux_malware_protection)
			.nullable()
			.optional()
			.meta(obvious("What passes on Linux")),
		max_silence_days: z
			.int()
			.min(SILENCE_DAYS.least)
			.max(SILENCE_DAYS.most)
			.nullable()
			.optional()
			.meta(obvious("Days until a silent check is STALE")),
		checks: z
			.array(
				z.strictObject({
					check_key: namedCheck(),
					is_required: z
						.boolean()
						.nullable()
						.optional()
						.describe("true: on every platform"),
					grace_days: graceDays("Days of grace"),
					new_device_grace_days: graceDays("Of a new device"),
				}),
			)
			.max(100)
			.optional()
			.meta(obvious("Rules to change")),
		dry_run: z.boolean().optional().meta(obvious("False unless given")),
	}),
	output: z.object({
		group_policy: groupPolicy,
		effects: effects
			.nullable()
			.describe("Of a dry run; checks has those whose numbers change"),
		rest_follows: z
			.boolean()
			.describe(
				`True after ${MAX_ASSIGNED} changed devices: others may follow later, and effects lacks them`,
			),
	}),
	run: async (context, input) => {
		const { client, membership } = context;
		const { organizationId } = membership;
		const { group_id, if_updated_at, dry_run, priority, checks, ...own } =
			input;
		const { policies, filter } = await lockWithGroup(context, group_id);
		rejectStateFilter(filter, "group_id");
		const before = policies.find((policy) => policy.group_id === group_id);
		if (before) requireUnchanged("device policy", { ...before }, if_updated_at);
		const statesBefore = dry_run && (await countFleet(client, organizationId));
		if (dry_run) await client.query("savepoint dry_run");
		const id = before?.id ?? (await addPolicy(context, group_id, policies));
		await changeOwn(context, id, own);
		await changeGroupRules(
			client,
			organizationId,
			id,
			before?.checks ?? [],
			checks ?? [],
		);
		const others = policies.filter((policy) => policy !== before);
		const place = (priority ?? before?.priority ?? policies.length + 1) - 1;
		await storeOrder(
			client,
			organizationId,
			others.map((policy) => policy.id).toSpliced(place, 0, id),
		);
		const rest_follows = await assignGroupPolicies(client, organizationId);
		const stored = await find(context, group_id);
		const fields = differences(before && valuesOf(before), valuesOf(stored));
		const hasChanged = !before || Object.keys(fields).length > 0;
		if (hasChanged) await touch(context, id);
		const after = hasChanged ? await find(context, group_id) : stored;
		if (statesBefore) {
			const statesAfter = await countFleet(client, organizationId);
			await client.query("rollback to savepoint dry_run");
			const usual = await readRules(client, organizationId);
			return {
				group_policy: withoutId(after),
				effects: compareFleets(
					[
						...new Set([
							...usual.keys(),
							...statesBefore.requiredChecks,
							...statesAfter.requiredChecks,
						]),
					],
					statesBefore,
					statesAfter,
				),
				rest_follows,
			};
		}
		if (hasChanged) {
			context.changed({
				kind: "device_group_policy",
				id,
				name: after.group_name,
				fields,
			});
		}
		return { group_policy: withoutId(after), effects: null, rest_follows };
	},
});

export const deleteDeviceGroupPolicy = defineOperation({
	name: "deleteDeviceGroupPolicy",
	title: "Remove the device policy of a group",
	description: "Remove the policy of a group.",
	toolset: "device_policy",
	access: "admin",
	isDestructive: true,
	tenant: "group_id",
	input: z.strictObject({ group_id: groupId() }),
	output: z.object({ deleted_group_id: z.string() }),
	run: async (context, { group_id }) => {
		if (!(await removePolicyOf(context, group_id))) throw notFound(group_id);
		return { deleted_group_id: group_id };
	},
});

/** Removes the policy of a group. Returns false if the group has none. */
export async function removePolicyOf(
	context: Context,
	groupId: string,
): Promise<boolean> {
	const { client, membership } = context;
	const { organizationId } = membership;
	const { policies } = await lockWithGroup(context, groupId);
	const removed = policies.find((policy) => policy.group_id === groupId);
	if (!removed) return false;
	await client.query(
		`with ended as (
			update device_group_policy_rules set valid_until = clock_timestamp()
			where organization_id = $1 and policy_id = $2 and valid_until is null
		)
		update device_group_policies set priority = null, updated_at = clock_timestamp()
		where organization_id = $1 and id = $2`,
		[organizationId, removed.id],
	);
	await storeOrder(
		client,
		organizationId,
		policies.filter((policy) => policy !== removed).map(({ id }) => id),
	);
	await assignGroupPolicies(client, organizationId);
	context.changed({
		kind: "device_group_policy",
		id: removed.id,
		name: removed.group_name,
		fields: differences(valuesOf(removed), undefined),
	});
	return true;
}

/** The filter of a group. Null: the group lists its devices. */
type Filter = Record<string, unknown> | null;

/** Filters by states, which a policy changes. */
const STATE_FILTERS = ["check_state", "compliance"];

/**
 * Throws a bad_request if the filter of a group depends on states. A policy changes the states of
 * its devices, and would so change which devices it applies to.
 */
export function rejectStateFilter(filter: Filter, field: string): void {
	if (!STATE_FILTERS.some((name) => filter?.[name] !== undefined)) return;
	const message = `a group with a policy cannot have a filter by ${STATE_FILTERS.join(" or ")}, because the policy decides these; filter by something else`;
	throw badFields([{ field, message }]);
}

/** Locks the group, and then all policies of groups. Returns these. */
async function lockWithGroup(
	{ client, membership }: Context,
	groupId: string,
): Promise<{ policies: GroupPolicy[]; filter: Filter }> {
	const { organizationId } = membership;
	const { rows } = await client.query<{ filter: Filter }>(
		"select filter from device_groups where organization_id = $1 and id = $2 for update",
		[organizationId, groupId],
	);
	const [group] = rows;
	if (!group) throw notFound(groupId);
	await lockGroupPolicies(client, organizationId);
	const policies = await readGroupPolicies(client, organizationId);
	return { policies, filter: group.filter };
}

async function find(
	{ client, membership }: Context,
	groupId: string,
): Promise<GroupPolicy> {
	const policies = await readGroupPolicies(client, membership.organizationId);
	const found = policies.find((policy) => policy.group_id === groupId);
	if (!found) throw notFound(groupId);
	return found;
}

async function addPolicy(
	{ client, membership }: Context,
	groupId: string,
	others: readonly GroupPolicy[],
): Promise<string> {
	const { organizationId } = membership;
	if (others.length >= MAX_GROUP_POLICIES) {
		const message = `the organization has ${MAX_GROUP_POLICIES} groups with a policy, which is the maximum; remove one first`;
		throw badFields([{ field: "group_id", message }]);
	}
	const id = makeId(organizationId, "device_group_policy");
	await client.query(
		`insert into device_group_policies (organization_id, id, group_id, priority)
		values ($1, $2, $3, $4)`,
		[organizationId, id, groupId, others.length + 1],
	);
	return id;
}

async function changeOwn(
	{ client, membership }: Context,
	id: string,
	given: { [Name in OwnField]?: GroupPolicy[Name] | undefined },
): Promise<void> {
	const names = OWN_FIELDS.filter((name) => given[name] !== undefined);
	if (names.length === 0) return;
	const assignments = names.map((name, index) => `${name} = $${index + 3}`);
	await client.query(
		`update device_group_policies set ${assignments.join(", ")}
		where organization_id = $1 and id = $2`,
		[membership.organizationId, id, ...names.map((name) => given[name])],
	);
}

/** Every change gets a later time, as with the organization's policy. */
async function touch(
	{ client, membership }: Context,
	id: string,
): Promise<void> {
	await client.query(
		`update device_group_policies set updated_at = clock_timestamp()
		where organization_id = $1 and id = $2`,
		[membership.organizationId, id],
	);
}

/** Returns the fields that differ. A new or removed policy has those that replace something. */
function differences(
	before: Record<string, unknown> | undefined,
	after: Record<string, unknown> | undefined,
): Change["fields"] {
	const names = new Set(Object.keys({ ...before, ...after }));
	const fields: Change["fields"] = {};
	for (const name of names) {
		const [was, is] = [before?.[name] ?? null, after?.[name] ?? null];
		if (was === is) continue;
		fields[name] = {
			...(before && { before: was }),
			...(after && { after: is }),
		};
	}
	return fields;
}

const withoutId = ({ id: _, ...policy }: GroupPolicy) => policy;

export const groupPolicyOperations = [
	listDeviceGroupPolicies,
	setDeviceGroupPolicy,
	deleteDeviceGroupPolicy,
] as const;
