import type { Logger } from "pino";
import type { MailConfig } from "../config.ts";

export interface Message {
	to: string;
	subject: string;
	/** Text of the message, which is plain text. Each paragraph is one line. */
	text: string;
}

export interface Mailer {
	/**
	 * Passes a message to the mail server. The caller does not wait, because its own client has
	 * already got a response. If sending fails, the service logs the address but never the text.
	 */
	send: (message: Message) => void;
	/** Resolves when every message has been sent or has failed. */
	idle: () => Promise<void>;
}

const TIMEOUT_MS = 10_000;

/**
 * Returns a mailer that sends through the server in ASSAY_SMTP_URL. The code for SMTP is loaded
 * with the first message.
 */
export function makeMailer(
	{ smtpUrl, from, requiresTls }: MailConfig,
	log: Logger,
): Mailer {
	const underWay = new Set<Promise<void>>();

	async function deliver(message: Message): Promise<void> {
		try {
			const { createTransport } = await import("nodemailer");
			const transport = createTransport({
				url: smtpUrl,
				// Without this option, an attacker between the service and the mail server could hide that
				// the server supports TLS.
				requireTLS: requiresTls,
				connectionTimeout: TIMEOUT_MS,
				greetingTimeout: TIMEOUT_MS,
				socketTimeout: TIMEOUT_MS,
			});
			await transport.sendMail({
				...message,
				from,
				// The header tells out-of-office programs not to answer.
				headers: { "Auto-Submitted": "auto-generated" },
				disableFileAccess: true,
				disableUrlAccess: true,
			});
		} catch (error) {
			log.error(
				{
					to: message.to,
					subject: message.subject,
					reason: withoutPassword(String((error as Error).message), smtpUrl),
				},
				"could not send a mail; check ASSAY_SMTP_URL and ASSAY_MAIL_FROM",
			);
		}
	}

	return {
		send: (message) => {
			const delivery = deliver(message).finally(() =>
				underWay.delete(delivery),
			);
			underWay.add(delivery);
		},
		idle: async () => {
			await Promise.all(underWay);
		},
	};
}

const MAX_NAME = 80;

/**
 * Returns a user's name in a form that is safe in a mail to somebody else. The result is short, on
 * one line, and contains nothing that a mail program would turn into a link. People trust our
 * mails, so nobody may add text of their own through a name.
 */
export function nameInMail(name: string): string {
	const plain = name
		.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
		// Removes invisible characters and characters that change the direction of text.
		.replace(/\p{Cf}/gu, "")
		.replace(/([.:/\\@。．])(?=\S)/gu, "$1 ")
		.replace(/\s+/g, " ")
		.trim();
	const letters = [...plain];
	return letters.length <= MAX_NAME
		? plain
		: `${letters.slice(0, MAX_NAME).join("")}…`;
}

/**
 * Replaces the password of the mail server's URL in the text. The password may appear with or
 * without percent-encoding.
 */
function withoutPassword(text: string, smtpUrl: string): string {
	const written = new URL(smtpUrl).password;
	if (!written) return text;
	return text
		.replaceAll(written, "[password]")
		.replaceAll(decodePassword(written), "[password]");
}

function decodePassword(written: string): string {
	try {
		return decodeURIComponent(written);
	} catch {
		return written;
	}
}
