import { z } from "zod";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { IS_STAFF } from "../organizations/staff.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import { changeRules, readRules } from "./check-rule-store.ts";
import { MAX_GRACE_DAYS, SEVERITIES, SILENCE_DAYS } from "./check-rules.ts";
import { countFleet } from "./count-states.ts";
import { checkName, namedCheck } from "./device-record.ts";
import { compareFleets, effects } from "./policy-effects.ts";
import { PLATFORMS } from "./terms.ts";
import {
	CHOICE_NAMES,
	CHOICES,
	DEFAULT_THRESHOLDS,
	THRESHOLD_NAMES,
	THRESHOLDS,
	type ThresholdName,
} from "./thresholds.ts";

const MEANINGS: Record<ThresholdName, string> = {
	min_password_length:
		"Lowest minimum length of passwords that a device may set",
	max_lock_delay_seconds: "Seconds without input until the screen is locked",
	max_patch_age_days: "Days that a known update may wait",
	max_definitions_age_days: "Age of a malware scanner's definitions",
};

/** A threshold within its bounds. */
export const threshold = (name: ThresholdName) =>
	z
		.int()
		.min(THRESHOLDS[name].least)
		.max(THRESHOLDS[name].most)
		.describe(MEANINGS[name]);

/** A threshold that a caller may give. */
const given = (name: ThresholdName) => threshold(name).optional();

/** The fields of the policy that are not about one check. */
const OWN_FIELDS = [
	...THRESHOLD_NAMES,
	...CHOICE_NAMES,
	"max_silence_days",
	"exceptions_need_two_people",
] as const;
type OwnField = (typeof OWN_FIELDS)[number];

const checkRule = z.object({
	check_key: z.string(),
	check_name: z.string().nullable(),
	is_required: z.boolean(),
	platforms: z.array(z.enum(PLATFORMS)),
	grace_days: z.int(),
	new_device_grace_days: z.int(),
	opens_nonconformity: z.boolean(),
	per_device: z.boolean(),
	severity: z.enum(SEVERITIES),
	owner_id: z.string().nullable(),
	owner_has_left: z.boolean().describe("The owner's contract has ended"),
});

const policy = z.object({
	min_password_length: z.int(),
	max_lock_delay_seconds: z.int(),
	max_patch_age_days: z.int(),
	max_definitions_age_days: z.int(),
	linux_malware_protection: z.enum(CHOICES.linux_malware_protection),
	max_silence_days: z.int(),
	exceptions_need_two_people: z.boolean(),
	checks: z
		.array(checkRule)
		.describe("The canonical checks, and others that have a rule"),
	updated_at: z.string(),
});

type Policy = z.output<typeof policy>;
type OwnFields = Pick<Policy, OwnField | "updated_at">;

const COLUMNS = `${OWN_FIELDS.join(", ")}, updated_at`;

const DEFAULTS: Pick<Policy, OwnField> = {
	...DEFAULT_THRESHOLDS,
	max_silence_days: SILENCE_DAYS.default,
	exceptions_need_two_people: false,
};

export const getDevicePolicy = defineOperation({
	name: "getDevicePolicy",
	title: "Get the device policy",
	description:
		"Read what an organization requires of its devices: the thresholds by which agents judge, and for each check whether it is required, on which platforms, and the days of grace.",
	toolset: "device_policy",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ policy }),
	run: async ({ client }, { organization_id }) => {
		const { rows } = await client.query<OwnFields>({
			name: "get.device_policy",
			text: `select ${OWN_FIELDS.map(
				(name) => `coalesce(p.${name}, '${DEFAULTS[name]}') as ${name}`,
			).join(", ")}, coalesce(p.updated_at, o.created_at) as updated_at
			from organizations o left join device_policies p on p.organization_id = o.id
			where o.id = $1`,
			values: [organization_id],
		});
		return {
			policy: await withChecks(client, organization_id, rows[0] as OwnFields),
		};
	},
});

const graceDays = (meaning: string) =>
	z.int().min(0).max(MAX_GRACE_DAYS).nullable().optional().describe(meaning);

const givenRule = z.strictObject({
	check_key: namedCheck(),
	is_required: z
		.boolean()
		.nullable()
		.optional()
		.describe("Whether it counts for a device's state"),
	platforms: z
		.array(z.enum(PLATFORMS))
		.min(1)
		.max(PLATFORMS.length)
		.transform((given) => PLATFORMS.filter((one) => given.includes(one)))
		.nullable()
		.optional()
		.describe("Platforms on which it is required"),
	grace_days: graceDays("Days for which a new failure is IN_GRACE"),
	new_device_grace_days: graceDays(
		"Days from its activation for which a new device is IN_GRACE",
	),
	opens_nonconformity: z
		.boolean()
		.nullable()
		.optional()
		.describe("Whether a FAILING device opens a nonconformity"),
	per_device: z
		.boolean()
		.nullable()
		.optional()
		.describe("One nonconformity a device, not one for the check"),
	severity: z.enum(SEVERITIES).nullable().optional().describe("Of it"),
	owner_id: idSchema("people").nullable().optional().describe("Of it"),
});

