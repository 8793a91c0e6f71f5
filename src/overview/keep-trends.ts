import type { Pool } from "pg";
import type { Logger } from "pino";
import { withTenant } from "../db/pool.ts";
import { isConnectionTrouble } from "../errors.ts";
import { type FirstLooks, type Poller, startPoller } from "../jobs/poller.ts";
import { HOUR_MS } from "../units.ts";
import { PAST_FIGURES } from "./past-figures.ts";
import { MONTHS } from "./trends.ts";

const EVERY_MS = HOUR_MS;

interface Missing {
	organization_id: string;
	/** The last days of months, as YYYY-MM-DD. */
	days: string[];
}

/**
 * Keeps the figures of the trends, so that nobody waits until they are read from the former states
 * of all records. `pool` looks for organizations, and `countsPool` counts, with longer time limits.
 */
export function startTrendKeeper(
	pool: Pool,
	countsPool: Pool,
	log: Logger,
	firstLooks?: FirstLooks,
): Poller {
	return startPoller(
		"trends",
		EVERY_MS,
		async () => {
			const { rows } = await pool.query<Missing>(
				`select organization_id, days from missing_trend_points(${MONTHS})`,
			);
			for (const missing of rows) {
				await keepFigures(countsPool, missing).catch((err) => {
					// The other organizations must not wait for what is wrong with this one.
					if (isConnectionTrouble(err)) throw err;
					log.error(
						{ err, organization: missing.organization_id },
						"the trends of an organization were not kept; reading them takes longer until the retry in an hour",
					);
				});
			}
			return false;
		},
		log,
		firstLooks,
	);
}

/** Keeps the figures of the ends of days, unless another process does so now. */
function keepFigures(
	pool: Pool,
	{ organization_id, days }: Missing,
): Promise<void> {
	return withTenant(pool, organization_id, async (client) => {
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_xact_lock(hashtextextended('trends ' || $1, 0)) as ours",
			[organization_id],
		);
		if (!rows[0]?.ours) return;
		await client.query(
			`insert into trend_points (organization_id, at, risks, residual_risk, overdue)
			select $1, p.at, p.risks, p.residual_risk, p.overdue from (${PAST_FIGURES}) p
			on conflict do nothing`,
			[organization_id, days],
		);
	});
}
