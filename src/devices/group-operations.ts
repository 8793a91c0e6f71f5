import { z } from "zod";
import { textArray } from "../db/array.ts";
import { enforceLimit } from "../db/enforce-limit.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { type Context, defineOperation } from "../operation.ts";
import { idempotencyShape } from "../records/idempotency.ts";
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
import { idSchema, nameSchema, textSchema } from "../records/text-schemas.ts";
import { requireUnchanged, unchangedShape } from "../records/unchanged.ts";
import { requireDevices } from "./device-changes.ts";
import { MAX_FILTER_GROUPS } from "./device-groups.ts";
import { deviceId } from "./device-record.ts";
import { KEY_STATE } from "./enrollment-key-record.ts";
import { noteGroupDevices } from "./exceptions/group-exceptions.ts";
import { MAX_DEVICES_OF_CALL } from "./fleet-limits.ts";
import { requireMayExcuse, requireMayGovern } from "./group-permissions.ts";
import { assignGroupPolicies } from "./group-policies/assign.ts";
import {
	rejectStateFilter,
	removePolicyOf,
} from "./group-policies/operations.ts";
import {
	GROUP_COLUMNS,
	type Group,
	group,
	readFilter,
	readGroup,
	withCount,
} from "./group-record.ts";

const MAX_NAME = 200;
const MAX_GROUPS = 500;
/** Largest number of enrollment keys that an error names. */
const MAX_NAMED_KEYS = 5;

const orders: Record<string, Order> = {
	name: byText("name"),
	created_at: byTime("created_at"),
};

const filterInput = z
	.record(z.string(), z.unknown())
	.optional()
	.describe(
		"A filter as in listDevices, without query: the group has the devices that match",
	);

const deviceIds = (what: string) =>
	z
		.array(deviceId())
		.max(MAX_DEVICES_OF_CALL)
		.optional()
		.describe(`${what}, at most ${MAX_DEVICES_OF_CALL} a call`);

export const listDeviceGroups = defineOperation({
	name: "listDeviceGroups",
	title: "List groups of devices",
	description:
		"List the groups of devices of an organization, with the number of their devices. listDevices with group_id lists the devices.",
	toolset: "fleet",
	access: "read",
	tenant: "organization_id",
	input: listInput(orders, {}, "Words that must all occur in its texts"),
	output: z.object({ device_groups: z.array(group), ...pageShape }),
	run: async (context, input) => {
		const { rows, ...page } = await readPage<Group>(
			context.client,
			{
				tool: "listDeviceGroups",
				columns: GROUP_COLUMNS,
				from: "device_groups t",
				orders,
				filters: {},
			},
			{ ...input, order_by: input.order_by ?? { field: "name" } },
		);
		const groups: Group[] = [];
		for (const row of rows) groups.push(await withCount(context, row));
		return { device_groups: groups, ...page };
	},
});

export const addDeviceGroup = defineOperation({
	name: "addDeviceGroup",
	title: "Add a group of devices",
	description:
		"Add a group of devices: with a filter, or with a list of devices that people change.",
	toolset: "fleet",
	access: "write",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		name: nameSchema(MAX_NAME).meta(obvious("Name, unlike any other group's")),
		description: textSchema().nullable().optional().meta(obvious("What for")),
		filter: filterInput,
		device_ids: deviceIds("Devices of a group without a filter"),
		...idempotencyShape,
	}),
	output: z.object({ device_group: group }),
	run: async (context, input) => {
		const { client } = context;
		const { organization_id, name, description = null, device_ids } = input;
		const filter = input.filter && (await readFilter(context, input.filter));
		if (filter && device_ids) throw eitherOr("device_ids");
		if (filter) {
			await requireRoom(context, MAX_FILTER_GROUPS, {
				from: "device_groups where organization_id = $1 and filter is not null",
				field: "filter",
				what: "groups with a filter",
			});
		}
		await requireRoom(context, MAX_GROUPS, {
			from: "device_groups where organization_id = $1",
			field: "name",
			what: "groups",
		});
		const id = makeId(organization_id, "device_group");
		await explainName(name, () =>
			client.query(
				`insert into device_groups (organization_id, id, name, description, filter)
				values ($1, $2, $3, $4, $5)`,
				[organization_id, id, name, description, filter ?? null],
			),
		);
		if (device_ids) await addMembers(context, id, device_ids);
		const added = await readGroup(context, id);
		context.changed({
			kind: "device_group",
			id,
			name,
			fields: {
				name: { after: name },
				...(filter && { filter: { after: filter } }),
				device_count: { after: added.device_count },
			},
		});
		return { device_group: added };
	},
});

