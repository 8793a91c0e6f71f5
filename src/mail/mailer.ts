import type { Pool } from "pg";
import type { Logger } from "pino";
import type { MailConfig } from "../config/config.ts";
import { isConnectionTrouble } from "../errors.ts";
import { type FirstLooks, startPoller } from "../jobs/poller.ts";
import { retrySeconds } from "../jobs/retry.ts";
import { type Failure, failureOf } from "./failure.ts";
import { makeFailureLog } from "./failure-log.ts";
import type { Message } from "./message.ts";
import type { MailKind } from "./queue.ts";
import { sendMessage } from "./send.ts";

/** What operations know of the mailer. It sends what `queueMail` stored. */
export interface Mailer {
	/** Says that a mail was queued. Call it after the commit. */
	wake: () => void;
	/** Resolves when every mail that was due has been tried. */
	idle: () => Promise<void>;
}

/** A mail that this process has taken. */
export interface TakenMail {
	id: string;
	organization_id: string | null;
	kind: MailKind;
	invitation_id: string | null;
	user_id: string | null;
	people_id: string | null;
	attempts: number;
	is_link_made: boolean;
}

/** The data that the text of a mail is made from. */
export interface ComposeParts {
	/** A pool that acts as assay_identity. */
	pool: Pool;
	/** A pool that acts as assay_app, for the data of an organization. */
	appPool: Pool;
	baseUrl: string;
	/** The secret of the service, from which the secrets in links are derived. */
	secret: string;
}

/** Makes the text of a mail when it is sent. Returns null if nobody needs the mail any more. */
export type Compose = (
	parts: ComposeParts,
	mail: TakenMail,
) => Promise<Message | null>;

const POLL_MS = 5_000;
const SENT_TOGETHER = 4;

/** Sending takes at most a minute. A process that has not reported by then has died. */
const TAKEN_MINUTES = 2;

/** With waits of at most four hours, the last attempt is about 16 hours after the first. */
const MAX_ATTEMPTS = 12;
const MAX_WAIT_SECONDS = 4 * 3600;

/** The failure of a mail whose text could not be made. */
const OWN_ERROR: Failure = {
	kind: "OTHER",
	text: "Assay had an internal error; the log of the service says more",
	isFinal: false,
};

/**
 * Sends queued mails through the server in ASSAY_SMTP_URL. Several processes may do so at once. A
 * mail is sent at least once: a process that dies between sending and noting it leaves the mail to
 * the next attempt, with the same Message-ID and the same link.
 */
export function startMailer(
	config: MailConfig,
	parts: ComposeParts,
	composers: Record<MailKind, Compose>,
	log: Logger,
	firstLooks?: FirstLooks,
): Mailer & { stop: () => Promise<void> } {
	const { pool, baseUrl } = parts;
	const { hostname } = new URL(baseUrl);
	const logFailure = makeFailureLog(log);

	async function deliver(mail: TakenMail): Promise<void> {
		let message: Message | null;
		try {
			message = await composers[mail.kind](parts, mail);
		} catch (err) {
			// While the database is away, nothing can be noted. The mail becomes due again by itself.
			if (isConnectionTrouble(err)) throw err;
			log.error(
				{ err, mail: mail.id, about: mail.kind },
				"could not write a mail",
			);
			return postpone(pool, mail, OWN_ERROR);
		}
		if (!message) return finish(pool, mail, "NOT_NEEDED");
		try {
			await sendMessage(config, message, `<${mail.id}@${hostname}>`);
		} catch (error) {
			const failure = failureOf(error, config);
			await postpone(pool, mail, failure);
			logFailure(mail, failure);
			return;
		}
		await finish(pool, mail, "SENT");
	}

	return startPoller(
		"mail",
		POLL_MS,
		async () => {
			const taken = await takeMails(pool);
			const done = await Promise.allSettled(taken.map(deliver));
			const failed = done.find(({ status }) => status === "rejected");
			if (failed) throw (failed as PromiseRejectedResult).reason;
			return taken.length > 0;
		},
		log,
		firstLooks,
	);
}

/** Takes mails that are due, so that no other process takes them meanwhile. */
async function takeMails(pool: Pool): Promise<TakenMail[]> {
	const { rows } = await pool.query<TakenMail>(
		`update mails set attempts = attempts + 1, due_at = now() + $2 * interval '1 minute'
		where id = any (array(
			select id from mails where state = 'QUEUED' and due_at <= now()
			order by due_at limit $1 for update skip locked
		))
		returning id, organization_id, kind, invitation_id, user_id, people_id, attempts, is_link_made`,
		[SENT_TOGETHER, TAKEN_MINUTES],
	);
	return rows;
}

/** Notes the end of a mail, unless another process has taken the mail in the meantime. */
async function finish(
	pool: Pool,
	{ id, attempts }: TakenMail,
	state: "SENT" | "NOT_NEEDED",
): Promise<void> {
	await pool.query(
		`update mails set state = $3, due_at = null, failure = null, failure_text = null,
			sent_at = case when $3 = 'SENT' then now() end
		where id = $1 and attempts = $2 and state = 'QUEUED'`,
		[id, attempts, state],
	);
}

async function postpone(
	pool: Pool,
	{ id, attempts }: TakenMail,
	{ kind, text, isFinal }: Failure,
): Promise<void> {
	const isOver = isFinal || attempts >= MAX_ATTEMPTS;
	await pool.query(
		`update mails set failure = $3, failure_text = $4,
			state = case when $5 then 'FAILED' else state end,
			due_at = case when not $5 then now() + $6 * interval '1 second' end
		where id = $1 and attempts = $2 and state = 'QUEUED'`,
		[
			id,
			attempts,
			kind,
			text,
			isOver,
			retrySeconds(attempts, MAX_WAIT_SECONDS),
		],
	);
}
