import { isTransactionConflict } from "./sqlstate.ts";

const MAX_ATTEMPTS = 4;

/**
 * Runs `work`, a whole transaction, again when PostgreSQL ended it so that another may go on
 * (deadlock, serialization failure): it left nothing behind, and the other one is through now.
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
