import type { PoolClient } from "pg";
import type { AuditEvent } from "../audit/events.ts";
import type { Change } from "../operation.ts";
import { addPersonOf } from "../organizations/person-of-member.ts";
import { ROLES, type Role } from "../principal.ts";
import { memberChange } from "../sign-in/users.ts";
import {
	keepLimits,
	LIMITS,
	limitChanges,
	type NarrowMember,
	NO_LIMITS,
	restoreLimits,
} from "./kept-limits.ts";
import { ScimError } from "./scim-error.ts";

/** A membership that must not end or get another role: of the last administrator, for example. */
export class KeptMember extends ScimError {
	/** Why the membership must stay, for the log. */
	readonly reason: string;
	readonly userId: string;
	readonly event: AuditEvent;

	constructor({ reason, message }: Kept, userId: string, event: AuditEvent) {
		super(403, message);
		this.reason = reason;
		this.userId = userId;
		this.event = event;
	}
}

interface Kept {
	reason: string;
	message: string;
}

/** Reasons and messages, by the constraint of the database that refused the change. */
const KEPT: Readonly<Record<string, Kept>> = {
	last_administrator: {
		reason: "LAST_ADMINISTRATOR",
		message:
			"this is the organization's last administrator, who cannot be removed or get another role; make another member an administrator in Assay first",
	},
	last_emergency_member: {
		reason: "LAST_EMERGENCY_ACCOUNT",
		message:
			"this is the organization's last emergency account, which cannot be removed or get another role while the organization accepts only its identity provider; name another one in Assay first",
	},
};

interface Member extends NarrowMember {
	name: string;
	email: string;
}

/** Returns the role that provisioned people have without a group that gives another one. */
export async function defaultRole(
	client: PoolClient,
	organizationId: string,
): Promise<Role> {
	const { rows } = await client.query<{ provisioned_role: Role }>(
		"select provisioned_role from organizations where id = $1",
		[organizationId],
	);
	return rows[0]?.provisioned_role ?? "viewer";
}

/** Returns the highest roles that the users' groups give. Users without such a group are left out. */
async function rolesByGroup(
	client: PoolClient,
	organizationId: string,
	userIds: readonly string[],
): Promise<Map<string, Role>> {
	const { rows } = await client.query<{ user_id: string; roles: Role[] }>(
		`select m.user_id, array_agg(distinct g.role) as roles
		from scim_group_members m
		join scim_groups g on g.organization_id = m.organization_id and g.id = m.group_id
		where m.organization_id = $1 and m.user_id = any ($2) and g.role is not null
		group by m.user_id`,
		[organizationId, userIds],
	);
	return new Map(
		rows.map(({ user_id, roles }) => [
			user_id,
			ROLES.findLast((role) => roles.includes(role)) ?? "viewer",
		]),
	);
}

/**
 * Makes a provisioned user a member, with the role of the user's groups or the default role, and
 * adds the person. The limits come back that an administrator had set before SCIM ended an earlier
 * membership. An existing member keeps the role, unless a group gives another one.
 */
export async function join(
	client: PoolClient,
	organizationId: string,
	user: { id: string; name: string; email: string },
): Promise<Change[]> {
	const byGroup = await rolesByGroup(client, organizationId, [user.id]);
	const role =
		byGroup.get(user.id) ?? (await defaultRole(client, organizationId));
	const { rows } = await client.query<{ is_new: boolean }>(
		"select provision_membership($1, $2) as is_new",
		[user.id, role],
	);
	if (!rows[0]?.is_new) {
		return byGroup.size > 0
			? changeRoles(client, organizationId, [user.id], "provisionUser")
			: [];
	}
	const limits = await restoreLimits(client, organizationId, user.id);
	const change = memberChange(organizationId, user, { after: role });
	return [
		{
			...change,
			fields: { ...change.fields, ...limitChanges(NO_LIMITS, limits) },
		},
		...(await addPersonOf(client, organizationId, user)),
	];
}

