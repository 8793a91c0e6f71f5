import { isDeepStrictEqual } from "node:util";
import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { ROLES, type Role } from "../principal.ts";
import {
	byText,
	byTime,
	listInput,
	organizationId,
	pageShape,
	readPage,
} from "../records/list-pages.ts";
import { obvious } from "../records/shown-in-tool-list.ts";
import { idSchema } from "../records/text-schemas.ts";
import { memberChange } from "../sign-in/users.ts";
import { REGISTERS, requireLimitsOf } from "./limits-of-organization.ts";
import {
	limitsInput,
	limitsShape,
	requireLimits,
} from "./narrow-membership.ts";

export const role = z
	.enum(ROLES)
	.describe(
		"A viewer reads, a member also adds and updates, and an admin does everything",
	);

export const member = z.object({
	user_id: z.string(),
	organization_id: z.string(),
	name: z.string(),
	email: z.string(),
	role: z.enum(ROLES),
	...limitsShape,
	is_ended: z.boolean().describe("true: the last day is over"),
	two_factor_enabled: z
		.boolean()
		.nullable()
		.describe(
			"true: the user signs in with a second factor; null unless you are admin",
		),
	created_at: z.string(),
});
const one = z.object({ member });
type Member = z.output<typeof member>;

export const userId = idSchema("user").describe(
	"Id of the user; listMembers returns the ids",
);
const input = { organization_id: organizationId(), user_id: userId };
const common = { toolset: "members", tenant: "organization_id" } as const;

export const COLUMNS =
	"t.id, t.organization_id, t.name, t.email, t.role, t.ends_on, t.writable_registers, t.reads_audit_log, t.is_ended, t.created_at";
const LIMITS =
	"m.ends_on::text as ends_on, m.writable_registers, m.reads_audit_log, not is_live_membership(m.organization_id, m.ends_on) as is_ended";
export const MEMBERS = `(
	select m.organization_id, u.id, u.name, u.email, m.role, ${LIMITS}, m.created_at,
		search_text(u.name, u.email) as search_text,
		coalesce(sort_key(u.name), '') collate "C" as name_key,
		coalesce(sort_key(u.email), '') collate "C" as email_key
	from memberships m join users u on u.id = m.user_id
) t`;

const orders = {
	created_at: byTime("created_at"),
	name: byText("name"),
	email: byText("email"),
};
const filters = {
	role: {
		schema: role.meta(obvious("Members with this role")),
		sql: (parameter: string) => `t.role = ${parameter}`,
	},
};

export const listMembers = defineOperation({
	...common,
	name: "listMembers",
	title: "List members",
	description:
		"List the members of an organization, who may sign in to it, with name, e-mail address and role. listPeople also lists people without an account.",
	access: "read",
	input: listInput(orders, filters),
	output: z.object({
		members: z.array(member),
		...pageShape,
	}),
	run: async ({ client, membership }, given) => {
		const { rows, ...page } = await readPage<MemberRow>(
			client,
			{ tool: "listMembers", columns: COLUMNS, from: MEMBERS, orders, filters },
			given,
		);
		const protectedIds =
			membership.role === "admin" ? await listProtected(client) : undefined;
		return {
			members: rows.map((row) => toMember(row, protectedIds)),
			...page,
		};
	},
});

export const updateMember = defineOperation({
	...common,
	name: "updateMember",
	title: "Update a member",
	description:
		"Change a member's role in an organization, or narrow it: a last day, the only registers to write, or reading the audit log. It takes effect with the member's next request. An organization keeps at least one admin.",
	access: "admin",
	isIdempotent: true,
	input: z.strictObject({ ...input, role: role.optional(), ...limitsInput }),
	output: one,
	run: async (context, given) => {
		const before = await lockMember(context, given.user_id);
		const after = { ...before, ...withoutUndefined(given) } as Member;
		await requireLimitsOf(context, after.role, {
			...after,
			// A day that has passed may stay while something else changes.
			ends_on: after.ends_on === before.ends_on ? null : after.ends_on,
		});
		if (after.role === "admin" && after.ends_on) {
			requireLimits("admin", after, REGISTERS, "");
		}
		const fields = changedFields(before, after);
		if (Object.keys(fields).length > 0) {
			await context.client
				.query(
					`update memberships set role = $3, ends_on = $4, writable_registers = $5, reads_audit_log = $6
					where organization_id = $1 and user_id = $2`,
					[
						before.organization_id,
						before.user_id,
						after.role,
						after.ends_on,
						after.writable_registers,
						after.reads_audit_log,
					],
				)
				.catch(explainKeptMember);
			context.changed({
				...memberChange(
					before.organization_id,
					{ id: before.user_id, name: before.name, email: before.email },
					{ before: before.role, after: after.role },
				),
				fields,
			});
		}
		return {
			member: {
				...after,
				is_ended: after.ends_on === before.ends_on && before.is_ended,
			},
		};
	},
});

