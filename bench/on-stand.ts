import { makeStand, type Stand } from "./fault-stand.ts";

/** For people: what goes on. Standard output is for the result alone. */
export function say(text: string): void {
	process.stderr.write(`${text}\n`);
}

/**
 * Runs a bench on a stand of its own and ends the process with the code that it gives, or 1 when it
 * throws. Whatever happens, Ctrl-C included, the stand is taken down first.
 */
export async function runOnStand(
	devices: number,
	run: (stand: Stand) => Promise<number>,
): Promise<never> {
	say("starting PostgreSQL and the service");
	const making = makeStand(devices);
	const end = async (code: number): Promise<never> => {
		await making.then((stand) => stand.close()).catch(() => {});
		process.exit(code);
	};
	for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
		process.once(signal, () => void end(1));
	}
	const code = await making.then(run).catch((error) => {
		say(`bench: ${error instanceof Error ? error.stack : error}`);
		return 1;
	});
	return end(code);
}
