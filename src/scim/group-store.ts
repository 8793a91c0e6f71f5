import { z } from "zod";
import { rejectAtLimit } from "../db/enforce-limit.ts";
import { lineSchema, nameSchema } from "../records/text-schemas.ts";
import type { ScimContext } from "./client.ts";
import { type Attribute, filterSql } from "./filter-sql.ts";
import type { ListQuery } from "./list-query.ts";
import { invalidValue, ScimError } from "./scim-error.ts";
import { lowerNames, parse } from "./user-resource.ts";

export const GROUP_SCHEMA = "urn:ietf:params:scim:schemas:core:2.0:Group";

/** Most groups of an organization, and most members of a group. */
export const MAX_GROUPS = 500;
const MAX_MEMBERS = 10_000;
/** Most members that a page of groups contains, unless it is a single group. */
const MAX_LISTED_MEMBERS = 10_000;

const optional = z.preprocess(
	(value) => value || undefined,
	lineSchema(320).optional(),
);

const members = z
	.array(z.object({ value: lineSchema(64), type: optional }))
	.max(MAX_MEMBERS);

const group = z.object({
	displayname: nameSchema(320),
	externalid: optional,
	members: members.nullish(),
});

export interface GroupAttributes {
	displayName: string;
	externalId?: string | undefined;
	/** Ids of users. Undefined if the client does not say them. */
	memberIds?: string[] | undefined;
}

/** Reads a group from the body of a request. Throws invalidValue, and names the attribute. */
export function readGroup(body: object): GroupAttributes {
	const given = parse(group, lowerNames(body));
	return {
		displayName: given.displayname,
		externalId: given.externalid,
		memberIds: given.members ? idsOf(given.members) : undefined,
	};
}

/** Reads the ids of members from a list of them. */
export function readMembers(given: unknown): string[] {
	return idsOf(parse(members, lowerNames(given)));
}

function idsOf(given: z.output<typeof members>): string[] {
	return given.map(({ value, type }) => {
		if (type?.toLowerCase() === "group") {
			throw invalidValue(
				"members: a group cannot contain another group; give its users",
			);
		}
		return value;
	});
}

export interface GroupRow {
	id: string;
	display_name: string;
	external_id: string | null;
	role: string | null;
	created_at: string;
	updated_at: string;
	members: number;
}

const COLUMNS = `g.id, g.display_name, g.external_id, g.role, g.created_at, g.updated_at, (
	select count(*)::integer from scim_group_members m
	where m.organization_id = g.organization_id and m.group_id = g.id
) as members`;

/** The attributes that a filter of groups may name. */
const ATTRIBUTES: Record<string, Attribute> = {
	id: { type: "text", sql: "g.id", case: "EXACT" },
	displayname: { type: "text", sql: "g.display_name_key", case: "LOWER" },
	externalid: { type: "text", sql: "g.external_id", case: "EXACT" },
	members: {
		type: "list",
		from: `(
			select m.user_id from scim_group_members m
			where m.organization_id = g.organization_id and m.group_id = g.id
		) m`,
		attributes: {
			value: { type: "text", sql: "m.user_id", case: "EXACT" },
		},
	},
	"meta.resourcetype": { type: "text", sql: "'Group'::text" },
	"meta.created": { type: "time", sql: "g.created_at" },
	"meta.lastmodified": { type: "time", sql: "g.updated_at" },
};

type Resource = Record<string, unknown>;

/**
 * Returns a page of groups in the order in which they were made, and the number of all. A page with
 * very many members ends earlier.
 */
export async function findGroups(
	context: ScimContext,
	{ filter, startIndex, count }: ListQuery,
	withMembers: boolean,
): Promise<{ resources: Resource[]; total: number }> {
	const { client, organizationId } = context;
	const values: unknown[] = [organizationId];
	const condition = filter ? filterSql(filter, ATTRIBUTES, values) : "true";
	const where = `from scim_groups g where g.organization_id = $1 and ${condition}`;
	const counted = await client.query<{ total: number }>(
		`select count(*)::integer as total ${where}`,
		values,
	);
	const total = counted.rows[0]?.total ?? 0;
	if (count === 0 || total < startIndex) return { resources: [], total };
	const { rows } = await client.query<GroupRow>(
		`select ${COLUMNS} ${where} order by g.created_at, g.id
		limit $${values.push(count)} offset $${values.push(startIndex - 1)}`,
		values,
	);
	let listed = 0;
	const page = withMembers
		? rows.filter(({ members }, index) => {
				listed += members;
				return index === 0 || listed <= MAX_LISTED_MEMBERS;
			})
		: rows;
	return { resources: await toGroups(context, page, withMembers), total };
}

