import { type Command, InvalidArgumentError } from "commander";
import { createOrganization } from "../access/organization.ts";
import { print } from "./output.ts";
import { withDatabase } from "./with-database.ts";

const MAX_NAME = 1000;

/** A name of 1 to 1000 characters, none of them control characters. */
export function parseName(text: string): string {
	if (text.trim() === "" || text.length > MAX_NAME || /\p{Cc}/u.test(text)) {
		throw new InvalidArgumentError(
			`A name has 1 to ${MAX_NAME} characters and no control characters.`,
		);
	}
	return text;
}

export function addOrg(program: Command): void {
	const org = program.command("org").description("Organizations.");
	org
		.command("create")
		.description("Make an organization and print its id.")
		.requiredOption("--name <name>", "what it is called", parseName)
		.option("--json", "print the result as JSON")
		.action(async (options: { name: string; json?: boolean }) => {
			const id = await withDatabase((database) =>
				createOrganization(database.pool, options.name),
			);
			print(
				options,
				{ organization_id: id, name: options.name },
				`Organization ${options.name}: ${id}

Next: npx assay device create --org ${id} --name <device>`,
			);
		});
}
