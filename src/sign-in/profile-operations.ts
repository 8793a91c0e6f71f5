import type { QueryResultRow } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { explainKeptMember } from "../organizations/member-operations.ts";
import { ROLES } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { nameSchema } from "../records/text-schemas.ts";
import { confinedTo } from "./confined-session.ts";
import { relyingPartyId } from "./passkeys/relying-party.ts";
import { memberChange } from "./users.ts";

const self = {
	toolset: "profile",
	surface: "console",
	access: "self",
	tenant: null,
} as const;

const profile = z.object({
	user_id: z.string(),
	name: z.string(),
	email: z.string(),
	two_factor_enabled: z.boolean(),
	provider: z
		.string()
		.nullable()
		.describe(
			"Identity provider that vouched for you in this session; null: you gave a password",
		),
	identity_provider_id: z
		.string()
		.nullable()
		.describe("That provider, if it is one of an organization"),
	is_confined: z
		.boolean()
		.describe(
			"This session reaches only the organization of that provider, and cannot change your account",
		),
	has_password: z.boolean(),
	has_app: z
		.boolean()
		.describe("An authenticator app is a second factor of yours"),
	passkeys: z.int().describe("Number of your passkeys that work here"),
	created_at: z.string(),
	organizations: z.array(
		z.object({ id: z.string(), name: z.string(), role: z.enum(ROLES) }),
	),
});

export const getProfile = defineOperation({
	...self,
	name: "getProfile",
	title: "Get your profile",
	description:
		"Read your name and e-mail address, whether you sign in with a second factor, and your organizations with your role in each.",
	isReadOnly: true,
	input: z.strictObject({}),
	output: z.object({ profile }),
	run: async (context) => ({ profile: await readProfile(context) }),
});

export const updateProfile = defineOperation({
	...self,
	name: "updateProfile",
	title: "Change your name",
	description:
		"Change your name as others see it. Existing entries of the audit log keep the old name.",
	isIdempotent: true,
	input: z.strictObject({ name: nameSchema() }),
	output: z.object({ profile }),
	run: async (context, { name }) => {
		const before = await readProfile(context);
		if (before.name !== name) {
			await context.client.query(
				"update users set name = $2, updated_at = now() where id = $1",
				[before.user_id, name],
			);
			noteEverywhere(context, name, {
				name: { before: before.name, after: name },
			});
		}
		return { profile: { ...before, name } };
	},
});

const session = z.object({
	id: z.string(),
	is_current: z.boolean().describe("true: the session of this request"),
	user_agent: z
		.string()
		.nullable()
		.describe("Name that the browser gave itself at the sign-in"),
	address: z.string().nullable().describe("Network address of the sign-in"),
	created_at: z.string(),
	last_seen_at: z
		.string()
		.describe("Time of the last use, exact to the minute"),
	last_user_agent: z
		.string()
		.nullable()
		.describe("Name that the browser gave itself at the last use"),
	last_address: z
		.string()
		.nullable()
		.describe("Network address of the last use"),
	passkey: z
		.string()
		.nullable()
		.describe(
			"The passkey that began the session, alone or after the password",
		),
	expires_at: z.string(),
});

export const listSessions = defineOperation({
	...self,
	name: "listSessions",
	title: "List your sessions",
	description:
		"List where you are signed in to the console. listApiTokens lists your API tokens.",
	isReadOnly: true,
	input: z.strictObject({}),
	output: z.object({ sessions: z.array(session) }),
	run: async ({ client, principal }) => {
		const { rows } = await client.query(
			"select * from own_sessions() order by last_seen_at desc, session_id",
		);
		return {
			sessions: rows.map((row) => toSession(row, principal.sessionId)),
		};
	},
});

export const revokeSession = defineOperation({
	...self,
	name: "revokeSession",
	title: "Sign out elsewhere",
	description:
		"End one of your sessions. Its next request is rejected. Ending the session that you use signs you out.",
	isDestructive: true,
	input: z.strictObject({
		id: z.string().regex(/^[\w-]{1,64}$/, "must be the id of a session"),
	}),
	output: z.object({ revoked_session_ids: z.array(z.string()) }),
	run: async (context, { id }) => {
		const ended = await endSessions(context, id, null);
		if (ended.length === 0) {
			throw new AppError(
				"not_found",
				`you have no session ${id}; it may have ended already`,
			);
		}
		return { revoked_session_ids: ended };
	},
});

