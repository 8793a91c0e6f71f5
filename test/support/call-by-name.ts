import { findOperation } from "../../src/operations.ts";
import type { TestDatabase } from "./database.ts";
import { callAs, type TestUser } from "./people.ts";

/** Calls an operation by its name, as a user that the function knows. */
export type CallByName = (
	operation: string,
	input: object,
	// biome-ignore lint/suspicious/noExplicitAny: the result depends on the name of the operation.
) => Promise<any>;

/** Calls the operation with this name as a user of the console. */
export async function callByName(
	database: TestDatabase,
	person: TestUser,
	name: string,
	input: object,
): ReturnType<CallByName> {
	const operation = findOperation(name);
	if (!operation) throw new Error(`there is no operation ${name}`);
	return callAs(database, person, operation, input);
}