/**
 * Ends the membership of a provisioned user at once, with the API tokens, connected apps, sessions
 * and invitations that reach no other organization. Throws KeptMember.
 */
export async function leave(
	client: PoolClient,
	organizationId: string,
	userId: string,
	email: string,
): Promise<Change[]> {
	const { rows } = await client.query<Member>(
		`select m.user_id, u.name, u.email, m.role, ${LIMITS}
		from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and m.user_id = $2 for update of m`,
		[organizationId, userId],
	);
	const [member] = rows;
	if (member) {
		await keepLimits(client, organizationId, member);
		await client
			.query(
				"delete from memberships where organization_id = $1 and user_id = $2",
				[organizationId, userId],
			)
			.catch(explainKeptMember(userId, "deprovisionUser"));
	}
	const invitations = await client.query<{ id: string; email: string }>(
		`update invitations set revoked_at = now()
		where organization_id = $1 and email = any ($2)
			and accepted_at is null and revoked_at is null and expires_at > now()
		returning id, email`,
		[organizationId, [...new Set([email, member?.email ?? email])]],
	);
	const ended = await client.query<{ token_id: string; name: string }>(
		"select * from end_access_after_leaving($1)",
		[userId],
	);
	return [
		...(member
			? [
					memberChange(
						organizationId,
						{ id: userId, name: member.name, email: member.email },
						{ before: member.role },
					),
				]
			: []),
		...invitations.rows.map((invitation) => ({
			kind: "invitation",
			id: invitation.id,
			name: invitation.email,
			fields: { status: { before: "OPEN", after: "REVOKED" } },
		})),
		...ended.rows.map(({ token_id, name }) => ({
			kind: "api_token",
			id: token_id,
			name,
			fields: { status: { before: "ACTIVE", after: "REVOKED" } },
		})),
	];
}

/**
 * Gives members the roles that their groups say, or the default role if no group gives one. Call it
 * for the users that a change of groups concerns. Throws KeptMember.
 */
export async function changeRoles(
	client: PoolClient,
	organizationId: string,
	userIds: readonly string[],
	event: AuditEvent,
): Promise<Change[]> {
	if (userIds.length === 0) return [];
	const byGroup = await rolesByGroup(client, organizationId, userIds);
	const other = await defaultRole(client, organizationId);
	const { rows } = await client.query<Member>(
		`select m.user_id, u.name, u.email, m.role, ${LIMITS}
		from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and m.user_id = any ($2)
		order by m.user_id for update of m`,
		[organizationId, userIds],
	);
	const wanted = rows
		.map((member) => ({
			...member,
			after: byGroup.get(member.user_id) ?? other,
		}))
		.filter(({ role, after }) => role !== after)
		// Those who become administrators come first, so that the last one may go.
		.toSorted((a, b) => ROLES.indexOf(b.after) - ROLES.indexOf(a.after));
	const changes: Change[] = [];
	for (const member of wanted) {
		const { user_id, name, email, role, after } = member;
		await keepLimits(client, organizationId, member);
		await client
			.query(
				`update memberships set role = $3, ends_on = null, reads_audit_log = false,
					writable_registers = null
				where organization_id = $1 and user_id = $2`,
				[organizationId, user_id, after],
			)
			.catch(explainKeptMember(user_id, event));
		// Limits that the new role does not have are kept for the next change of groups.
		const limits = await restoreLimits(client, organizationId, user_id);
		changes.push({
			...memberChange(organizationId, { id: user_id, name, email }, {}),
			fields: {
				role: { before: role, after },
				...limitChanges(member, limits),
			},
		});
	}
	return changes;
}

function explainKeptMember(userId: string, event: AuditEvent) {
	return (error: unknown): never => {
		const kept = KEPT[(error as { constraint?: string }).constraint ?? ""];
		if (!kept) throw error;
		throw new KeptMember(kept, userId, event);
	};
}
