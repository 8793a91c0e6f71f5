import type { Command } from "commander";
import { readConfig } from "../config/config.ts";
import { AppError } from "../errors.ts";
import { makeSetupLink } from "../organizations/first-setup.ts";
import { SETUP_LINK_HOURS } from "../sign-in/link-hours.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

export function addSetupLink(program: Command): void {
	program
		.command("setup-link")
		.description(
			`Print a new setup link. It creates the first user and organization and works once, within ${SETUP_LINK_HOURS} hours. Earlier links stop working.`,
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { json?: boolean }) => {
			const { baseUrl } = readConfig(process.env);
			const url = await withDatabase(({ pool }) =>
				makeSetupLink(pool, baseUrl),
			);
			if (!url) {
				throw new AppError(
					"bad_request",
					"Assay is already set up; run `assay user create` to add a user, or `assay user reset-link` if somebody has forgotten a password",
				);
			}
			print(options, { setup_url: url }, url);
		});
}
