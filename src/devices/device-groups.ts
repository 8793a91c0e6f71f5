import type { PoolClient } from "pg";
import { textArray } from "../db/array.ts";
import { addFilters, type Filter } from "../records/filter.ts";
import { DEVICES } from "./device-record.ts";

/** Filters of the list of devices, by name. */
type Filters = Record<string, Filter>;

/** Most groups with a filter in one organization. A page of devices is matched with each one. */
export const MAX_FILTER_GROUPS = 50;

type Given = Record<string, unknown>;

/**
 * Returns a statement that selects the devices that match, with the values of its parameters. With
 * "count" it is for all devices, with "rows" for a few.
 */
function selectMatching(
	organizationId: string,
	filter: Given,
	filters: Filters,
	purpose: "rows" | "count",
): { text: string; values: unknown[] } {
	const values: unknown[] = [organizationId];
	const conditions = ["t.organization_id = $1"];
	const parameter = (value: unknown) => `$${values.push(value)}`;
	addFilters(conditions, parameter, filters, filter, purpose);
	return {
		text: `select t.id from ${DEVICES} where ${conditions.join(" and ")}`,
		values,
	};
}

/** Devices with ids after the first value, up to the last one. */
export interface IdRange {
	after: string;
	last: string;
}

/** Ids have letters, digits, "-" and "_", which all come before "~". */
const ALL: IdRange = { after: "", last: "~" };

/**
 * Returns the ids of a group's devices, or of those in a range. A group that does not exist has
 * none.
 */
export async function devicesOfGroup(
	client: PoolClient,
	organizationId: string,
	groupId: string,
	filters: Filters,
	range = ALL,
): Promise<string[]> {
	const { rows } = await client.query<{
		filter: Given | null;
		members: string[];
	}>({
		name: "device_group",
		text: `
			select g.filter, array(
				select m.device_id::text from device_group_members m
				where m.organization_id = g.organization_id and m.group_id = g.id
					and m.device_id > $3::text and m.device_id <= $4::text
			) as members
			from device_groups g where g.organization_id = $1 and g.id = $2`,
		values: [organizationId, groupId, range.after, range.last],
	});
	const [group] = rows;
	if (!group?.filter) return group?.members ?? [];
	const { text, values } = selectMatching(
		organizationId,
		group.filter,
		filters,
		range === ALL ? "count" : "rows",
	);
	const inRange =
		range === ALL
			? ""
			: ` and t.id > $${values.push(range.after)} and t.id <= $${values.push(range.last)}`;
	const found = await client.query<{ id: string }>(text + inRange, values);
	return found.rows.map(({ id }) => id);
}

export interface GroupOfDevice {
	id: string;
	name: string;
}

/** Returns the groups of each of these devices, by the device's id, in the order of their names. */
export async function groupsOfDevices(
	client: PoolClient,
	organizationId: string,
	deviceIds: readonly string[],
	filters: Filters,
): Promise<Map<string, GroupOfDevice[]>> {
	const ids = textArray(deviceIds);
	const { rows } = await client.query<
		GroupOfDevice & {
			filter: Given | null;
			members: string[];
		}
	>({
		name: "groups.of_devices",
		text: `
			select g.id, g.name, g.filter, array(
				select m.device_id::text from device_group_members m
				where m.organization_id = g.organization_id and m.group_id = g.id
					and m.device_id = any($2::text[])
			) as members
			from device_groups g where g.organization_id = $1
			order by g.name_key, g.id`,
		values: [organizationId, ids],
	});
	const groups = new Map<string, GroupOfDevice[]>(
		deviceIds.map((id) => [id, []]),
	);
	for (const { id, name, filter, members } of rows) {
		const found = filter
			? await matching(client, organizationId, filter, filters, ids)
			: members;
		for (const device of found) groups.get(device)?.push({ id, name });
	}
	return groups;
}

async function matching(
	client: PoolClient,
	organizationId: string,
	filter: Given,
	filters: Filters,
	ids: string,
): Promise<string[]> {
	const { text, values } = selectMatching(
		organizationId,
		filter,
		filters,
		"rows",
	);
	const { rows } = await client.query<{ id: string }>(
		`${text} and t.id = any($${values.length + 1}::text[])`,
		[...values, ids],
	);
	return rows.map(({ id }) => id);
}
