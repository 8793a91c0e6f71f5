import { isTransactionConflict } from "./sqlstate.ts";

const MAX_ATTEMPTS = 4;

/**
 * Runs `work`, a whole transaction, again when PostgreSQL ended it in favour of another one
 * (deadlock, serialization failure). It left nothing behind, and the other transaction has finished
 * by now.
 */
export async function retryConflicts<Result>(
	work: () => Promise<Result>,
): Promise<Result> {
	for (let attempt = 1; ; attempt++) {
		try {
			return await work();
		} catch (error) {
			if (attempt === MAX_ATTEMPTS || !isTransactionConflict(error)) {
				throw error;
			}
		}
	}
}
