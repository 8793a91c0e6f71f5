import type { MailConfig } from "../config/config.ts";
import type { Message } from "./message.ts";

/** Longest wait for one step of the exchange with the mail server. */
const TIMEOUT_MS = 10_000;

/** Longest time that sending one mail may take. */
const MAX_MS = 60_000;

async function makeTransport({ smtpUrl, requiresTls }: MailConfig) {
	const { createTransport } = await import("nodemailer");
	return createTransport({
		url: smtpUrl,
		// Without this option, an attacker between the service and the mail server could hide that the
		// server supports TLS.
		requireTLS: requiresTls,
		connectionTimeout: TIMEOUT_MS,
		greetingTimeout: TIMEOUT_MS,
		socketTimeout: TIMEOUT_MS,
	});
}

/**
 * Passes a message to the mail server. A mail that is sent again keeps its `messageId`, so mail
 * programs can show it once. Rejects with the error of the mail server; `failureOf` explains it.
 */
export async function sendMessage(
	config: MailConfig,
	message: Message,
	messageId?: string,
): Promise<void> {
	const transport = await makeTransport(config);
	await within(
		transport.sendMail({
			...message,
			from: config.from,
			...(messageId && { messageId }),
			// The header tells out-of-office programs not to answer.
			headers: { ...message.headers, "Auto-Submitted": "auto-generated" },
			disableFileAccess: true,
			disableUrlAccess: true,
		}),
	);
}

/** Connects to the mail server and signs in, without sending anything. Rejects as `sendMessage`. */
export async function tryMailServer(config: MailConfig): Promise<void> {
	const transport = await makeTransport(config);
	await within(transport.verify());
}

async function within<Result>(work: Promise<Result>): Promise<Result> {
	const { promise, reject } = Promise.withResolvers<never>();
	const timer = setTimeout(
		() =>
			reject(
				Object.assign(
					new Error(`the mail server took more than ${MAX_MS / 1000} s`),
					{ code: "ETIMEDOUT" },
				),
			),
		MAX_MS,
	);
	try {
		return await Promise.race([work, promise]);
	} finally {
		clearTimeout(timer);
	}
}
