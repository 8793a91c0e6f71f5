import { z } from "zod";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import {
	THRESHOLD_NAMES,
	THRESHOLDS,
	type ThresholdName,
	type Thresholds,
} from "./thresholds.ts";

const MEANINGS: Record<ThresholdName, string> = {
	min_password_length:
		"Lowest minimum length of passwords that a device may set",
	max_lock_delay_seconds: "Seconds without input until the screen is locked",
	max_patch_age_days: "Days that a known update may wait",
	max_definitions_age_days: "Age of a malware scanner's definitions",
};

/** A threshold that a caller may give. */
const given = (name: ThresholdName) =>
	z
		.int()
		.min(THRESHOLDS[name].least)
		.max(THRESHOLDS[name].most)
		.optional()
		.describe(MEANINGS[name]);

const policy = z.object({
	min_password_length: z.int(),
	max_lock_delay_seconds: z.int(),
	max_patch_age_days: z.int(),
	max_definitions_age_days: z.int(),
	updated_at: z.string(),
});

type Policy = z.output<typeof policy>;

const COLUMNS = `${THRESHOLD_NAMES.join(", ")}, updated_at`;

export const getDevicePolicy = defineOperation({
	name: "getDevicePolicy",
	title: "Get the device policy",
	description: "Read the thresholds by which agents judge devices.",
	toolset: "device_policy",
	access: "read",
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ policy }),
	run: async ({ client }, { organization_id }) => {
		const { rows } = await client.query<Policy>({
			name: "get.device_policy",
			text: `select ${THRESHOLD_NAMES.map(
				(name) => `coalesce(p.${name}, ${THRESHOLDS[name].default}) as ${name}`,
			).join(", ")}, coalesce(p.updated_at, o.created_at) as updated_at
			from organizations o left join device_policies p on p.organization_id = o.id
			where o.id = $1`,
			values: [organization_id],
		});
		return { policy: rows[0] as Policy };
	},
});

export const updateDevicePolicy = defineOperation({
	name: "updateDevicePolicy",
	title: "Change the device policy",
	description:
		"Change the thresholds by which agents judge devices. Only the given fields change. Devices get them with their next heartbeat and apply them in their next report.",
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
	}),
	output: z.object({ policy }),
	run: async (context, { organization_id, if_updated_at, ...wanted }) => {
		const before = await lockPolicy(context, organization_id);
		requireUnchanged("device policy", before, if_updated_at);
		return { policy: await change(context, organization_id, before, wanted) };
	},
});

/** Locks the organization's policy, and first makes one with the defaults if there is none. */
async function lockPolicy({ client }: Context, id: string): Promise<Policy> {
	await client.query(
		`insert into device_policies (organization_id, updated_at)
		select id, created_at from organizations where id = $1
		on conflict do nothing`,
		[id],
	);
	const { rows } = await client.query<Policy>(
		`select ${COLUMNS} from device_policies where organization_id = $1 for update`,
		[id],
	);
	return rows[0] as Policy;
}

async function change(
	{ client, changed }: Context,
	id: string,
	before: Policy,
	given: { [Name in ThresholdName]?: number | undefined },
): Promise<Policy> {
	const different = THRESHOLD_NAMES.filter(
		(name) => given[name] !== undefined && given[name] !== before[name],
	);
	if (different.length === 0) return before;
	const after: Thresholds = { ...before };
	for (const name of different) after[name] = given[name] ?? before[name];
	const assignments = different.map((name, index) => `${name} = $${index + 2}`);
	const { rows } = await client.query<Policy>(
		`update device_policies set ${assignments.join(", ")}, updated_at = now()
		where organization_id = $1 returning ${COLUMNS}`,
		[id, ...different.map((name) => after[name])],
	);
	changed({
		kind: "device_policy",
		id,
		name: null,
		fields: Object.fromEntries(
			different.map((name) => [
				name,
				{ before: before[name], after: after[name] },
			]),
		),
	});
	return rows[0] as Policy;
}
