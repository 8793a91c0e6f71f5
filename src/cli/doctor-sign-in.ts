import type { Client } from "pg";
import type { Config } from "../config.ts";
import { setRole } from "../db/roles.ts";
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
		advice:
			"ask the users that you do not know to set a new password with a mailed link; see docs/security.md",
	};
}

/** Warns if mails may be sent without TLS. Mails contain links that sign a user in. */
export function examineMail({ mail }: Config): Finding[] {
	if (!mail) return [];
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
