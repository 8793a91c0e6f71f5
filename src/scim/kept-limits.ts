import type { PoolClient } from "pg";
import type { Change } from "../operation.ts";
import type { Limits } from "../organizations/narrow-membership.ts";
import type { Role } from "../principal.ts";

/** The key in the attributes of a provisioned user. No client writes or reads it. */
export const KEPT_LIMITS = "keptLimits";

export interface NarrowMember extends Limits {
	user_id: string;
	role: Role;
}

/** Columns of a NarrowMember besides the role, of `memberships m`. */
export const LIMITS =
	"m.ends_on::text as ends_on, m.writable_registers, m.reads_audit_log";

/**
 * Keeps the limits of a membership that SCIM ends, or gives another role. A limit that the present
 * role cannot have stays as it was kept before.
 */
export async function keepLimits(
	client: PoolClient,
	organizationId: string,
	{ user_id, role, ends_on, writable_registers, reads_audit_log }: NarrowMember,
): Promise<void> {
	const limits = {
		...(role !== "admin" && { ends_on, reads_audit_log }),
		...(role === "member" && { writable_registers }),
	};
	await client.query(
		`update scim_users set attributes = attributes || jsonb_build_object(
			'${KEPT_LIMITS}', coalesce(attributes -> '${KEPT_LIMITS}', '{}') || $3::jsonb
		)
		where organization_id = $1 and user_id = $2`,
		[organizationId, user_id, JSON.stringify(limits)],
	);
}

/**
 * Gives a membership the kept limits that fit its role, after SCIM has made it or changed its role.
 * Limits that do not fit are taken away. Returns the membership's new limits.
 */
export async function restoreLimits(
	client: PoolClient,
	organizationId: string,
	userId: string,
): Promise<Limits> {
	const { rows } = await client.query<Limits>(
		`update memberships m set
			ends_on = case when m.role <> 'admin' then (k.limits ->> 'ends_on')::date end,
			reads_audit_log = m.role <> 'admin' and coalesce((k.limits ->> 'reads_audit_log')::boolean, false),
			writable_registers = case
				when m.role = 'member' and jsonb_typeof(k.limits -> 'writable_registers') = 'array'
				then array(select jsonb_array_elements_text(k.limits -> 'writable_registers'))
			end
		from (
			select coalesce(s.attributes -> '${KEPT_LIMITS}', '{}') as limits from scim_users s
			where s.organization_id = $1 and s.user_id = $2
		) k
		where m.organization_id = $1 and m.user_id = $2
		returning ${LIMITS}`,
		[organizationId, userId],
	);
	const [limits] = rows;
	if (!limits) throw new Error("a provisioned user has no membership");
	return limits;
}

/** Describes how the limits of a membership changed, for the audit log. */
export function limitChanges(before: Limits, after: Limits): Change["fields"] {
	const names = ["ends_on", "writable_registers", "reads_audit_log"] as const;
	return Object.fromEntries(
		names
			.filter((name) => String(before[name]) !== String(after[name]))
			.map((name) => [name, { before: before[name], after: after[name] }]),
	);
}

/** The limits of a membership that nobody has narrowed. */
export const NO_LIMITS: Limits = {
	ends_on: null,
	writable_registers: null,
	reads_audit_log: false,
};
