import { z } from "zod";
import { setOrganization } from "../db/transaction-settings.ts";
import { AppError, badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { notFound } from "../invoke.ts";
import { queueMail } from "../mail/queue.ts";
import { type Change, type Context, defineOperation } from "../operation.ts";
import { ROLES } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { normalAddress } from "../records/mail-address.ts";
import { emailSchema, idSchema } from "../records/text-schemas.ts";
import { MAX_LIVE_TOKENS } from "../tokens/api-token-operations.ts";
import { reachingTokens } from "../tokens/reaching-tokens.ts";
import {
	hashSecret,
	isWellFormedSecret,
	makeSecret,
} from "../tokens/secret.ts";
import { requireOpenOrganization } from "./closures.ts";
import { INVITATION_DAYS } from "./days.ts";
import { mayMail, rejectTooMany } from "./invitation-limits.ts";
import { invitationUrl } from "./invitation-mail.ts";
import { requireLimitsOf } from "./limits-of-organization.ts";
import { MAX_OPEN } from "./max-invitations.ts";
import { role } from "./member-operations.ts";
import { limitsInput, limitsShape } from "./narrow-membership.ts";
import { addPersonOf } from "./person-of-member.ts";

/** Longest text that is examined as an invitation link or its token. */
const MAX_LINK = 2_000;

const invitation = z.object({
	id: z.string(),
	organization_id: z.string(),
	email: z.string(),
	role: z.enum(ROLES),
	...limitsShape,
	invited_by: z.string(),
	created_at: z.string(),
	expires_at: z.string(),
	is_expired: z.boolean(),
});
type Invitation = z.output<typeof invitation>;

const admin = {
	toolset: "members",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

export const inviteMember = defineOperation({
	...admin,
	name: "inviteMember",
	title: "Invite a member",
	description: `Invite somebody to an organization by e-mail address. Returns a link that works once, for ${INVITATION_DAYS} days. If the service sends mail, it also queues a mail with a link, unless too many were mailed today. An earlier invitation of the same address stops working.`,
	input: z.strictObject({
		organization_id: organizationId(),
		email: emailSchema().describe(
			"Address with which the invited user will sign in",
		),
		role,
		...limitsInput,
	}),
	output: z.object({
		invitation,
		invitation_url: z.string().describe("Link to pass on; shown only now"),
		is_mailed: z
			.boolean()
			.describe(
				"true: a mail with a link is queued; listMails says if it was sent",
			),
	}),
	run: async (context, input) => {
		const { client, membership, principal, services } = context;
		const email = normalAddress(input.email);
		const limits = {
			ends_on: input.ends_on ?? null,
			writable_registers: input.writable_registers ?? null,
			reads_audit_log: input.reads_audit_log ?? false,
		};
		await requireLimitsOf(context, input.role, limits);
		await rejectMember(context, email);
		const { rows: replaced } = await client.query<{ id: string }>(
			"update invitations set revoked_at = now() where organization_id = $1 and email = $2 and accepted_at is null and revoked_at is null returning id",
			[membership.organizationId, email],
		);
		for (const { id } of replaced) {
			context.changed(revokedChange({ id, email }));
		}
		await rejectTooMany(context, email);
		const id = makeId(membership.organizationId, "invitation");
		const token = makeSecret("inv");
		const isMailed = services.mail !== undefined && (await mayMail(context));
		await client.query(
			`insert into invitations (
				organization_id, id, email, role, token_hash, invited_by, invited_by_id, expires_at, is_mailed,
				ends_on, writable_registers, reads_audit_log
			)
			values ($1, $2, $3, $4, decode($5, 'hex'), $6, $8, now() + $7 * interval '1 day', $9, $10, $11, $12)`,
			[
				membership.organizationId,
				id,
				email,
				input.role,
				hashSecret(token),
				principal.name,
				INVITATION_DAYS,
				principal.userId,
				isMailed,
				limits.ends_on,
				limits.writable_registers,
				limits.reads_audit_log,
			],
		);
		context.changed({
			kind: "invitation",
			id,
			name: email,
			fields: {
				email: { after: email },
				role: { after: input.role },
				...(limits.ends_on && { ends_on: { after: limits.ends_on } }),
				...(limits.writable_registers && {
					writable_registers: { after: limits.writable_registers },
				}),
				...(limits.reads_audit_log && { reads_audit_log: { after: true } }),
			},
		});
		const made = await findInvitation(context, id);
		if (!made)
			throw new Error("the invitation cannot be read after it was stored");
		if (isMailed) {
			await queueMail(client, {
				kind: "INVITATION",
				organizationId: membership.organizationId,
				invitationId: id,
			});
			context.afterCommit(() => services.mail?.wake());
		}
		return {
			invitation: made,
			invitation_url: invitationUrl(services.baseUrl, token),
			is_mailed: isMailed,
		};
	},
});

export const listInvitations = defineOperation({
	...admin,
	name: "listInvitations",
	title: "List invitations",
	description:
		"List the invitations to an organization that were neither accepted nor revoked, including expired ones.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ invitations: z.array(invitation) }),
	run: async ({ client, membership }) => {
		const { rows } = await client.query<Invitation>(
			`${SELECT} where i.organization_id = $1 and i.accepted_at is null and i.revoked_at is null
			order by i.created_at desc, i.id limit ${MAX_OPEN}`,
			[membership.organizationId],
		);
		return { invitations: rows };
	},
});

export const revokeInvitation = defineOperation({
	...admin,
	name: "revokeInvitation",
	title: "Revoke an invitation",
	description: "Revoke an invitation; its link no longer works.",
	isDestructive: true,
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("invitation"),
	}),
	output: z.object({ revoked_invitation_id: z.string() }),
	run: async (context, { id }) => {
		const { rows } = await context.client.query<{ email: string }>(
			"update invitations set revoked_at = now() where organization_id = $1 and id = $2 and accepted_at is null and revoked_at is null returning email",
			[context.membership.organizationId, id],
		);
		if (!rows[0]) throw notFound(id);
		context.changed(revokedChange({ id, email: rows[0].email }));
		return { revoked_invitation_id: id };
	},
});

