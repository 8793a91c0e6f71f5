import type { Client } from "pg";
import type { Config, MailConfig } from "../config/config.ts";
import { setRole } from "../db/roles.ts";
import { FAILURE_ADVICE, failureOf } from "../mail/failure.ts";
import { tryMailServer } from "../mail/send.ts";
import { type MailCounts, readMailCounts } from "../metrics/mails.ts";
import {
	type Encryption,
	examineEncryption,
} from "../sign-in/second-factor-encryption.ts";
import { findSecret } from "../sign-in/server-secret.ts";
import { COMMAND } from "../version.ts";
import type { Finding } from "./doctor.ts";

/**
 * Reports how many accounts count as proven only because they were created before Assay recorded
 * proofs.
 */
export async function examineAccounts(client: Client): Promise<Finding> {
	await client.query("begin");
	await client.query(setRole("identity", "transaction"));
	const { rows } = await client.query<{ count: number; emails: string }>(
		`select count(*)::integer as count, coalesce(string_agg(email, ', ') filter (where n <= 5), '') as emails
		from (
			select email, row_number() over (order by email) as n
			from users where address_proof = 'ASSUMED'
		) assumed`,
	);
	await client.query("rollback");
	const { count, emails } = rows[0] ?? { count: 0, emails: "" };
	if (count === 0) {
		return {
			check: "accounts",
			status: "ok",
			found: "no account is trusted without a proven e-mail address",
		};
	}
	return {
		check: "accounts",
		status: "ok",
		found: `${count} accounts are older than the check that proves an e-mail address, and are trusted without it: ${emails}${count > 5 ? " …" : ""}`,
		advice: `\`${COMMAND} user list --assumed\` lists them all; ask the users that you do not know to set a new password with a mailed link; see docs/security.md`,
	};
}

/** Reports second factors that the secret of the service does not decrypt. */
export async function examineSecondFactors(
	client: Client,
	config: Config,
): Promise<Finding> {
	const check = "second factors";
	const secret = await findSecret(config);
	await client.query("begin");
	await client.query(setRole("identity", "transaction"));
	const found = await examineEncryption(client, {
		secret: secret ?? "",
		previousSecret: config.previousSecret,
	});
	await client.query("rollback");
	const count = (encryption: Encryption) =>
		found.filter((one) => one.encryption === encryption).length;
	if (count("UNREADABLE") > 0) {
		return {
			check,
			status: "problem",
			found: `${count("UNREADABLE")} of ${found.length} second factors cannot be decrypted, because the secret of the service was changed`,
			advice: `set ASSAY_SECRET_PREVIOUS to the former secret; if it is lost, \`${COMMAND} user list --unreadable-two-factor\` lists the users, and \`${COMMAND} user reset-two-factor --unreadable\` removes their second factors`,
		};
	}
	if (count("PREVIOUS") > 0) {
		return {
			check,
			status: "ok",
			found: `${count("PREVIOUS")} of ${found.length} second factors are still encrypted with ASSAY_SECRET_PREVIOUS; each moves to the new secret when its user signs in`,
			advice:
				"keep ASSAY_SECRET_PREVIOUS until this number is 0, and then remove it",
		};
	}
	const isLeftOver = config.previousSecret !== undefined;
	return {
		check,
		status: "ok",
		found: `the secret of the service decrypts all ${found.length} second factors`,
		...(isLeftOver && {
			advice:
				"remove ASSAY_SECRET_PREVIOUS as soon as the receivers of webhooks have their new secrets",
		}),
	};
}

/** Reports mails that could not be sent, or not yet. */
export async function examineMails(client: Client): Promise<Finding> {
	await client.query("begin");
	await client.query(setRole("identity", "transaction"));
	const counts = await readMailCounts(client);
	await client.query("rollback");
	return describeMails(counts);
}

export function describeMails({
	retrying,
	failed,
}: Pick<MailCounts, "retrying" | "failed">): Finding {
	if (failed === 0 && retrying === 0) {
		return {
			check: "mails",
			status: "ok",
			found:
				"no mail of the last two days was given up or waits for another attempt",
		};
	}
	return {
		check: "mails",
		status: "warning",
		found: `mails of the last two days that were given up: ${failed}; waiting for another attempt: ${retrying}`,
		advice: `\`${COMMAND} mail list\` shows the reason of each, and \`${COMMAND} mail retry\` tries again; administrators see those of their organization under Settings → Mail`,
	};
}

/** Connects to the mail server as for a mail, and signs in. */
async function tryMail(mail: MailConfig): Promise<Finding> {
	const { hostname } = new URL(mail.smtpUrl);
	try {
		await tryMailServer(mail);
	} catch (error) {
		const { kind, text } = failureOf(error, mail);
		return {
			check: "mail server",
			status: "problem",
			found: `${hostname} does not take mails: ${text}`,
			advice: FAILURE_ADVICE[kind],
		};
	}
	return {
		check: "mail server",
		status: "ok",
		found: `${hostname} accepts the login; ${COMMAND} mail test ADDRESS sends a mail`,
	};
}

/**
 * Warns if the mail server cannot be used, and if mails may be sent without TLS. Mails contain
 * links that sign a user in.
 */
export async function examineMail({ mail }: Config): Promise<Finding[]> {
	if (!mail) return [];
	return [...examineTls(mail), await tryMail(mail)];
}

function examineTls(mail: MailConfig): Finding[] {
	const { hostname } = new URL(mail.smtpUrl);
	if (mail.requiresTls) {
		return [
			{
				check: "mail",
				status: "ok",
				found: `mails go to ${hostname} over TLS or not at all`,
			},
		];
	}
	const isLocal = /^(localhost|127\.|\[::1\])/.test(hostname);
	return [
		{
			check: "mail",
			status: isLocal ? "ok" : "warning",
			found: `mails may go to ${hostname} without TLS`,
			...(!isLocal && {
				advice:
					"remove requireTLS=false or ignoreTLS=true from ASSAY_SMTP_URL, because anybody on the network path can read the links and the password",
			}),
		},
	];
}
