import { makeId } from "../id.ts";
import type { Change } from "../operation.ts";
import { lockProvisioning, note, type ScimContext } from "./client.ts";
import type { Filter } from "./filter.ts";
import { matches } from "./filter-match.ts";
import {
	type GroupAttributes,
	type GroupRow,
	memberIdsOf,
	readGroup,
	readGroupRow,
	readMembers,
	requireRoomForGroup,
	requireUniqueGroup,
	setMembers,
	toGroups,
} from "./group-store.ts";
import { changeRoles } from "./memberships.ts";
import { noSuchPath, readPatch, withPaths } from "./patch.ts";
import { ScimError } from "./scim-error.ts";

type Resource = Record<string, unknown>;

export async function createGroup(
	context: ScimContext,
	body: object,
): Promise<Resource> {
	const { client, organizationId } = context;
	const given = readGroup(body);
	await lockProvisioning(client, organizationId);
	await requireUniqueGroup(context, given, null);
	await requireRoomForGroup(context);
	const id = makeId(organizationId, "scim_group");
	await client.query(
		`insert into scim_groups (organization_id, id, display_name, external_id)
		values ($1, $2, $3, $4)`,
		[organizationId, id, given.displayName, given.externalId ?? null],
	);
	// A new group gives no role, so nobody's role changes.
	const { added } = await setMembers(context, id, [], given.memberIds ?? []);
	await note(context, "provisionGroup", [
		groupChange(id, given.displayName, {
			displayName: { after: given.displayName },
			...(given.externalId && { externalId: { after: given.externalId } }),
			...(added.length > 0 && { added_members: { after: added.length } }),
		}),
	]);
	return readGroupResource(context, id);
}

export async function readGroupResource(
	context: ScimContext,
	id: string,
	withMembers = true,
): Promise<Resource> {
	const row = await readGroupRow(context, id);
	const [resource] = await toGroups(context, [row], withMembers);
	return resource as Resource;
}

/** Replaces a group. Without `members`, the members stay. */
export async function replaceGroup(
	context: ScimContext,
	id: string,
	body: object,
): Promise<Resource> {
	const given = readGroup(body);
	await lockProvisioning(context.client, context.organizationId);
	const row = await readGroupRow(context, id, "for update of g");
	const before = await memberIdsOf(context, id);
	await changeGroup(context, row, before, given);
	return readGroupResource(context, id);
}

/** Changes a group by the operations of a PATCH request. */
export async function changeGroupByPatch(
	context: ScimContext,
	id: string,
	body: object,
): Promise<Resource> {
	const operations = readPatch(body).flatMap(withPaths);
	await lockProvisioning(context.client, context.organizationId);
	const row = await readGroupRow(context, id, "for update of g");
	const before = await memberIdsOf(context, id);
	const members = new Set(before);
	const texts: Resource = {
		displayname: row.display_name,
		externalid: row.external_id,
	};
	for (const { op, path, value } of operations) {
		const { attribute, filter, sub } = path;
		if (path.isExtension) continue;
		if (attribute === "id" || attribute === "meta" || attribute === "schemas") {
			throw new ScimError(400, `${attribute} cannot be changed`, "mutability");
		}
		if (attribute === "members" && sub === undefined) {
			patchMembers(members, op, filter, value);
			continue;
		}
		const isText = attribute === "displayname" || attribute === "externalid";
		if (!isText || filter || sub !== undefined) throw noSuchPath(attribute);
		if (op === "remove" && attribute === "displayname") {
			throw new ScimError(400, "displayName is required", "mutability");
		}
		texts[attribute] = op === "remove" ? null : value;
	}
	await changeGroup(context, row, before, {
		...readGroup(texts),
		memberIds: [...members],
	});
	return readGroupResource(context, id);
}

/** Changes the ids of members. Each operation looks only at the members that it names. */
function patchMembers(
	members: Set<string>,
	op: "add" | "replace" | "remove",
	filter: Filter | undefined,
	value: unknown,
): void {
	if (filter) {
		if (op !== "remove") {
			throw new ScimError(
				400,
				'path must be members, or members[value eq "ID"] to remove one',
				"invalidPath",
			);
		}
		for (const id of [...members]) {
			if (matches({ value: id, type: "User" }, filter)) members.delete(id);
		}
		return;
	}
	const isAll = op === "replace" || (op === "remove" && !value);
	if (isAll) members.clear();
	if (!value) return;
	const given = readMembers([value].flat());
	for (const id of given) {
		if (op === "remove") members.delete(id);
		else members.add(id);
	}
}

/** Deletes a group. Its members lose the role that it gave. */
export async function deleteGroup(
	context: ScimContext,
	id: string,
): Promise<void> {
	const { client, organizationId } = context;
	await lockProvisioning(client, organizationId);
	const row = await readGroupRow(context, id, "for update of g");
	const members = await memberIdsOf(context, id);
	await client.query(
		"delete from scim_groups where organization_id = $1 and id = $2",
		[organizationId, id],
	);
	const roles = row.role
		? await changeRoles(
				client,
				organizationId,
				members,
				"deleteProvisionedGroup",
			)
		: [];
	await note(context, "deleteProvisionedGroup", [
		groupChange(id, row.display_name, {
			displayName: { before: row.display_name },
			...(row.role && { role: { before: row.role } }),
		}),
		...roles,
	]);
}

async function changeGroup(
	context: ScimContext,
	row: GroupRow,
	before: string[],
	after: GroupAttributes,
): Promise<void> {
	const { client, organizationId } = context;
	const externalId = after.externalId ?? null;
	const fields: Change["fields"] = {};
	if (row.display_name !== after.displayName) {
		fields.displayName = { before: row.display_name, after: after.displayName };
	}
	if (row.external_id !== externalId) {
		fields.externalId = { before: row.external_id, after: externalId };
	}
	await requireUniqueGroup(context, after, row.id);
	const { added, removed } = await setMembers(
		context,
		row.id,
		before,
		after.memberIds ?? before,
	);
	if (added.length > 0) fields.added_members = { after: added.length };
	if (removed.length > 0) fields.removed_members = { before: removed.length };
	if (Object.keys(fields).length === 0) return;
	await client.query(
		`update scim_groups set display_name = $3, external_id = $4, updated_at = now()
		where organization_id = $1 and id = $2`,
		[organizationId, row.id, after.displayName, externalId],
	);
	const roles = row.role
		? await changeRoles(
				client,
				organizationId,
				[...added, ...removed],
				"updateProvisionedGroup",
			)
		: [];
	await note(context, "updateProvisionedGroup", [
		groupChange(row.id, after.displayName, fields),
		...roles,
	]);
}

function groupChange(
	id: string,
	name: string,
	fields: Change["fields"],
): Change {
	return { kind: "scim_group", id, name, fields };
}
