import { type Command, Option } from "commander";
import type { Pool, PoolClient } from "pg";
import { readConfig } from "../config/config.ts";
import { transaction } from "../db/pool.ts";
import { AppError } from "../errors.ts";
import { testMail } from "../mail/composers.ts";
import { FAILURE_ADVICE, failureOf } from "../mail/failure.ts";
import {
	DUE_AGAIN,
	MAIL_STATES,
	type MailKind,
	requireUnsent,
} from "../mail/queue.ts";
import { sendMessage } from "../mail/send.ts";
import { parseEmail } from "./email.ts";
import { print, printable, table } from "./output.ts";
import { wholeNumber } from "./simulate.ts";
import { withDatabase } from "./with-database.ts";

const LISTED = 100;
const MAX_LISTED = 10_000;

export function addMail(program: Command): void {
	const mail = program
		.command("mail")
		.description("Try the mail server, and look after the queued mails.");
	mail
		.command("test")
		.description(
			"Send a test mail at once, without the database. If it fails, say why and what to do.",
		)
		.argument("<to>", "e-mail address that gets the mail", parseEmail)
		.option("--json", "print the result as JSON")
		.action(async (to: string, options: { json?: boolean }) => {
			const { mail, baseUrl } = readConfig(process.env);
			if (!mail) {
				throw new AppError(
					"bad_request",
					"ASSAY_SMTP_URL is not set, so the service sends no mail; set it and ASSAY_MAIL_FROM",
				);
			}
			const { host } = new URL(mail.smtpUrl);
			await sendMessage(mail, testMail(to, baseUrl)).catch((error) => {
				const { kind, text } = failureOf(error, mail);
				throw new AppError(
					"service_unavailable",
					`${host} did not take the mail: ${text}. ${FAILURE_ADVICE[kind]}`,
				);
			});
			print(
				options,
				{ to, server: host },
				`${host} took the mail to ${to}. Look for it in the mailbox, and among the spam.`,
			);
		});
	mail
		.command("list")
		.description(
			"List the last mails of all organizations and about accounts, newest first.",
		)
		.option(
			"--limit <count>",
			"most mails that are listed",
			wholeNumber(1, MAX_LISTED),
			LISTED,
		)
		.addOption(
			new Option("--state <state>", "only the mails in this state").choices(
				MAIL_STATES,
			),
		)
		.option("--json", "print the mails as JSON")
		.action(async (options: Listing & { json?: boolean }) => {
			const { mails, total } = await withDatabase(({ identityPool }) =>
				readMails(identityPool, options),
			);
			print(options, { mails, total }, describeMails(mails, total));
		});
	mail
		.command("retry")
		.description(
			"Let the service try again to send a mail that is QUEUED or FAILED.",
		)
		.argument("<id>", "id of the mail, as `assay mail list` shows it")
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: { json?: boolean }) => {
			await withDatabase(({ identityPool }) =>
				transaction(identityPool, {}, (client) => retryMail(client, id)),
			);
			print(
				options,
				{ retried_mail_id: id },
				"The service tries to send the mail again within a few seconds.",
			);
		});
}

interface ListedMail {
	id: string;
	/** Null for a mail about an account. */
	organization_id: string | null;
	kind: MailKind;
	/** Null for a mail to a person of a register, whose rows this role cannot read. */
	recipient: string | null;
	state: string;
	attempts: number;
	created_at: Date;
	sent_at: Date | null;
	next_attempt_at: Date | null;
	failure: string | null;
	failure_text: string | null;
}

interface Listing {
	limit: number;
	state?: string;
}

/** Returns the last mails, and how many there are in all. */
async function readMails(
	pool: Pool,
	{ limit, state }: Listing,
): Promise<{ mails: ListedMail[]; total: number }> {
	const { rows } = await pool.query<ListedMail & { total: number }>(
		`select m.id, m.organization_id, m.kind, coalesce(i.email, u.email) as recipient, m.state,
			m.attempts, m.created_at, m.sent_at, m.due_at as next_attempt_at, m.failure, m.failure_text,
			(count(*) over ())::int as total
		from mails m
		left join invitations i on i.organization_id = m.organization_id and i.id = m.invitation_id
		left join users u on u.id = m.user_id
		where $1::text is null or m.state = $1
		order by m.created_at desc, m.id limit $2`,
		[state ?? null, limit],
	);
	return {
		mails: rows.map(({ total, ...mail }) => mail),
		total: rows[0]?.total ?? 0,
	};
}

function describeMails(mails: ListedMail[], total: number): string {
	if (total === 0) return "There are no mails.";
	const rows = mails.map((one) => [
		one.id,
		one.kind,
		printable(one.recipient ?? ""),
		one.state,
		one.created_at.toISOString(),
		printable(one.failure_text ?? ""),
	]);
	const listed = table(
		["ID", "KIND", "RECIPIENT", "STATE", "QUEUED", "FAILURE"],
		rows,
	);
	if (mails.length === total) return listed;
	return `${listed}\n\nThese are the last ${mails.length} of ${total} mails. --limit ${Math.min(total, MAX_LISTED)} shows more, and --state FAILED only those that were given up.`;
}

async function retryMail(client: PoolClient, id: string): Promise<void> {
	const { rows } = await client.query<{ state: string }>(
		"select state from mails where id = $1 for update",
		[id],
	);
	if (!rows[0]) {
		throw new AppError(
			"not_found",
			"there is no mail with this id; `assay mail list` shows the ids",
		);
	}
	requireUnsent(rows[0].state);
	await client.query(`update mails set ${DUE_AGAIN} where id = $1`, [id]);
}
