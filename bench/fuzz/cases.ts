import fc from "fast-check";
import type { AnyOperation } from "../../src/operation.ts";
import { operations } from "../../src/operations.ts";
import { agentCases } from "./agent.ts";
import { operationCases, rightCalls } from "./operations.ts";
import { otherCases } from "./other.ts";
import type { Case, Target } from "./target.ts";

/**
 * Returns cases for every door of the service. All operations are equally frequent. A few cases are
 * right, so that a service that rejects everything is noticed, whatever the number of operations.
 */
export function casesOf(target: Target): fc.Arbitrary<Case> {
	const each = (operations as readonly AnyOperation[]).map((operation) =>
		operationCases(target, operation),
	);
	return fc.oneof(
		{ weight: 18, arbitrary: fc.oneof(...each) },
		{ weight: 9, arbitrary: agentCases(target) },
		{ weight: 3, arbitrary: otherCases(target) },
		{ weight: 1, arbitrary: rightCalls(target) },
	);
}
