import type { Command } from "commander";
import { withTenant } from "../db/pool.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { systemPrincipal } from "../principal.ts";
import { endSignInRule } from "../sign-in/only-provider/sign-in-rule.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

/** Adds the command that ends the rule that an organization accepts only its identity provider. */
export function addOrgSignIn(org: Command): void {
	org
		.command("allow-passwords")
		.argument("<id>", "id of the organization")
		.description(
			"Let members reach an organization again that accepts only its identity provider, with a password, a passkey or any API token.",
		)
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: { json?: boolean }) => {
			const organizationId = parseOrganizationId(id);
			await withDatabase(({ pool }) =>
				withTenant(pool, organizationId, (client) =>
					endSignInRule(client, systemPrincipal(), organizationId),
				),
			);
			print(
				options,
				{ organization_id: organizationId, only_provider: false },
				"The organization accepts every way to sign in again. Its administrators can change that under Settings, Sign-in.",
			);
		});
}
