import { isDeepStrictEqual } from "node:util";
import type { Change } from "../operation.ts";
import { lockProvisioning, note, type ScimContext } from "./client.ts";
import { join, leave } from "./memberships.ts";
import { patchUser, readPatch } from "./patch.ts";
import { addressOf, readUser, type UserAttributes } from "./user-resource.ts";
import {
	attributesOf,
	readUserRow,
	requireUnique,
	requireVerifiedDomain,
	storeUser,
	takeAccount,
	toUser,
	type UserRow,
} from "./user-store.ts";

type Resource = Record<string, unknown>;

/**
 * Provisions a user: makes the account, or takes the one with this address, and makes the person a
 * member unless `active` is false.
 */
export async function createUser(
	context: ScimContext,
	body: object,
): Promise<Resource> {
	const { client, organizationId } = context;
	const given = readUser(body);
	const attributes = { ...given, active: given.active ?? true };
	await lockProvisioning(client, organizationId);
	await requireUnique(context, attributes, null);
	await requireVerifiedDomain(context, attributes);
	const account = await takeAccount(context, attributes);
	await storeUser(context, account.id, attributes);
	const changes = attributes.active
		? await join(client, organizationId, {
				id: account.id,
				name: account.name,
				email: addressOf(attributes),
			})
		: [];
	await note(context, "provisionUser", [
		userChange(account.id, undefined, attributes),
		...changes,
	]);
	return readUserResource(context, account.id);
}

export async function readUserResource(
	context: ScimContext,
	id: string,
): Promise<Resource> {
	return toUser(context, await readUserRow(context, id));
}

/** Replaces a user. Without `active`, the state stays as it is. */
export async function replaceUser(
	context: ScimContext,
	id: string,
	body: object,
): Promise<Resource> {
	await lockProvisioning(context.client, context.organizationId);
	const row = await readUserRow(context, id, "for update of u");
	return changeUser(context, row, readUser(body));
}

/** Changes a user by the operations of a PATCH request. */
export async function changeUserByPatch(
	context: ScimContext,
	id: string,
	body: object,
): Promise<Resource> {
	const operations = readPatch(body);
	await lockProvisioning(context.client, context.organizationId);
	const row = await readUserRow(context, id, "for update of u");
	const patched = patchUser(attributesOf(row), operations);
	return changeUser(context, row, readUser(patched));
}

/** Ends the membership of a user and forgets what the client said about the user. */
export async function deleteUser(
	context: ScimContext,
	id: string,
): Promise<void> {
	const { client, organizationId } = context;
	await lockProvisioning(client, organizationId);
	const row = await readUserRow(context, id, "for update of u");
	const before = attributesOf(row);
	const changes = await leave(client, organizationId, id, addressOf(before));
	await client.query(
		"delete from scim_users where organization_id = $1 and user_id = $2",
		[organizationId, id],
	);
	await note(context, "deprovisionUser", [
		userChange(id, before, undefined),
		...changes,
	]);
}

async function changeUser(
	context: ScimContext,
	row: UserRow,
	given: UserAttributes,
): Promise<Resource> {
	const before = attributesOf(row);
	const after = { ...given, active: given.active ?? before.active };
	const change = userChange(row.user_id, before, after);
	if (Object.keys(change.fields).length === 0) return toUser(context, row);
	await requireUnique(context, after, row.user_id);
	// An address that stays may be in a domain that is no longer verified.
	if (addressOf(after) !== addressOf(before)) {
		await requireVerifiedDomain(context, after);
	}
	await storeUser(context, row.user_id, after);
	const changes = await changeMembership(context, row.user_id, before, after);
	const ended = before.active && !after.active;
	await note(context, ended ? "deprovisionUser" : "updateProvisionedUser", [
		change,
		...changes,
	]);
	return readUserResource(context, row.user_id);
}

async function changeMembership(
	context: ScimContext,
	id: string,
	before: UserAttributes,
	after: UserAttributes,
): Promise<Change[]> {
	const { client, organizationId } = context;
	if (before.active === after.active) return [];
	if (!after.active) {
		return leave(client, organizationId, id, addressOf(before));
	}
	await requireVerifiedDomain(context, after);
	const { rows } = await client.query<{ name: string; email: string }>(
		"select * from provisioned_account($1)",
		[id],
	);
	const [account] = rows;
	if (!account) throw new Error("a provisioned user has no account");
	return join(client, organizationId, { id, ...account });
}

const NOTED = [
	"userName",
	"externalId",
	"active",
	"displayName",
	"title",
	"name",
	"emails",
] as const;

/** Describes a change of what the client says about a user, for the audit log. */
function userChange(
	id: string,
	before: UserAttributes | undefined,
	after: UserAttributes | undefined,
): Change {
	const fields = Object.fromEntries(
		NOTED.map(
			(name) =>
				[
					name,
					{
						before: compact(before?.[name]),
						after: compact(after?.[name]),
					},
				] as const,
		).filter(([, change]) => !isDeepStrictEqual(change.before, change.after)),
	);
	return {
		kind: "user",
		id,
		name: after?.userName ?? before?.userName ?? null,
		fields,
	};
}

/** Leaves out what is undefined, also within objects. */
function compact(value: unknown): unknown {
	return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
