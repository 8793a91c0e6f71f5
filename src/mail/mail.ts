import type { Logger } from "pino";
import type { MailConfig } from "../config.ts";

export interface Message {
	to: string;
	subject: string;
	/** Plain text; lines of paragraphs. */
	text: string;
}

export interface Mailer {
	/**
	 * Hands a message to the mail server without waiting for it: what went wrong is in the log,
	 * as whoever caused it has been answered. The log has the address, never the text.
	 */
	send: (message: Message) => void;
	/** Resolves when what was handed over is sent or has failed. */
	idle: () => Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** Mail by ASSAY_SMTP_URL; the code for it is loaded with the first message. */
export function makeMailer({ smtpUrl, from }: MailConfig, log: Logger): Mailer {
	const underWay = new Set<Promise<void>>();

	async function deliver(message: Message): Promise<void> {
		try {
			const { createTransport } = await import("nodemailer");
			const transport = createTransport({
				url: smtpUrl,
				connectionTimeout: TIMEOUT_MS,
				greetingTimeout: TIMEOUT_MS,
				socketTimeout: TIMEOUT_MS,
			});
			await transport.sendMail({
				...message,
				from,
				// Nobody's out-of-office note answers a machine.
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
				"a mail could not be sent; look at ASSAY_SMTP_URL and ASSAY_MAIL_FROM",
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
 * A name that somebody has chosen, for a mail to somebody else: on one line, short, and nothing in it that a mail
 * program makes a link of. What stands in a mail of ours is believed.
 */
export function nameInMail(name: string): string {
	const plain = name
		.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
		// Invisible, or turning the direction of what follows.
		.replace(/\p{Cf}/gu, "")
		.replace(/([.:/\\@。．])(?=\S)/gu, "$1 ")
		.replace(/\s+/g, " ")
		.trim();
	const letters = [...plain];
	return letters.length <= MAX_NAME
		? plain
		: `${letters.slice(0, MAX_NAME).join("")}…`;
}

/** The text without the password of the server's address, however it is written. */
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
