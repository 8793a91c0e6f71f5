import { makeStand, type Stand } from "../faults/stand.ts";
import { runAndUndo, say } from "../run.ts";

/** Runs a benchmark on its own stand. Removes the stand at the end, even if the benchmark fails. */
export async function runOnStand(
	devices: number,
	run: (stand: Stand) => Promise<number>,
): Promise<never> {
	say("starting PostgreSQL and the service");
	const making = makeStand(devices);
	const close = () =>
		making.then(
			(stand) => stand.close(),
			() => {},
		);
	return runAndUndo(() => making.then(run), [close]);
}
