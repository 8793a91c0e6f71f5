import { setTimeout as sleep } from "node:timers/promises";

const MOST_TRIES = 4;
const PAUSE_MS = 1_000;

/**
 * Sends again what was refused because the service was busy, as its clients do: thinking up cases
 * takes the machine's time too. Gives the last answer; what is refused whenever it is asked is
 * refused for what it is.
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
