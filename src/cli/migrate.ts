import type { Command } from "commander";
import { isNewDatabase } from "../db/migrate.ts";
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
			print(options, { applied }, describe(applied));
		});
}

function describe(applied: string[]): string {
	if (applied.length === 0) return "The database has the newest schema.";
	return isNewDatabase(applied)
		? `Created the tables with ${applied.length} migrations.`
		: `Applied ${applied.join(", ")}.`;
}
