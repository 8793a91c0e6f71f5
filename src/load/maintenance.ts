import type { Client, Pool } from "pg";
import type { Logger } from "pino";
import { InMaintenance } from "../errors.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";

/** Time between two looks at the database. Without news, a process serves or refuses this long. */
const POLL_MS = 5_000;

/** Longest message of the operator, in characters. */
export const MAX_MESSAGE = 500;

export interface MaintenanceState {
	/** The operator's sentence for everybody who is turned away. */
	message: string;
	began_at: Date;
}

/** Reads whether the installation is in maintenance. The client acts as assay_app. */
export async function readMaintenance(
	client: Pick<Pool | Client, "query">,
): Promise<MaintenanceState | undefined> {
	const { rows } = await client.query<{
		message: string;
		began_at: Date | string;
	}>("select message, began_at from read_maintenance()");
	const [row] = rows;
	// The pools of the service return times as text, other connections as Date.
	return row && { ...row, began_at: new Date(row.began_at) };
}

/** Begins maintenance, or changes its message. Null ends it. */
export async function setMaintenance(
	client: Pick<Pool | Client, "query">,
	message: string | null,
): Promise<void> {
	await client.query("select set_maintenance($1)", [message]);
}

/** Knows whether the installation is in maintenance, without a query for each request. */
export class Maintenance {
	readonly poller: Poller;
	#message: string | undefined;

	private constructor(
		pool: Pool,
		log: Logger,
		state: MaintenanceState | undefined,
		firstLooks: FirstLooks | undefined,
	) {
		this.#note(state, log);
		this.poller = startPoller(
			"maintenance",
			POLL_MS,
			async () => {
				this.#note(await readMaintenance(pool), log);
				return false;
			},
			log,
			firstLooks,
		);
	}

	/** Looks before the service takes its first request. */
	static async watch(
		pool: Pool,
		log: Logger,
		firstLooks?: FirstLooks,
	): Promise<Maintenance> {
		return new Maintenance(pool, log, await readMaintenance(pool), firstLooks);
	}

	/**
	 * The answer to everybody who is turned away. Undefined if the service works. Devices get it with
	 * a 503, so that they keep their keys and retry. Everybody else gets it with a 403.
	 */
	get refusal(): string | undefined {
		return this.#message && `Assay is in maintenance: ${this.#message}`;
	}

	/** Throws forbidden during maintenance. */
	refuse(): void {
		const { refusal } = this;
		if (refusal) throw new InMaintenance(refusal);
	}

	#note(state: MaintenanceState | undefined, log: Logger): void {
		const before = this.#message;
		this.#message = state?.message;
		if (state && before !== state.message) {
			log.warn(
				{ message: state.message, began_at: state.began_at },
				"the service is in maintenance and turns everybody away; `assay maintenance end` ends this",
			);
		}
		if (!state && before !== undefined) log.info("maintenance has ended");
	}
}
