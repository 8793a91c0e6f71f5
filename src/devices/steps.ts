import type { Logger } from "pino";
import { codeOf, QUERY_CANCELED } from "../db/sqlstate.ts";

/** Steps that go through the rows of an organization, so that each one is short. */
export interface Steps {
	/** Most rows that a step looks at. */
	size: number;
	/** True if the last step left so much to do that the next one should not wait. */
	isMore: boolean;
}

/**
 * A run begins no further step for an organization after this time. The next run goes on there, so
 * the other organizations do not wait for a large fleet.
 */
const RUN_MS = 2_000;

/**
 * Makes a function that does the steps of an organization until the end, or for `RUN_MS`. `places`
 * has those that have begun and are not at their end. If PostgreSQL cancels a statement, mostly
 * because it took too long, the work goes on with smaller steps.
 */
export function makeSteps<Place extends Steps>(
	log: Logger,
	start: Place,
	step: (id: string, place: Place) => Promise<Place | "BUSY" | undefined>,
) {
	const places = new Map<string, Place>();
	/** The organizations for which the log says that steps are too slow. */
	const slow = new Set<string>();

	function afterFailure(id: string, place: Place, err: unknown): Place {
		const smaller =
			codeOf(err) === QUERY_CANCELED ? withSmallerSteps(place) : undefined;
		if (!smaller) throw err;
		if (!slow.has(id)) {
			log.warn(
				{ err, organization: id, rows: smaller.size },
				"device upkeep took too long and goes on with fewer rows at a time; the database is overloaded",
			);
		}
		slow.add(id);
		return smaller;
	}

	return {
		places: places as ReadonlyMap<string, Place>,
		run: async (id: string): Promise<void> => {
			const endMs = performance.now() + RUN_MS;
			do {
				const place = places.get(id) ?? start;
				const next = await step(id, place).catch((err) =>
					afterFailure(id, place, err),
				);
				if (next === "BUSY") {
					places.set(id, { ...place, isMore: false });
					return;
				}
				if (next) {
					places.set(id, next);
				} else {
					places.delete(id);
					if (place.size === start.size) slow.delete(id);
				}
			} while (places.has(id) && performance.now() < endMs);
		},
	};
}

const SMALLEST = 50;

/**
 * Returns steps that go on with smaller steps, after a step took too long. Returns undefined if
 * the steps are as small as they may be.
 */
function withSmallerSteps<Place extends Steps>(
	steps: Place,
): Place | undefined {
	if (steps.size <= SMALLEST) return undefined;
	return { ...steps, size: Math.max(SMALLEST, Math.floor(steps.size / 4)) };
}
