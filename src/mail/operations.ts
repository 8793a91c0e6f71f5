import type { PoolClient } from "pg";
import { z } from "zod";
import { AppError } from "../errors.ts";
import { notFound } from "../invoke.ts";
import { type Context, defineOperation } from "../operation.ts";
import { organizationId } from "../records/list-pages.ts";
import { idSchema } from "../records/text-schemas.ts";
import { FAILURE_ADVICE, MAIL_FAILURES } from "./failure.ts";
import { MAX_LISTED_MAILS } from "./kept-mails.ts";
import {
	DUE_AGAIN,
	MAIL_STATES,
	ORGANIZATION_MAIL_KINDS,
	queueMail,
	requireUnsent,
} from "./queue.ts";

const MAX_TESTS_AN_HOUR = 5;

const admin = {
	toolset: "members",
	surface: "console",
	access: "admin",
	tenant: "organization_id",
} as const;

const mail = z.object({
	id: z.string(),
	kind: z.enum(ORGANIZATION_MAIL_KINDS),
	recipient: z.string().nullable(),
	state: z.enum(MAIL_STATES),
	attempts: z.int(),
	created_at: z.string(),
	sent_at: z.string().nullable(),
	next_attempt_at: z.string().nullable(),
	failure: z
		.object({
			kind: z.enum(MAIL_FAILURES),
			text: z.string(),
			advice: z.string(),
		})
		.nullable()
		.describe("Why the last attempt failed"),
});

export const listMails = defineOperation({
	...admin,
	name: "listMails",
	title: "List mails",
	description:
		"List the last 100 mails of an organization, newest first, with their state. Mails about accounts, such as a forgotten password, are not among them.",
	isReadOnly: true,
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({
		sends_mail: z.boolean().describe("false: the service has no mail server"),
		mails: z.array(mail),
	}),
	run: async ({ client, membership, services }) => {
		const { rows } = await client.query(
			`select m.id, m.kind, coalesce(i.email, u.email, p.primary_email_address) as recipient, m.state, m.attempts,
				m.created_at, m.sent_at, m.due_at as next_attempt_at, m.failure, m.failure_text
			from mails m
			left join invitations i on i.organization_id = m.organization_id and i.id = m.invitation_id
			left join users u on u.id = m.user_id
			left join people p on p.organization_id = m.organization_id and p.id = m.people_id
			where m.organization_id = $1
			order by m.created_at desc, m.id limit ${MAX_LISTED_MAILS}`,
			[membership.organizationId],
		);
		return {
			sends_mail: services.mail !== undefined,
			mails: rows.map(({ failure, failure_text, ...row }) => ({
				...row,
				failure: failure && {
					kind: failure,
					text: failure_text,
					advice: FAILURE_ADVICE[failure as keyof typeof FAILURE_ADVICE],
				},
			})),
		};
	},
});

export const retryMail = defineOperation({
	...admin,
	name: "retryMail",
	title: "Retry a mail",
	description:
		"Try to send a mail again now, after its attempts have failed or before the next one is due.",
	input: z.strictObject({
		organization_id: organizationId(),
		id: idSchema("mail"),
	}),
	output: z.object({ retried_mail_id: z.string() }),
	run: async (context, { id }) => {
		const { client, membership, services } = context;
		requireMailServer(services.mail);
		const { rows } = await client.query<{ kind: string; state: string }>(
			"select kind, state from mails where organization_id = $1 and id = $2 for update",
			[membership.organizationId, id],
		);
		const [found] = rows;
		if (!found) throw notFound(id);
		requireUnsent(found.state);
		await client.query(
			`update mails set ${DUE_AGAIN} where organization_id = $1 and id = $2`,
			[membership.organizationId, id],
		);
		context.changed({
			kind: "mail",
			id,
			name: found.kind,
			fields: { state: { before: found.state, after: "QUEUED" } },
		});
		context.afterCommit(() => services.mail?.wake());
		return { retried_mail_id: id };
	},
});

export const sendTestMail = defineOperation({
	...admin,
	name: "sendTestMail",
	title: "Send a test mail",
	description:
		"Queue a mail to your own address that shows whether the service can send mail.",
	input: z.strictObject({ organization_id: organizationId() }),
	output: z.object({ mail_id: z.string() }),
	run: async (context) => ({ mail_id: await queueTestMail(context) }),
});

/**
 * Queues a test mail to the caller and returns its id. Throws bad_request if the service sends no
 * mail, or the caller has sent too many test mails.
 */
export async function queueTestMail(context: Context): Promise<string> {
	const { client, membership, principal, services } = context;
	requireMailServer(services.mail);
	await rejectTooManyTests(client);
	const id = await queueMail(client, {
		kind: "TEST",
		organizationId: membership.organizationId,
		userId: principal.userId,
	});
	context.changed({
		kind: "mail",
		id,
		name: "TEST",
		fields: { state: { after: "QUEUED" } },
	});
	context.afterCommit(() => services.mail?.wake());
	return id;
}

/** Throws bad_request if the caller has sent too many test mails, in whatever organization. */
async function rejectTooManyTests(client: PoolClient): Promise<void> {
	const { rows } = await client.query<{ may: boolean }>(
		"select may_send_test_mail($1) as may",
		[MAX_TESTS_AN_HOUR],
	);
	if (rows[0]?.may) return;
	throw new AppError(
		"bad_request",
		`you have sent ${MAX_TESTS_AN_HOUR} test mails within an hour, which is the maximum; try again later`,
	);
}

/** Throws bad_request if the service sends no mail. */
export function requireMailServer(mail: object | undefined): void {
	if (mail) return;
	throw new AppError(
		"bad_request",
		"this service sends no mail; its operator has to set ASSAY_SMTP_URL and ASSAY_MAIL_FROM",
	);
}
