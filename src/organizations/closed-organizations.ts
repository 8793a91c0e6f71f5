import type { Pool } from "pg";
import type { Logger } from "pino";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import type { ClosedMembership, Principal } from "../principal.ts";
import { type Closure, closureMessage } from "./closures.ts";

/** Time between two looks at the database. */
const POLL_MS = 5_000;

/**
 * Knows which organizations are closed, without a query for each request. A change takes effect in
 * each process within a few seconds.
 */
export class ClosedOrganizations {
	readonly poller: Poller;
	#messages: ReadonlyMap<string, string>;

	private constructor(
		pool: Pool,
		log: Logger,
		messages: ReadonlyMap<string, string>,
		firstLooks: FirstLooks | undefined,
	) {
		this.#messages = messages;
		this.poller = startPoller(
			"closed organizations",
			POLL_MS,
			async () => {
				this.#messages = await readMessages(pool);
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
	): Promise<ClosedOrganizations> {
		return new ClosedOrganizations(
			pool,
			log,
			await readMessages(pool),
			firstLooks,
		);
	}

	/** True if no organization is closed, which is the usual case and costs nothing. */
	get isEmpty(): boolean {
		return this.#messages.size === 0;
	}

	messageOf(organizationId: string): string | undefined {
		return this.#messages.get(organizationId);
	}

	/**
	 * Takes the memberships in closed organizations away from a principal. What depends on a
	 * membership is then forbidden at every door, and `closed` says why.
	 */
	limit(principal: Principal): Principal {
		if (this.isEmpty) return principal;
		const closed: ClosedMembership[] = [];
		const memberships = principal.memberships.filter(({ organizationId }) => {
			const message = this.messageOf(organizationId);
			if (message === undefined) return true;
			closed.push({ organizationId, message });
			return false;
		});
		return closed.length > 0
			? {
					...principal,
					memberships,
					closed: [...(principal.closed ?? []), ...closed],
				}
			: principal;
	}
}

async function readMessages(pool: Pool): Promise<ReadonlyMap<string, string>> {
	const { rows } = await pool.query<Closure & { organization_id: string }>(
		"select * from list_closed_organizations()",
	);
	return new Map(rows.map((row) => [row.organization_id, closureMessage(row)]));
}
