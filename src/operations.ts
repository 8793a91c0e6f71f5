import type { AnyOperation } from "./operation.ts";

/** Everything that can be done, one line each; every door is a loop over this list. */
export const operations = [] as const satisfies AnyOperation[];

const byName = new Map<string, AnyOperation>(
	(operations as readonly AnyOperation[]).map((operation) => [
		operation.name,
		operation,
	]),
);

export function findOperation(name: string): AnyOperation | undefined {
	return byName.get(name);
}
