import { setTimeout as sleep } from "node:timers/promises";

const MOST_TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Retries a request that an overloaded service turned away, as the service's clients do. The
 * service may be overloaded because generating the cases needs the same processor. Returns the last
 * answer. If that is still a 503, the case counts as answered with 503.
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
