import type { Command } from "commander";
import { asPrivacy } from "../privacy/privacy-transaction.ts";
import { type ErasedUser, eraseUser, exportUser } from "../privacy/user.ts";
import { parseEmail } from "./email.ts";
import { counted, print } from "./output.ts";
import { operator, printExport } from "./person.ts";
import { withDatabase } from "./with-database.ts";

interface Options {
	email: string;
	json?: boolean;
}

export function addUserPrivacy(user: Command): void {
	user
		.command("export")
		.description(
			"Print everything that Assay keeps about a user in all organizations as JSON: account, memberships, sessions, API tokens without secrets, entries of the audit log.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--json", "has no effect: the output is always JSON")
		.action(async (options: Options) => {
			const exported = await withDatabase(({ ownerConnection }) =>
				asPrivacy(ownerConnection, { isReadOnly: true }, (client) =>
					exportUser(client, options.email),
				),
			);
			printExport(options, exported);
		});
	user
		.command("erase")
		.description(
			"Delete an account with its sessions, API tokens and memberships, and remove the user's name and address from all audit logs, for good. An organization's last admin cannot be erased.",
		)
		.requiredOption(
			"--email <address>",
			"e-mail address of the user",
			parseEmail,
		)
		.option("--dry-run", "show what would be erased, and change nothing")
		.option("--json", "print the result as JSON")
		.action(async (options: Options & { dryRun?: boolean }) => {
			const isTrial = options.dryRun ?? false;
			const erased = await withDatabase(({ ownerConnection }) =>
				asPrivacy(ownerConnection, { isTrial }, (client) =>
					eraseUser(client, options.email, operator()),
				),
			);
			print(
				options,
				{ ...erased, is_dry_run: isTrial },
				describe(erased, isTrial),
			);
		});
}

function describe(erased: ErasedUser, isTrial: boolean): string {
	return [
		`${isTrial ? "Nothing was changed. The result would be: u" : "U"}ser ${erased.id} is deleted and called "${erased.name}" in the audit log; ${counted(erased.organizations_left, "membership")} ended, ${counted(erased.redacted_entries, "entry", "entries")} redacted.`,
		...erased.people.map(
			({ organization_id, id }) =>
				`A person with this address is in a register: assay person erase --org ${organization_id} --person ${id}`,
		),
	].join("\n");
}
