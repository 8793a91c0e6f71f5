import { z } from "zod";
import { badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import type { Filter } from "../records/filter.ts";
import {
	byText,
	byTime,
	listInput,
	type Order,
	organizationId,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema, nameSchema } from "../records/text-schemas.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import {
	DEFAULT_KEY_DAYS,
	type EnrollmentKey,
	enrollmentKey,
	KEY_COLUMNS,
	KEY_STATE,
	KEY_STATES,
	MAX_KEY_DAYS,
	MAX_KEY_DEVICES,
} from "./enrollment-key-record.ts";

const MAX_KEY_NAME = 200;

const admin = { toolset: "enrollment_keys", access: "admin" } as const;

const orders: Record<string, Order> = {
	created_at: byTime("created_at"),
	name: byText("name"),
};

const filters: Record<string, Filter> = {
	state: {
		schema: z.enum(KEY_STATES).describe("Whether it can be used"),
		sql: (parameter) => `(${KEY_STATE}) = ${parameter}`,
	},
};

export const listEnrollmentKeys = defineOperation({
	...admin,
	name: "listEnrollmentKeys",
	title: "List enrollment keys",
	description:
		"List the enrollment keys of an organization, without their secrets, with how many devices each has enrolled and how many of those wait for approval.",
	isReadOnly: true,
	tenant: "organization_id",
	input: listInput(orders, filters, "Words that must all occur in the name"),
	output: z.object({ enrollment_keys: z.array(enrollmentKey), ...pageShape }),
	run: async ({ client }, input) => {
		const { rows, ...page } = await readPage<EnrollmentKey>(
			client,
			{
				tool: "listEnrollmentKeys",
				columns: KEY_COLUMNS,
				from: "enrollment_keys t",
				orders,
				filters,
			},
			input,
		);
		return { enrollment_keys: rows, ...page };
	},
});

export const addEnrollmentKey = defineOperation({
	...admin,
	name: "addEnrollmentKey",
	title: "Add an enrollment key",
	description:
		"Make a secret with which many devices can enroll until it expires or is used up, for a rollout by Intune, Jamf, Ansible or Group Policy. It gives nothing but the right to enroll.",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema(MAX_KEY_NAME).describe("What the key is for"),
		max_devices: z
			.int()
			.min(1)
			.max(MAX_KEY_DEVICES)
			.describe("Most devices that may enroll with it"),
		expires_in_days: z
			.int()
			.min(1)
			.max(MAX_KEY_DAYS)
			.optional()
			.describe(`Days until it expires, ${DEFAULT_KEY_DAYS} by default`),
		requires_approval: z
			.boolean()
			.optional()
			.describe(
				"true: each device stays PENDING until approveDevices; false by default",
			),
		group_id: idSchema("device_group")
			.optional()
			.describe("Group without a filter that its devices join"),
	}),
	output: z.object({
		key: enrollmentKey,
		enrollment_key: z
			.string()
			.describe("The secret, shown only now. Keep it out of logs"),
		server_url: z.string(),
	}),
	run: async (context, input) => {
		const id = makeId(input.organization_id, "enrollment_key");
		const secret = makeSecret("enk");
		if (input.group_id) await requireListedGroup(context, input.group_id);
		await context.client.query(
			`insert into enrollment_keys (
				organization_id, id, name, secret_hash, expires_at, max_devices, requires_approval,
				created_by, group_id
			) values ($1, $2, $3, $4, now() + $5 * interval '1 day', $6, $7, $8, $9)`,
			[
				input.organization_id,
				id,
				input.name,
				`\\x${hashSecret(secret)}`,
				input.expires_in_days ?? DEFAULT_KEY_DAYS,
				input.max_devices,
				input.requires_approval ?? false,
				context.principal.name,
				input.group_id ?? null,
			],
		);
		const key = await readKey(context, id);
		const { name, expires_at, max_devices, requires_approval, group_id } = key;
		context.changed({
			kind: "enrollment_key",
			id,
			name,
			fields: {
				name: { after: name },
				expires_at: { after: expires_at },
				max_devices: { after: max_devices },
				requires_approval: { after: requires_approval },
				...(group_id && { group_id: { after: group_id } }),
			},
		});
		const { baseUrl } = context.services;
		return { key, enrollment_key: secret, server_url: baseUrl };
	},
});

export const revokeEnrollmentKey = defineOperation({
	...admin,
	name: "revokeEnrollmentKey",
	title: "Revoke an enrollment key",
	description:
		"Revoke an enrollment key: no further device can enroll with it. Devices that have enrolled keep working.",
	isDestructive: true,
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: idSchema("enrollment_key").meta(obvious("Id of the key")),
	}),
	output: z.object({ key: enrollmentKey }),
	run: async (context, { id }) => {
		const { rowCount } = await context.client.query(
			`update enrollment_keys set revoked_at = now()
			where organization_id = $1 and id = $2 and revoked_at is null`,
			[context.membership.organizationId, id],
		);
		const key = await readKey(context, id);
		if (rowCount) {
			context.changed({
				kind: "enrollment_key",
				id,
				name: key.name,
				fields: { revoked_at: { after: key.revoked_at } },
			});
		}
		return { key };
	},
});

/** Throws if the organization has no such group, or if the group has a filter. */
async function requireListedGroup(
	{ client, membership }: Context,
	id: string,
): Promise<void> {
	const { rows } = await client.query<{ has_filter: boolean }>(
		`select filter is not null as has_filter from device_groups
		where organization_id = $1 and id = $2 for key share`,
		[membership.organizationId, id],
	);
	const message = !rows[0]
		? "no group has this id"
		: rows[0].has_filter
			? "this group has a filter; choose one that lists its devices"
			: undefined;
	if (message) throw badFields([{ field: "group_id", message }]);
}

async function readKey(
	{ client, membership }: Context,
	id: string,
): Promise<EnrollmentKey> {
	const { rows } = await client.query<EnrollmentKey>(
		`select ${KEY_COLUMNS} from enrollment_keys t where t.organization_id = $1 and t.id = $2`,
		[membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return rows[0];
}

export const enrollmentKeyOperations = [
	listEnrollmentKeys,
	addEnrollmentKey,
	revokeEnrollmentKey,
] as const;
