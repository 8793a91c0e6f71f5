import type { Command } from "commander";
import { readConfig } from "../config.ts";
import { AppError } from "../errors.ts";
import { makeSetupLink } from "../organizations/first-setup.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

export function addSetupLink(program: Command): void {
	program
		.command("setup-link")
		.description(
			"Print a new link that sets the service up: it makes the first user and organization, once, within 24 hours. Links before it stop working.",
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
					"Assay is set up already: there are users. `assay user create` makes another, `assay user reset-link` sets a forgotten password",
				);
			}
			print(options, { setup_url: url }, url);
		});
}
