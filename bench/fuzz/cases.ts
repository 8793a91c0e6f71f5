import fc from "fast-check";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import { agentCases } from "./agent.ts";
import { operationCases } from "./operations.ts";
import { otherCases } from "./other.ts";
import type { Case, Target } from "./target.ts";

/** Returns cases for every door of the service. All operations are equally frequent. */
export function casesOf(target: Target): fc.Arbitrary<Case> {
	const each = (operations as readonly AnyOperation[]).map((operation) =>
		operationCases(target, operation),
	);
	return fc.oneof(
		{ weight: 6, arbitrary: fc.oneof(...each) },
		{ weight: 3, arbitrary: agentCases(target) },
		{ weight: 1, arbitrary: otherCases(target) },
	);
}