export const removeMember = defineOperation({
	...common,
	name: "removeMember",
	title: "Remove a member",
	description:
		"Remove a user's membership. The user and the user's API tokens lose access to the organization from the next request on. An organization keeps at least one admin.",
	access: "admin",
	isDestructive: true,
	input: z.strictObject(input),
	output: z.object({ removed_user_id: z.string() }),
	run: async (context, given) => {
		const before = await lockMember(context, given.user_id);
		await context.client
			.query(
				"delete from memberships where organization_id = $1 and user_id = $2",
				[before.organization_id, before.user_id],
			)
			.catch(explainKeptMember);
		noteRole(context, before, undefined);
		return { removed_user_id: before.user_id };
	},
});

const CHANGEABLE = [
	"role",
	"ends_on",
	"writable_registers",
	"reads_audit_log",
] as const;

function withoutUndefined(given: object): object {
	return Object.fromEntries(
		Object.entries(given).filter(([, value]) => value !== undefined),
	);
}

function changedFields(before: Member, after: Member): Change["fields"] {
	return Object.fromEntries(
		CHANGEABLE.filter(
			(name) => !isDeepStrictEqual(before[name], after[name]),
		).map((name) => [name, { before: before[name], after: after[name] }]),
	);
}

export interface MemberRow
	extends Omit<Member, "user_id" | "two_factor_enabled"> {
	id: string;
}

export function toMember(
	{ id, ...row }: MemberRow,
	protectedIds?: Set<string>,
): Member {
	return {
		...row,
		user_id: id,
		two_factor_enabled: protectedIds?.has(id) ?? null,
	};
}

/** Returns the ids of the members who use a second factor. */
export async function listProtected(client: PoolClient): Promise<Set<string>> {
	const { rows } = await client.query<{ id: string }>(
		"select members_with_second_factor() as id",
	);
	return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the member and locks the membership. Throws not_found if the user is not a member of the
 * organization.
 */
async function lockMember(context: Context, userId: string): Promise<Member> {
	const { rows } = await context.client.query<MemberRow>(
		`select u.id, m.organization_id, u.name, u.email, m.role, ${LIMITS}, m.created_at
		from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and m.user_id = $2
		for update of m`,
		[context.membership.organizationId, userId],
	);
	if (!rows[0]) {
		// An id that no user has gives the same error, so the error does not reveal which users exist.
		throw new AppError(
			"not_found",
			`the user ${userId} is not a member of this organization; listMembers returns its members`,
		);
	}
	return toMember(rows[0], await listProtected(context.client));
}

function noteRole(
	context: Context,
	before: Member,
	after: Role | undefined,
): void {
	context.changed(
		memberChange(
			before.organization_id,
			{ id: before.user_id, name: before.name, email: before.email },
			{ before: before.role, ...(after && { after }) },
		),
	);
}

const KEPT: Readonly<Record<string, string>> = {
	last_administrator:
		"this is the organization's last administrator; make another member an administrator first",
	last_emergency_member:
		"this is the organization's last emergency account, and the organization accepts only its identity provider; name another emergency account first, under Settings, Sign-in",
};

/**
 * Throws the error of a query in the form that callers should see. If the query would have removed
 * the last admin or the last emergency account, that is a bad_request. Every other error is thrown
 * unchanged.
 */
export function explainKeptMember(error: unknown): never {
	const message = KEPT[(error as { constraint?: string }).constraint ?? ""];
	if (message) throw new AppError("bad_request", message);
	throw error;
}
