import type { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { testMail } from "../mail/composers.ts";
import { FAILURE_ADVICE, failureOf } from "../mail/failure.ts";
import { sendMessage } from "../mail/send.ts";
import { parseEmail } from "./email.ts";
import { print } from "./output.ts";

export function addMail(program: Command): void {
	program
		.command("mail")
		.description("Try the mail server.")
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
}