export const updateDeviceGroup = defineOperation({
	name: "updateDeviceGroup",
	title: "Update a group of devices",
	description:
		"Change a group's texts, its filter, or which devices it lists. Only the given fields change.",
	toolset: "fleet",
	access: "write",
	isIdempotent: true,
	tenant: "id",
	input: z.strictObject({
		id: idSchema("device_group").meta(obvious("Id of the group")),
		name: nameSchema(MAX_NAME).optional().meta(obvious("Name")),
		description: textSchema().nullable().optional().meta(obvious("What for")),
		filter: filterInput,
		add_device_ids: deviceIds("Devices to add"),
		remove_device_ids: deviceIds("Devices to remove"),
		...unchangedShape,
	}),
	output: z.object({ device_group: group }),
	run: async (context, input) => {
		const { client, membership } = context;
		await client.query(
			"select from device_groups where organization_id = $1 and id = $2 for update",
			[membership.organizationId, input.id],
		);
		const before = await readGroup(context, input.id);
		requireUnchanged("device group", before, input.if_updated_at);
		const filter = input.filter && (await readFilter(context, input.filter));
		if (filter && !before.filter) throw eitherOr("filter");
		for (const field of ["add_device_ids", "remove_device_ids"] as const) {
			if (input[field] && before.filter) throw eitherOr(field);
		}
		const changesDevices =
			filter !== undefined ||
			Boolean(input.add_device_ids?.length) ||
			Boolean(input.remove_device_ids?.length);
		const hasPolicy =
			changesDevices && (await requireMayGovern(context, before.id));
		if (hasPolicy && filter) rejectStateFilter(filter, "filter");
		if (filter || input.add_device_ids?.length) {
			await requireMayExcuse(context, before.id);
		}
		const wanted = {
			name: input.name ?? before.name,
			description:
				input.description === undefined
					? before.description
					: input.description,
			filter: filter ?? before.filter,
		};
		await explainName(wanted.name, () =>
			client.query(
				`update device_groups set name = $3, description = $4, filter = $5, updated_at = now()
				where organization_id = $1 and id = $2`,
				[
					before.organization_id,
					before.id,
					wanted.name,
					wanted.description,
					wanted.filter,
				],
			),
		);
		const added = await addMembers(
			context,
			before.id,
			input.add_device_ids ?? [],
			"add_device_ids",
		);
		const { rows: removed } = await client.query<{ device_id: string }>(
			`delete from device_group_members
			where organization_id = $1 and group_id = $2 and device_id = any($3::text[])
			returning device_id`,
			[
				before.organization_id,
				before.id,
				textArray(input.remove_device_ids ?? []),
			],
		);
		await noteGroupDevices(client, before.organization_id, before.id);
		if (hasPolicy) await assignGroupPolicies(client, before.organization_id);
		const after = await readGroup(context, before.id);
		noteUpdate(context, before, after, {
			added_device_ids: added,
			removed_device_ids: removed.map(({ device_id }) => device_id),
		});
		return { device_group: after };
	},
});

export const deleteDeviceGroup = defineOperation({
	name: "deleteDeviceGroup",
	title: "Delete a group of devices",
	description: "Delete a group of devices. The devices stay.",
	toolset: "fleet",
	access: "admin",
	isDestructive: true,
	tenant: "id",
	input: z.strictObject({
		id: idSchema("device_group").meta(obvious("Id of the group")),
	}),
	output: z.object({ deleted_device_group_id: z.string() }),
	run: async (context, { id }) => {
		const before = await readGroup(context, id);
		await rejectUsedByKeys(context, id);
		await removePolicyOf(context, id);
		await context.client.query(
			"delete from device_groups where organization_id = $1 and id = $2",
			[context.membership.organizationId, id],
		);
		context.changed({
			kind: "device_group",
			id,
			name: before.name,
			fields: { name: { before: before.name } },
		});
		return { deleted_device_group_id: id };
	},
});