export const updateDevicePolicy = defineOperation({
	name: "updateDevicePolicy",
	title: "Change the device policy",
	description:
		"Change what an organization requires of its devices. Only the given fields change; null in checks means the default. Devices apply thresholds in their next report. The rest counts at once. With dry_run, nothing is stored, and effects has the devices by state before and after.",
	toolset: "device_policy",
	access: "admin",
	isIdempotent: true,
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		...unchangedShape,
		min_password_length: given("min_password_length"),
		max_lock_delay_seconds: given("max_lock_delay_seconds"),
		max_patch_age_days: given("max_patch_age_days"),
		max_definitions_age_days: given("max_definitions_age_days"),
		linux_malware_protection: z
			.enum(CHOICES.linux_malware_protection)
			.optional()
			.describe("What passes on Linux"),
		max_silence_days: z
			.int()
			.min(SILENCE_DAYS.least)
			.max(SILENCE_DAYS.most)
			.optional()
			.describe("Days without a report after which a check is STALE"),
		exceptions_need_two_people: z
			.boolean()
			.optional()
			.describe("The requester of an exception may not approve it"),
		checks: z.array(givenRule).max(100).optional().describe("Rules to change"),
		dry_run: z.boolean().optional().describe("False unless given"),
	}),
	output: z.object({
		policy,
		effects: effects
			.nullable()
			.describe("Of a dry run; checks has those whose numbers change"),
	}),
	run: async (context, input) => {
		const { organization_id, if_updated_at, dry_run, checks, ...own } = input;
		const { client, changed } = context;
		const before = await lockPolicy(context, organization_id);
		requireUnchanged("device policy", before, if_updated_at);
		const statesBefore = dry_run && (await countFleet(client, organization_id));
		if (dry_run) await client.query("savepoint dry_run");
		const fields = {
			...(await changeOwn(context, organization_id, before, own)),
			...(await changeRules(client, organization_id, checks ?? [])),
		};
		const hasChanged = Object.keys(fields).length > 0;
		const after = hasChanged
			? await touchPolicy(context, organization_id)
			: before;
		const result = await withChecks(client, organization_id, after);
		if (statesBefore) {
			const statesAfter = await countFleet(client, organization_id);
			await client.query("rollback to savepoint dry_run");
			return {
				policy: result,
				effects: compareFleets(
					result.checks.map(({ check_key }) => check_key),
					statesBefore,
					statesAfter,
				),
			};
		}
		if (hasChanged) {
			changed({
				kind: "device_policy",
				id: organization_id,
				name: null,
				fields,
			});
		}
		return { policy: result, effects: null };
	},
});

async function withChecks(
	client: Context["client"],
	organizationId: string,
	own: OwnFields,
): Promise<Policy> {
	const rules = await readRules(client, organizationId);
	const owners = [...rules.values()].flatMap(({ owner_id }) => owner_id ?? []);
	const { rows: leavers } = await client.query<{ id: string }>(
		`select p.id from people p
		where p.organization_id = $1 and p.id = any($2) and not ${IS_STAFF}`,
		[organizationId, owners],
	);
	const left = new Set<string | null>(leavers.map(({ id }) => id));
	return {
		...own,
		checks: [...rules].map(([key, rule]) => ({
			check_key: key,
			check_name: checkName(key),
			...rule,
			owner_has_left: left.has(rule.owner_id),
		})),
	};
}

/** Locks the organization's policy, and first makes one with the defaults if there is none. */
export async function lockPolicy(
	{ client }: Context,
	id: string,
): Promise<OwnFields> {
	await client.query(
		`insert into device_policies (organization_id, updated_at)
		select id, created_at from organizations where id = $1
		on conflict do nothing`,
		[id],
	);
	const { rows } = await client.query<OwnFields>(
		`select ${COLUMNS} from device_policies where organization_id = $1 for update`,
		[id],
	);
	return rows[0] as OwnFields;
}

/** Changes the given fields that differ. Returns them for the audit log. */
async function changeOwn(
	{ client }: Context,
	id: string,
	before: OwnFields,
	given: { [Name in OwnField]?: Policy[Name] | undefined },
): Promise<Change["fields"]> {
	const different = OWN_FIELDS.filter(
		(name) => given[name] !== undefined && given[name] !== before[name],
	);
	if (different.length === 0) return {};
	const assignments = different.map((name, index) => `${name} = $${index + 2}`);
	await client.query(
		`update device_policies set ${assignments.join(", ")} where organization_id = $1`,
		[id, ...different.map((name) => given[name])],
	);
	return Object.fromEntries(
		different.map((name) => [
			name,
			{ before: before[name], after: given[name] },
		]),
	);
}

/**
 * Notes the time of a change. Every change gets a later time, even one whose transaction began
 * before the previous change.
 */
export async function touchPolicy(
	{ client }: Context,
	id: string,
): Promise<OwnFields> {
	const { rows } = await client.query<OwnFields>(
		`update device_policies set updated_at = clock_timestamp()
		where organization_id = $1 returning ${COLUMNS}`,
		[id],
	);
	return rows[0] as OwnFields;
}