export const acceptInvitation = defineOperation({
	name: "acceptInvitation",
	title: "Accept an invitation",
	description:
		"Become a member of the organization that invited your e-mail address.",
	toolset: "members",
	access: "self",
	surface: "console",
	tenant: null,
	input: z.strictObject({
		token: z
			.string()
			.max(MAX_LINK)
			.describe("The text after the # of the invitation's link"),
		api_token_ids: z
			.array(idSchema("api_token"))
			.max(MAX_LIVE_TOKENS)
			.optional()
			.describe(
				"Your API tokens that may reach the organization; none by default. Every other token stays limited to the organizations you belong to now, or is revoked if there are none.",
			),
	}),
	output: z.object({
		organization: z.object({ id: z.string(), name: z.string() }),
		role: z.enum(ROLES),
	}),
	run: async (context, { token, api_token_ids = [] }) => {
		const { client, principal } = context;
		const hash = hashInvitation(token);
		const { rows } = await client.query<{
			invitation_id: string;
			organization_id: string;
			role: (typeof ROLES)[number];
			is_first_proof: boolean;
		}>(
			"select * from accept_invitation_with_tokens(decode($1, 'hex'), $2, $3)",
			[hash, principal.sessionId ?? null, api_token_ids],
		);
		const [accepted] = rows;
		if (!accepted) throw unusableInvitation();
		const { rows: organizations } = await client.query<{ name: string }>(
			"select name from organizations where id = $1",
			[accepted.organization_id],
		);
		const { organization_id: organizationId } = accepted;
		context.changed({
			kind: "invitation",
			id: accepted.invitation_id,
			name: context.principal.name,
			fields: {
				status: { before: "OPEN", after: "ACCEPTED" },
				role: { after: accepted.role },
				...(accepted.is_first_proof && {
					api_tokens: { after: "REVOKED" },
					sessions: { after: "ENDED" },
					second_factor: { after: "OFF" },
				}),
			},
			organizationId,
		});
		const reaching = await reachingTokens(
			client,
			organizationId,
			principal.userId,
		);
		for (const change of reaching) context.changed(change);
		const { rows: users } = await client.query<{ name: string; email: string }>(
			"select name, email from users where id = $1",
			[principal.userId],
		);
		// From here on, the transaction acts for the organization that the caller has joined.
		await client.query(setOrganization(organizationId));
		await requireOpenOrganization(client, organizationId);
		for (const user of users) {
			for (const change of await addPersonOf(client, organizationId, user)) {
				context.changed(change);
			}
		}
		return {
			organization: {
				id: accepted.organization_id,
				name: organizations[0]?.name ?? "",
			},
			role: accepted.role,
		};
	},
});

/**
 * Returns the hash of an invitation's token. Throws bad_request if the text cannot be such a token.
 */
export function hashInvitation(token: string): string {
	if (!isWellFormedSecret("inv", token)) {
		throw badFields([
			{
				field: "token",
				message:
					"must be the text after the # of an invitation link; copy the whole link",
			},
		]);
	}
	return hashSecret(token);
}

/** Returns one error for all causes, so that a link reveals nothing to the wrong user. */
export function unusableInvitation(): AppError {
	return new AppError(
		"bad_request",
		"the invitation is used, revoked, expired or for another e-mail address than yours; ask an administrator of the organization for a new one",
	);
}

const SELECT = `
	select i.id, i.organization_id, i.email, i.role, i.ends_on::text as ends_on,
		i.writable_registers, i.reads_audit_log, i.invited_by, i.created_at, i.expires_at,
		i.expires_at <= now() as is_expired
	from invitations i`;

async function findInvitation(
	{ client, membership }: Context,
	id: string,
): Promise<Invitation | undefined> {
	const { rows } = await client.query<Invitation>(
		`${SELECT} where i.organization_id = $1 and i.id = $2`,
		[membership.organizationId, id],
	);
	return rows[0];
}

async function rejectMember(
	{ client, membership }: Context,
	email: string,
): Promise<void> {
	const { rows } = await client.query<{ ended_on: string | null }>(
		`select case when not is_live_membership(m.organization_id, m.ends_on)
			then m.ends_on::text end as ended_on
		from memberships m join users u on u.id = m.user_id
		where m.organization_id = $1 and u.email = $2`,
		[membership.organizationId, email],
	);
	const [member] = rows;
	if (!member) return;
	throw badFields([
		{
			field: "email",
			message: member.ended_on
				? `belongs to a member whose membership ended on ${member.ended_on}; give it a new last day instead`
				: "already belongs to a member; change the member's role instead",
		},
	]);
}

/** Returns the change for the audit log when an invitation is revoked. */
export function revokedChange({
	id,
	email,
}: {
	id: string;
	email: string;
}): Change {
	return {
		kind: "invitation",
		id,
		name: email,
		fields: { status: { before: "OPEN", after: "REVOKED" } },
	};
}
