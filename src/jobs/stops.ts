/**
 * Parts of the service in the order in which it stops them, which is not that of the starts. First
 * come those that make work, then those that do it, and then the connections to the database. The
 * export of spans comes last, because the last statements make spans too.
 */
export const STOP_ORDER = [
	"web server",
	"requests of devices",
	"use of API tokens",
	"rejected calls",
	"usage",
	"sign-ins",
	"background work",
	"maintenance",
	"closed organizations",
	"retention",
	"packing",
	"archiving",
	"metrics",
	"agent packages",
	"outage log",
	"health pool",
	"replica",
	"database",
	"tracing",
] as const;

/**
 * Stops what the service has started. The regular end and a start that fails halfway, which has less
 * to stop, both use it.
 */
export class Stops {
	readonly #stops = new Map<string, () => unknown>();
	#stopping: Promise<void> | undefined;

	/** Adds the stop of something that was just started. */
	add(name: (typeof STOP_ORDER)[number], stop: () => unknown): void {
		this.#stops.set(name, stop);
	}

	/**
	 * Runs the stops one after the other. If one fails, the others still run. Rejects at the end with
	 * the error, or with an AggregateError if there are several. A second call waits for the first
	 * one.
	 */
	run(): Promise<void> {
		this.#stopping ??= this.#run();
		return this.#stopping;
	}

	async #run(): Promise<void> {
		const errors: unknown[] = [];
		for (const name of STOP_ORDER) {
			try {
				await this.#stops.get(name)?.();
			} catch (error) {
				errors.push(error);
			}
		}
		if (errors.length === 1) throw errors[0];
		if (errors.length > 1) {
			throw new AggregateError(errors, (errors[0] as Error).message);
		}
	}
}