/**
 * Throws if devices still enroll into the group with an enrollment key. They would enroll without
 * the group and its policy from now on. The lock keeps others from adding such a key meanwhile.
 */
async function rejectUsedByKeys(
	{ client, membership }: Context,
	id: string,
): Promise<void> {
	const group = [membership.organizationId, id];
	await client.query(
		"select 1 from device_groups where organization_id = $1 and id = $2 for update",
		group,
	);
	const { rows } = await client.query<{ name: string; all: number }>(
		`select t.name, (count(*) over ())::int as all from enrollment_keys t
		where t.organization_id = $1 and t.group_id = $2 and ${KEY_STATE} in ('OPEN', 'RUNNING_OUT')
		order by t.name, t.id limit ${MAX_NAMED_KEYS}`,
		group,
	);
	const [first] = rows;
	if (!first) return;
	const more = first.all - rows.length;
	const keys = rows.map(({ name }) => `“${name}”`).join(", ");
	throw new AppError(
		"conflict",
		`devices still enroll into this group with ${first.all === 1 ? "the enrollment key" : "the enrollment keys"} ${keys}${more > 0 ? ` and ${more} more` : ""}; revoke ${first.all === 1 ? "it" : "them"} first`,
	);
}

function eitherOr(field: string) {
	return badFields([
		{
			field,
			message:
				"a group has either a filter or a list of devices, and keeps what it began with; add another group instead",
		},
	]);
}

/** Throws bad_request for the field if the organization has `max` of the groups in `from`. */
function requireRoom(
	{ client, membership: { organizationId } }: Context,
	max: number,
	{ from, field, what }: { from: string; field: string; what: string },
): Promise<void> {
	const message = `the organization has ${max} ${what}, which is the maximum; delete one first`;
	return enforceLimit(client, {
		lock: `device groups ${organizationId}`,
		from,
		values: [organizationId],
		max,
		error: () => badFields([{ field, message }]),
	});
}

async function addMembers(
	context: Context,
	groupId: string,
	ids: readonly string[],
	field = "device_ids",
): Promise<string[]> {
	await requireDevices(context, ids, field);
	const { rows } = await context.client.query<{ device_id: string }>(
		`insert into device_group_members (organization_id, group_id, device_id)
		select $1, $2, id from (select distinct unnest($3::text[]) as id) d order by id
		on conflict do nothing returning device_id`,
		[context.membership.organizationId, groupId, textArray(ids)],
	);
	return rows.map(({ device_id }) => device_id);
}

function noteUpdate(
	context: Context,
	before: Group,
	after: Group,
	members: Record<string, string[]>,
): void {
	const fields: Record<string, { before?: unknown; after?: unknown }> = {};
	for (const field of ["name", "description", "filter"] as const) {
		if (JSON.stringify(before[field]) === JSON.stringify(after[field]))
			continue;
		fields[field] = { before: before[field], after: after[field] };
	}
	for (const [field, ids] of Object.entries(members)) {
		if (ids.length > 0) fields[field] = { after: ids };
	}
	if (Object.keys(fields).length === 0) return;
	context.changed({
		kind: "device_group",
		id: after.id,
		name: after.name,
		fields,
	});
}

/** Turns the database's error about a name that another group has into a bad_request. */
async function explainName<Result>(
	name: string,
	work: () => Promise<Result>,
): Promise<Result> {
	try {
		return await work();
	} catch (error) {
		if (
			(error as { constraint?: string }).constraint !== "device_groups_name"
		) {
			throw error;
		}
		throw badFields([
			{
				field: "name",
				message: `another group is called ${name}; choose another name`,
			},
		]);
	}
}

export const groupOperations = [
	listDeviceGroups,
	addDeviceGroup,
	updateDeviceGroup,
	deleteDeviceGroup,
] as const;
