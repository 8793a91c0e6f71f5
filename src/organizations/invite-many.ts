import { z } from "zod";
import { textArray } from "../db/array.ts";
import { badFields } from "../errors.ts";
import { makeId } from "../id.ts";
import { queueMail } from "../mail/queue.ts";
import { type Context, defineOperation } from "../operation.ts";
import { ROLES, type Role } from "../principal.ts";
import { organizationId } from "../records/list-pages.ts";
import { hashSecret, makeSecret } from "../tokens/secret.ts";
import { INVITATION_DAYS } from "./days.ts";
import { readInvitationFile, type Wanted } from "./invitation-csv.ts";
import {
	MAX_OF_ADDRESS_A_DAY,
	mayMail,
	rejectBulk,
} from "./invitation-limits.ts";
import { invitationUrl } from "./invitation-mail.ts";
import { revokedChange } from "./invitation-operations.ts";
import { MAX_OPEN } from "./max-invitations.ts";

const MAX_CSV = 400_000;
const DEFAULT_ROLE: Role = "member";

const SKIPPED = ["MEMBER", "INVITED", "TOO_OFTEN"] as const;

export const inviteMembers = defineOperation({
	name: "inviteMembers",
	title: "Invite many members",
	description: `Invite up to ${MAX_OPEN} people from CSV with the columns email and role (viewer, member or admin). Other columns are not read, and unknown_columns names them. Members and people with an open invitation are skipped, so the same file can be sent again. With dry_run, nothing happens and problems says what is wrong with which line; without it, a wrong line fails the whole call.`,
	toolset: "members",
	access: "admin",
	surface: "console",
	tenant: "organization_id",
	input: z.strictObject({
		organization_id: organizationId(),
		csv: z
			.string()
			.max(MAX_CSV)
			.describe("The text of the file, with a line of headings"),
		role: z
			.enum(ROLES)
			.optional()
			.describe(`Role of lines without one; ${DEFAULT_ROLE} by default`),
		dry_run: z
			.boolean()
			.optional()
			.describe("Only say what would happen; false by default"),
	}),
	output: z.object({
		invited: z.array(
			z.object({
				email: z.string(),
				role: z.enum(ROLES),
				is_mailed: z.boolean().describe("true: a mail with a link is queued"),
				invitation_url: z
					.string()
					.optional()
					.describe("Link to pass on; shown only now, and not by dry_run"),
			}),
		),
		skipped: z.array(
			z.object({
				line: z.int(),
				email: z.string(),
				reason: z
					.enum(SKIPPED)
					.describe(
						`TOO_OFTEN: invited ${MAX_OF_ADDRESS_A_DAY} times within a day`,
					),
			}),
		),
		problems: z.array(z.object({ line: z.int(), message: z.string() })),
		unknown_columns: z
			.array(z.string())
			.describe("Headings of columns that are not read"),
	}),
	run: async (
		context,
		{ csv, role = DEFAULT_ROLE, dry_run: isTrial = false },
	) => {
		const { wanted, problems, unknownColumns } = await readInvitationFile(
			csv,
			role,
		);
		if (problems.length > 0 && !isTrial) {
			throw badFields(
				problems.slice(0, 20).map(({ line, message }) => ({
					field: `csv line ${line}`,
					message,
				})),
			);
		}
		const open = await rejectBulk(context);
		const { invitable, skipped } = await select(context, wanted);
		if (open + invitable.length > MAX_OPEN) {
			throw badFields([
				{
					field: "csv",
					message: `would make ${open + invitable.length} open invitations; the maximum of an organization is ${MAX_OPEN}`,
				},
			]);
		}
		const invited = isTrial
			? invitable.map(({ email, role }) => ({
					email,
					role,
					is_mailed: context.services.mail !== undefined,
				}))
			: await invite(context, invitable);
		return { invited, skipped, problems, unknown_columns: unknownColumns };
	},
});

/** Finds out with one statement who need not or may not be invited. */
async function select(
	{ client, membership }: Context,
	wanted: readonly Wanted[],
) {
	const { rows } = await client.query<{
		reason: (typeof SKIPPED)[number] | null;
	}>(
		`select case
			when exists (
				select from memberships m join users u on u.id = m.user_id
				where m.organization_id = $1 and u.email = g.email
			) then 'MEMBER'
			when exists (
				select from invitations i
				where i.organization_id = $1 and i.email = g.email and i.accepted_at is null
					and i.revoked_at is null and i.expires_at > now()
			) then 'INVITED'
			when $3 <= (
				select count(*) from invitations i
				where i.organization_id = $1 and i.email = g.email
					and i.created_at > now() - interval '1 day'
			) or $3 <= invitations_sent(g.email) then 'TOO_OFTEN'
		end as reason
		from unnest($2::text[]) with ordinality g (email, n)
		order by g.n`,
		[
			membership.organizationId,
			textArray(wanted.map(({ email }) => email)),
			MAX_OF_ADDRESS_A_DAY,
		],
	);
	const skipped = wanted.flatMap(({ line, email }, index) => {
		const reason = rows[index]?.reason;
		return reason ? [{ line, email, reason }] : [];
	});
	const invitable = wanted.filter((_, index) => !rows[index]?.reason);
	return { invitable, skipped };
}

/**
 * Stores the invitations, and queues the mails that the caller may still send today. Expired
 * invitations of the same addresses are revoked, as with a single invitation.
 */
async function invite(
	context: Context,
	invitable: readonly Wanted[],
): Promise<
	{ email: string; role: Role; is_mailed: boolean; invitation_url: string }[]
> {
	const { client, membership, principal, services } = context;
	const { organizationId } = membership;
	const { rows: replaced } = await client.query<{ id: string; email: string }>(
		`update invitations set revoked_at = now()
		where organization_id = $1 and email = any ($2::text[]) and accepted_at is null
			and revoked_at is null
		returning id, email`,
		[organizationId, textArray(invitable.map(({ email }) => email))],
	);
	for (const one of replaced) context.changed(revokedChange(one));
	const bulkId = makeId(organizationId, "invitation");
	let mayStillMail = services.mail !== undefined;
	const made = [];
	for (const { email, role } of invitable) {
		const id = makeId(organizationId, "invitation");
		const token = makeSecret("inv");
		// Counts the mails before this one, so each has to be stored before the next is asked for.
		mayStillMail &&= await mayMail(context);
		await client.query({
			name: "invite_in_bulk",
			text: `insert into invitations (
					organization_id, id, email, role, token_hash, invited_by, invited_by_id, expires_at,
					is_mailed, bulk_id
				)
				values ($1, $2, $3, $4, decode($5, 'hex'), $6, $7, now() + $8 * interval '1 day', $9, $10)`,
			values: [
				organizationId,
				id,
				email,
				role,
				hashSecret(token),
				principal.name,
				principal.userId,
				INVITATION_DAYS,
				mayStillMail,
				bulkId,
			],
		});
		if (mayStillMail) {
			await queueMail(client, {
				kind: "INVITATION",
				organizationId,
				invitationId: id,
			});
		}
		context.changed({
			kind: "invitation",
			id,
			name: email,
			fields: { email: { after: email }, role: { after: role } },
		});
		made.push({
			email,
			role,
			is_mailed: mayStillMail,
			invitation_url: invitationUrl(services.baseUrl, token),
		});
	}
	context.afterCommit(() => services.mail?.wake());
	return made;
}