/** Returns a group, or throws 404. A change locks the row. */
export async function readGroupRow(
	{ client, organizationId }: ScimContext,
	id: string,
	lock: "" | "for update of g" = "",
): Promise<GroupRow> {
	const { rows } = await client.query<GroupRow>(
		`select ${COLUMNS} from scim_groups g
		where g.organization_id = $1 and g.id = $2 ${lock}`,
		[organizationId, id],
	);
	if (!rows[0]) throw new ScimError(404, `there is no group ${id}`);
	return rows[0];
}

/** Writes groups for the client. */
export async function toGroups(
	{ client, organizationId, baseUrl }: ScimContext,
	groups: readonly GroupRow[],
	withMembers: boolean,
): Promise<Resource[]> {
	const { rows } = withMembers
		? await client.query<{ group_id: string; user_id: string }>(
				`select group_id, user_id from scim_group_members
				where organization_id = $1 and group_id = any ($2) order by group_id, user_id`,
				[organizationId, groups.map(({ id }) => id)],
			)
		: { rows: [] };
	const members = Map.groupBy(rows, ({ group_id }) => group_id);
	return groups.map((row) => ({
		schemas: [GROUP_SCHEMA],
		id: row.id,
		displayName: row.display_name,
		...(row.external_id !== null && { externalId: row.external_id }),
		...(withMembers && {
			members: (members.get(row.id) ?? []).map(({ user_id }) => ({
				value: user_id,
				$ref: `${baseUrl}/Users/${user_id}`,
				type: "User",
			})),
		}),
		meta: {
			resourceType: "Group",
			created: row.created_at,
			lastModified: row.updated_at,
			location: `${baseUrl}/Groups/${row.id}`,
		},
	}));
}

export async function memberIdsOf(
	{ client, organizationId }: ScimContext,
	groupId: string,
): Promise<string[]> {
	const { rows } = await client.query<{ user_id: string }>(
		`select user_id from scim_group_members
		where organization_id = $1 and group_id = $2 order by user_id`,
		[organizationId, groupId],
	);
	return rows.map(({ user_id }) => user_id);
}

/** Throws uniqueness if another group has the displayName or the externalId. */
export async function requireUniqueGroup(
	{ client, organizationId }: ScimContext,
	{ displayName, externalId }: GroupAttributes,
	ownId: string | null,
): Promise<void> {
	const { rows } = await client.query<{ is_name: boolean }>(
		`select display_name_key = lower($2) as is_name from scim_groups
		where organization_id = $1 and id is distinct from $4
			and (display_name_key = lower($2) or external_id = $3)
		limit 1`,
		[organizationId, displayName, externalId ?? null, ownId],
	);
	if (!rows[0]) return;
	throw new ScimError(
		409,
		`another group has this ${rows[0].is_name ? "displayName" : "externalId"}`,
		"uniqueness",
	);
}

/** Throws tooMany if the organization has as many groups as it may have. */
export function requireRoomForGroup({
	client,
	organizationId,
}: ScimContext): Promise<void> {
	return rejectAtLimit(client, {
		from: "scim_groups where organization_id = $1",
		values: [organizationId],
		max: MAX_GROUPS,
		error: () =>
			new ScimError(
				400,
				`an organization has at most ${MAX_GROUPS} groups`,
				"tooMany",
			),
	});
}

/**
 * Sets the members of a group. Returns the users who came and who went. Throws invalidValue if one
 * is not a user of the organization.
 */
export async function setMembers(
	{ client, organizationId }: ScimContext,
	groupId: string,
	before: readonly string[],
	after: readonly string[],
): Promise<{ added: string[]; removed: string[] }> {
	const old = new Set(before);
	const wanted = new Set(after);
	const added = [...wanted].filter((id) => !old.has(id));
	const removed = before.filter((id) => !wanted.has(id));
	if (wanted.size > MAX_MEMBERS) {
		throw new ScimError(
			400,
			`a group has at most ${MAX_MEMBERS} members`,
			"tooMany",
		);
	}
	if (removed.length > 0) {
		await client.query(
			`delete from scim_group_members
			where organization_id = $1 and group_id = $2 and user_id = any ($3)`,
			[organizationId, groupId, removed],
		);
	}
	if (added.length > 0) {
		const { rowCount } = await client.query(
			`insert into scim_group_members (organization_id, group_id, user_id)
			select u.organization_id, $2, u.user_id from scim_users u
			where u.organization_id = $1 and u.user_id = any ($3)`,
			[organizationId, groupId, added],
		);
		if (rowCount !== added.length) {
			throw invalidValue(
				"members: each value must be the id of a user that this client has provisioned",
			);
		}
	}
	return { added, removed };
}
