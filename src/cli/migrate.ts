import type { Command } from "commander";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

export function addMigrate(program: Command): void {
	program
		.command("migrate")
		.description(
			"Bring the database to the newest schema (start does this too).",
		)
		.option("--json", "print the result as JSON")
		.action(async (options: { json?: boolean }) => {
			const applied = await withDatabase(
				async ({ migrated }) => migrated,
				"make",
			);
			print(
				options,
				{ applied },
				applied.length === 0
					? "The database has the newest schema."
					: `Applied ${applied.join(", ")}.`,
			);
		});
}