export const revokeOtherSessions = defineOperation({
	...self,
	name: "revokeOtherSessions",
	title: "Sign out everywhere else",
	description: "End all your sessions except the one that you use.",
	isDestructive: true,
	isIdempotent: true,
	input: z.strictObject({}),
	output: z.object({ revoked_session_ids: z.array(z.string()) }),
	run: async (context) => {
		const { sessionId } = context.principal;
		if (!sessionId)
			throw new AppError(
				"forbidden",
				"permission denied: only a signed-in user has sessions; sign in",
			);
		return { revoked_session_ids: await endSessions(context, null, sessionId) };
	},
});

export const leaveOrganization = defineOperation({
	...self,
	name: "leaveOrganization",
	title: "Leave an organization",
	description:
		"Give up your own membership. You and your API tokens lose access to the organization from the next request on. An organization keeps at least one admin.",
	access: "read",
	isReadOnly: false,
	isDestructive: true,
	tenant: "organization_id",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ left_organization_id: z.string() }),
	run: async (context) => {
		const { client, principal, membership } = context;
		const { organizationId } = membership;
		const { rows } = await client.query<{ email: string }>(
			"select email from users where id = $1",
			[principal.userId],
		);
		const { rowCount } = await client
			.query(
				"delete from memberships where organization_id = $1 and user_id = $2",
				[organizationId, principal.userId],
			)
			.catch(explainKeptMember);
		if (!rowCount || !rows[0]) throw notFound(organizationId);
		const user = { id: userOf(context), name: principal.name, ...rows[0] };
		context.changed(
			memberChange(organizationId, user, { before: membership.role }),
		);
		return { left_organization_id: organizationId };
	},
});

async function readProfile(
	context: Context,
): Promise<z.output<typeof profile>> {
	const { client } = context;
	const userId = userOf(context);
	const { rows } = await client.query(
		`select u.id as user_id, u.name, u.email, a.two_factor_enabled, s.provider,
			p.id as identity_provider_id, p.name as identity_provider_name,
			coalesce(s.has_password, false) as has_password, f.has_app, f.passkeys, u.created_at
		from users u cross join own_account() a cross join own_second_factors($3) f
		left join own_sign_in($2) s on true
		left join own_identity_provider($2) p on true
		where u.id = $1`,
		[
			userId,
			context.principal.sessionId ?? null,
			relyingPartyId(context.services.baseUrl) ?? null,
		],
	);
	if (!rows[0]) throw notFound(userId);
	const { rows: organizations } = await client.query(
		`select o.id, o.name, m.role from memberships m join organizations o on o.id = m.organization_id
		where m.user_id = $1 and ($2::text is null or m.organization_id = $2)
			and is_live_membership(m.organization_id, m.ends_on)
		order by o.name, o.id`,
		[userId, confinedTo(context.principal) ?? null],
	);
	const { provider, identity_provider_name, ...row } = rows[0];
	return {
		...row,
		is_confined: confinedTo(context.principal) !== undefined,
		provider:
			identity_provider_name ??
			(provider && (context.services.passwordRule?.providerName ?? provider)),
		organizations,
	} as z.output<typeof profile>;
}

async function endSessions(
	context: Context,
	one: string | null,
	allBut: string | null,
): Promise<string[]> {
	const { rows } = await context.client.query<{ id: string }>(
		"select end_own_sessions($1, $2) as id",
		[one, allBut],
	);
	if (rows.length > 0) {
		noteEverywhere(context, context.principal.name, {
			sessions_ended: { after: rows.length },
		});
	}
	return rows.map(({ id }) => id);
}

/**
 * Records a change to the caller's account in the audit log of each of the caller's organizations.
 */
export function noteEverywhere(
	context: Context,
	name: string,
	fields: Change["fields"],
): void {
	for (const { organizationId } of context.principal.memberships) {
		context.changed({
			kind: "user",
			id: userOf(context),
			name,
			fields,
			organizationId,
		});
	}
}

function toSession(
	{ session_id, ...row }: QueryResultRow,
	currentId: string | undefined,
): z.output<typeof session> {
	return {
		...row,
		id: session_id,
		is_current: session_id === currentId,
	} as z.output<typeof session>;
}

function userOf({ principal }: Context): string {
	if (principal.userId === null) {
		throw new AppError(
			"forbidden",
			"permission denied: only a signed-in user has a profile; sign in",
		);
	}
	return principal.userId;
}
