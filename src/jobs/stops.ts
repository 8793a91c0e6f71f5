/**
 * What the service stops, in this order. The order is not that of the starts: first comes what makes
 * work, then what does it, and then the connections to the database. The spans of the last
 * statements are exported after that.
 */
const ORDER = [
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
	add(name: (typeof ORDER)[number], stop: () => unknown): void {
		this.#stops.set(name, stop);
	}

	/**
	 * Runs the stops, each after the one before it has ended. A stop that fails keeps no other from
	 * running. Rejects at the end with its error, or with an AggregateError if there are several. A
	 * second call waits for the first one.
	 */
	run(): Promise<void> {
		this.#stopping ??= this.#run();
		return this.#stopping;
	}

	async #run(): Promise<void> {
		const errors: unknown[] = [];
		for (const name of ORDER) {
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
