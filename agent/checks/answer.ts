/** True, false, or undefined if the agent cannot decide. */
export type Answer = boolean | undefined;

export function allOf(answers: Iterable<Answer>): Answer {
	let all: Answer = true;
	for (const answer of answers) {
		if (answer === false) return false;
		if (answer === undefined) all = undefined;
	}
	return all;
}

export function anyOf(answers: Iterable<Answer>): Answer {
	let any: Answer = false;
	for (const answer of answers) {
		if (answer === true) return true;
		if (answer === undefined) any = undefined;
	}
	return any;
}

export const not = (answer: Answer): Answer =>
	answer === undefined ? undefined : !answer;
