import type { Logger } from "pino";
import type { MailConfig } from "../config.ts";

export interface Message {
	to: string;
	subject: string;
	/** Plain text, one line for each paragraph. */
	text: string;
}

export interface Mailer {
	/**
	 * Hands a message to the mail server without waiting for it, because the caller has been answered.
	 * A failure is logged with the address, never with the text.
	 */
	send: (message: Message) => void;
	/** Resolves when every message is sent or has failed. */
	idle: () => Promise<void>;
}

const TIMEOUT_MS = 10_000;

/** Sends mail by ASSAY_SMTP_URL; the code for it is loaded with the first message. */
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
				// Without it a network in between could hide that the server speaks TLS.
				requireTLS: requiresTls,
				connectionTimeout: TIMEOUT_MS,
				greetingTimeout: TIMEOUT_MS,
				socketTimeout: TIMEOUT_MS,
			});
			await transport.sendMail({
				...message,
				from,
				// Tells out-of-office programs not to answer.
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
				"a mail could not be sent; check ASSAY_SMTP_URL and ASSAY_MAIL_FROM",
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
 * Returns a name that somebody has chosen in the form for a mail to somebody else: on one line, short,
 * and with nothing that a mail program turns into a link. People believe what our mails say.
 */
export function nameInMail(name: string): string {
	const plain = name
		.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, " ")
		// Invisible characters, and those that change the direction of text.
		.replace(/\p{Cf}/gu, "")
		.replace(/([.:/\\@。．])(?=\S)/gu, "$1 ")
		.replace(/\s+/g, " ")
		.trim();
	const letters = [...plain];
	return letters.length <= MAX_NAME
		? plain
		: `${letters.slice(0, MAX_NAME).join("")}…`;
}

/** Removes the password of the server's address from the text, percent-encoded or not. */
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
