import type { Command } from "commander";
import { withTenant } from "../db/pool.ts";
import { parseOrganizationId } from "../organizations/organization-store.ts";
import { trustOrganization } from "../organizations/trust.ts";
import { systemPrincipal } from "../principal.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

/** Adds the command that lifts the limits of an organization that a user made. */
export function addOrgTrust(org: Command): void {
	org
		.command("trust")
		.argument("<id>", "id of the organization")
		.description(
			"Let an organization that was made in the console mail and invite people who are not members without a limit.",
		)
		.option("--json", "print the result as JSON")
		.action(async (id: string, options: { json?: boolean }) => {
			const organizationId = parseOrganizationId(id);
			const isChanged = await withDatabase(({ pool }) =>
				withTenant(pool, organizationId, (client) =>
					trustOrganization(client, systemPrincipal(), organizationId),
				),
			);
			print(
				options,
				{ organization_id: organizationId, has_mail_limits: false },
				isChanged
					? "The organization may mail and invite people who are not members without a limit."
					: "The organization has no such limit.",
			);
		});
}
