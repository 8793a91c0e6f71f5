import { setTimeout as sleep } from "node:timers/promises";

const MOST_TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Retries requests that an overloaded service turned away, as its clients do: generating cases
 * takes the machine's time too. Returns the last answer. A request that always gets 503 gets it for
 * what it is.
 */
export async function untilNotBusy<Answer extends { isBusy: boolean }>(
	result: { busy: number },
	send: () => Promise<Answer>,
): Promise<Answer> {
	let answer = await send();
	for (let tries = 1; answer.isBusy && tries < MOST_TRIES; tries++) {
		result.busy++;
		await sleep(PAUSE_MS);
		answer = await send();
	}
	return answer;
}
