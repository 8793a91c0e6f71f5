import { makeStand, type Stand } from "../faults/stand.ts";
import { runAndUndo, say } from "../run.ts";

/** Runs a bench on a stand of its own, and takes the stand down whatever happens. */
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
