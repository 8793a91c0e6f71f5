import { z } from "zod";
import { badFields } from "../errors.ts";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
import { findOwn, isMe, NOBODY_IS_ME } from "../records/person-filter.ts";
import { parseInput } from "../validation.ts";
import { devicesOfGroup } from "./device-groups.ts";
import { deviceListing } from "./device-listing.ts";

export const group = z.object({
	id: z.string(),
	organization_id: z.string(),
	name: z.string(),
	description: z.string().nullable(),
	filter: z
		.record(z.string(), z.unknown())
		.nullable()
		.describe("Null: the group lists its devices"),
	device_count: z.int(),
	created_at: z.string(),
	updated_at: z.string(),
});
export type Group = z.output<typeof group>;

export const GROUP_COLUMNS = `
	t.id, t.organization_id, t.name, t.description, t.filter,
	(
		select count(*)::int from device_group_members m
		where m.organization_id = t.organization_id and m.group_id = t.id
	) as device_count,
	t.created_at, t.updated_at`;

/** The filters of listDevices that a group may have. Groups are not made of groups. */
const { group_id: _, ...groupFilters } = deviceListing.filters;
const groupFilter = z.object({
	filter: z.strictObject(
		Object.fromEntries(
			Object.entries(groupFilters).map(([name, { schema }]) => [
				name,
				schema.optional(),
			]),
		),
	),
});

/**
 * Returns the filter as it is stored. A group has the same devices for every reader, so "me" as the
 * owner becomes the person who asks. Throws a bad_request that names the wrong fields.
 */
export async function readFilter(
	{ client, membership }: Context,
	given: Record<string, unknown>,
): Promise<Record<string, unknown>> {
	const { filter } = parseInput(groupFilter, { filter: given });
	if (!isMe(filter.owner)) return filter;
	const { owner: _, ...others } = filter;
	const { person } = await findOwn(client, membership.organizationId);
	if (!person) {
		throw badFields([{ field: "filter.owner", message: NOBODY_IS_ME }]);
	}
	if (others.owner_id !== undefined && others.owner_id !== person) {
		throw badFields([
			{
				field: "filter.owner",
				message:
					"is you, and filter.owner_id is somebody else; give one of them",
			},
		]);
	}
	return { ...others, owner_id: person };
}

/** Returns the group. Throws not_found. */
export async function readGroup(context: Context, id: string): Promise<Group> {
	const { rows } = await context.client.query<Group>(
		`select ${GROUP_COLUMNS} from device_groups t where t.organization_id = $1 and t.id = $2`,
		[context.membership.organizationId, id],
	);
	if (!rows[0]) throw notFound(id);
	return withCount(context, rows[0]);
}

/** Returns the group with the number of its devices, which a group with a filter does not store. */
export async function withCount(
	{ client }: Context,
	row: Group,
): Promise<Group> {
	if (!row.filter) return row;
	const ids = await devicesOfGroup(
		client,
		row.organization_id,
		row.id,
		deviceListing.filters,
	);
	return { ...row, device_count: ids.length };
}
