import { findOperation } from "../../src/operations.ts";
import type { TestDatabase } from "./database.ts";
import { callAs, type TestUser } from "./people.ts";

/** Calls the operation with this name as a user of the console. */
export async function callByName(
	database: TestDatabase,
	person: TestUser,
	name: string,
	input: object,
	// biome-ignore lint/suspicious/noExplicitAny: the result depends on the name of the operation.
): Promise<any> {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	return callAs(database, person, operation, input);
}
