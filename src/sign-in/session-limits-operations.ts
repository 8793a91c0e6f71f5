import { z } from "zod";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { requireFreshProof } from "./fresh-proof.ts";
import { MAX_SESSION_DAYS, SESSION_DAYS } from "./session-lifetime.ts";
import {
	AGE_HOURS,
	IDLE_MINUTES,
	type SessionLimits,
} from "./session-limits.ts";

const limits = z.object({
	session_idle_minutes: z
		.int()
		.nullable()
		.describe(
			`Minutes without use after which a session ends here; null: ${SESSION_DAYS} days`,
		),
	session_max_hours: z
		.int()
		.nullable()
		.describe(
			`Hours after the sign-in when a session ends here; null: ${MAX_SESSION_DAYS} days`,
		),
});

const admin = {
	toolset: "organizations",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

export const getSessionLimits = defineOperation({
	...admin,
	name: "getSessionLimits",
	title: "Get the limits of sessions",
	description:
		"Read how long a session of the console may be used in an organization.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ limits }),
	run: async (context, { organization_id }) => ({
		limits: (await read(context, organization_id)).limits,
	}),
});

export const updateSessionLimits = defineOperation({
	...admin,
	name: "updateSessionLimits",
	title: "Change the limits of sessions",
	description:
		"Change how long a session of the console may be used in an organization. Only the given fields change; null removes a limit. A change takes effect with the next request of every session.",
	isIdempotent: true,
	input: z.strictObject({
		organization_id: organizationId(),
		session_idle_minutes: z
			.int()
			.min(IDLE_MINUTES.min)
			.max(IDLE_MINUTES.max)
			.nullable()
			.optional()
			.describe("Minutes without use after which a session ends here"),
		session_max_hours: z
			.int()
			.min(AGE_HOURS.min)
			.max(AGE_HOURS.max)
			.nullable()
			.optional()
			.describe("Hours after the sign-in when a session ends here"),
	}),
	output: z.object({ limits }),
	run: async (context, { organization_id, ...given }) => {
		await requireFreshProof(context);
		const { name, limits: before } = await read(context, organization_id, true);
		const after: SessionLimits = {
			session_idle_minutes:
				given.session_idle_minutes === undefined
					? before.session_idle_minutes
					: given.session_idle_minutes,
			session_max_hours:
				given.session_max_hours === undefined
					? before.session_max_hours
					: given.session_max_hours,
		};
		const different = (["session_idle_minutes", "session_max_hours"] as const)
			.filter((field) => before[field] !== after[field])
			.map((field) => [field, { before: before[field], after: after[field] }]);
		if (different.length === 0) return { limits: before };
		await context.client.query(
			`update organizations
			set session_idle_minutes = $2, session_max_hours = $3, updated_at = now() where id = $1`,
			[organization_id, after.session_idle_minutes, after.session_max_hours],
		);
		context.changed({
			kind: "organization",
			id: organization_id,
			name,
			fields: Object.fromEntries(different),
		});
		return { limits: after };
	},
});

async function read(
	{ client }: Context,
	organizationId: string,
	isLocked = false,
): Promise<{ name: string; limits: SessionLimits }> {
	const { rows } = await client.query<SessionLimits & { name: string }>(
		`select name, session_idle_minutes, session_max_hours from organizations
		where id = $1 ${isLocked ? "for no key update" : ""}`,
		[organizationId],
	);
	const [row] = rows;
	if (!row) throw new Error("the transaction's organization does not exist");
	const { name, ...limits } = row;
	return { name, limits };
}
