import type { Context } from "../operation.ts";
import type { Role } from "../principal.ts";
import { toolsetOf } from "../records/kind.ts";
import { recordKinds } from "../registers/all.ts";
import { type Limits, requireLimits } from "./narrow-membership.ts";

/** The toolsets of all registers. */
export const REGISTERS = recordKinds.map((kind) => toolsetOf(kind));

/** Checks the limits of a membership in the organization of the call. Throws bad_request. */
export async function requireLimitsOf(
	{ client, membership }: Context,
	role: Role,
	limits: Limits,
): Promise<void> {
	const { rows } = await client.query<{ today: string }>(
		"select (now() at time zone time_zone)::date::text as today from organizations where id = $1",
		[membership.organizationId],
	);
	requireLimits(role, limits, REGISTERS, rows[0]?.today ?? "");
}
