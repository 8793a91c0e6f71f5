import { z } from "zod";
import { notFound } from "../invoke.ts";
import type { Context } from "../operation.ts";
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

/** Returns the filter as it is stored. Throws a bad_request that names the wrong fields. */
export function readFilter(
	filter: Record<string, unknown>,
): Record<string, unknown> {
	return parseInput(groupFilter, { filter }).filter;
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
