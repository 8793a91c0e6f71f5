import type { MailConfig } from "../config/config.ts";
import { plainReason } from "../errors.ts";
import { withoutAddresses } from "../log.ts";

/** Kinds of failure, each with what to do about it. */
export const FAILURE_ADVICE = {
	CERTIFICATE:
		"The service does not trust the mail server's certificate. ASSAY_SMTP_URL must contain a name that the certificate covers. For a certificate of a private authority, set NODE_EXTRA_CA_CERTS to a file with that authority's certificate.",
	LOGIN:
		"Check the user and the password in ASSAY_SMTP_URL, and add them if the server requires a login. Percent-encode special characters. Some providers require a password for applications.",
	TLS: "The mail server did not offer TLS on this port. Use smtps:// with port 465, or a port with STARTTLS such as 587. A server that you trust without TLS needs ?requireTLS=false.",
	CONNECTION:
		"The service cannot reach the mail server. Check the host and the port in ASSAY_SMTP_URL, and whether a firewall lets the service connect. A port that expects TLS at once, such as 465, needs smtps://.",
	RECIPIENT:
		"The mail server does not accept this address. Correct the address, and invite it again.",
	SENDER:
		"The mail server does not let the service send as ASSAY_MAIL_FROM. Use a sender that belongs to the login.",
	OTHER: "The log of the mail server may say more.",
} as const;

export type MailFailure = keyof typeof FAILURE_ADVICE;

export const MAIL_FAILURES = Object.keys(FAILURE_ADVICE) as [
	MailFailure,
	...MailFailure[],
];

export interface Failure {
	kind: MailFailure;
	/** The mail server's words, without addresses and without the password. */
	text: string;
	/** True if a further attempt would fail in the same way. */
	isFinal: boolean;
}

/** What nodemailer calls the timeout of a server that has greeted it before. */
const STALLED = "SOCKET_TIMEOUT";
const MAX_TEXT = 500;
/** A server seldom repeats a password, and a shorter one protects nothing. */
const SHORTEST_HIDDEN = 6;

interface SmtpError extends Error {
	code?: string;
	command?: string;
	responseCode?: number;
	timeoutType?: string;
}

/** Returns why a mail was not sent. */
export function failureOf(error: unknown, { smtpUrl }: MailConfig): Failure {
	const given = error as SmtpError;
	const message =
		given.timeoutType === STALLED
			? "the mail server answered at first, and then no more"
			: plainReason(String(given.message ?? error));
	const kind = kindOf(given, message);
	return {
		kind,
		text: withoutAddresses(withoutPassword(message, smtpUrl)).slice(
			0,
			MAX_TEXT,
		),
		isFinal: kind === "RECIPIENT" && (given.responseCode ?? 0) >= 500,
	};
}

function kindOf(error: SmtpError, message: string): MailFailure {
	const { code, command, responseCode, timeoutType } = error;
	if (timeoutType === STALLED) return "OTHER";
	// A server that first wants a login or TLS answers MAIL FROM with 530 (RFC 4954, RFC 3207).
	if (responseCode === 530) return /STARTTLS/i.test(message) ? "TLS" : "LOGIN";
	if (code === "EAUTH" || code === "ENOAUTH") return "LOGIN";
	if (code === "EENVELOPE" && command === "MAIL FROM") return "SENDER";
	if (code === "EENVELOPE" && command === "RCPT TO") return "RECIPIENT";
	if (/certificate|altnames|CERT_/i.test(message)) return "CERTIFICATE";
	if (code === "ETLS" || /SSL|TLS|wrong version/i.test(message)) return "TLS";
	if (
		[
			"ECONNECTION",
			"ECONNREFUSED",
			"EDNS",
			"ENOTFOUND",
			"ESOCKET",
			"ETIMEDOUT",
		].includes(code ?? "")
	) {
		return "CONNECTION";
	}
	return "OTHER";
}

/**
 * Replaces the password of the mail server's URL where it stands alone in the text, with or without
 * percent-encoding. A short one also occurs in ordinary words and is itself often one, and then
 * nobody could read the text.
 */
function withoutPassword(text: string, smtpUrl: string): string {
	const written = new URL(smtpUrl).password;
	return [written, decodePassword(written)]
		.filter(({ length }) => length >= SHORTEST_HIDDEN)
		.reduce(
			(rest, password) =>
				rest.replaceAll(password, (found: string, at: number) =>
					isInWord(rest[at - 1]) || isInWord(rest[at + found.length])
						? found
						: "[password]",
				),
			text,
		);
}

function isInWord(character = ""): boolean {
	return /[\p{L}\p{N}]/u.test(character);
}

function decodePassword(written: string): string {
	try {
		return decodeURIComponent(written);
	} catch {
		return written;
	}
}
