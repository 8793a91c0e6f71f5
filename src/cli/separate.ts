import type { Command } from "commander";
import { Client } from "pg";
import { readSeparation, type Separation, separate } from "../db/separation.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

export function addSeparate(program: Command): void {
	program
		.command("separate")
		.description(
			"Close the database to other logins of its PostgreSQL server. Without --yes, it only lists the logins that would lose access.",
		)
		.option("--yes", "apply the changes")
		.option("--json", "print the result as JSON")
		.action(async (options: { yes?: boolean; json?: boolean }) => {
			const before = await withDatabase(async ({ ownerConnection }) => {
				const client = new Client(ownerConnection);
				await client.connect();
				try {
					const found = await readSeparation(client);
					if (options.yes) await separate(client);
					return found;
				} finally {
					await client.end();
				}
			});
			const { guests, shared } = before;
			print(
				options,
				{
					is_done: options.yes ?? false,
					lose_connect: guests,
					lose_roles: shared.map((one) => one.shared),
				},
				describe(before, options.yes ?? false).join("\n"),
			);
		});
}

function describe(before: Separation, isDone: boolean): string[] {
	const { database, guests, shared, isOpenToAll } = before;
	const lines: string[] = [];
	if (shared.length > 0) {
		lines.push(
			`Processes of an older version ${isDone ? "have lost" : "would lose"} their rights: ${shared.map((one) => one.shared).join(", ")}.`,
		);
	}
	if (guests.length > 0) {
		lines.push(
			`These logins ${isDone ? "can no longer" : "could no longer"} connect to ${database}: ${guests.join(", ")}. For one that must: grant connect on database … to …`,
		);
	}
	if (isOpenToAll && guests.length === 0) {
		lines.push(
			`Nobody ${isDone ? "has lost" : "would lose"} a connection. A login that is made later needs: grant connect on database … to …`,
		);
	}
	if (lines.length === 0) return [`The database ${database} is separate.`];
	if (!isDone)
		lines.push(
			"Nothing was changed. Run the command with --yes to apply the changes.",
		);
	return lines;
}
