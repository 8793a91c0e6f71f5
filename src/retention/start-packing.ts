import type { ClientConfig } from "pg";
import type { Logger } from "pino";
import type { Config } from "../config/config.ts";
import { SOON_MS, startDailyWork } from "../jobs/daily-work.ts";
import { DAY_MS } from "../units.ts";
import { packClosedMonths } from "./pack-reports.ts";
import { DAILY_WORK_MS } from "./retention.ts";

/**
 * Packs the reports of closed months, soon after the start and then once a day, or again soon if it
 * could not finish. It may take hours, so retention and packing do not wait for each other. Returns
 * a function that stops this.
 */
export function startPacking(
	connection: ClientConfig,
	{
		reportRetentionMonths,
		archivePlace,
		dailyWorkAfterMs = DAILY_WORK_MS,
	}: Config,
	log: Logger,
): () => Promise<void> {
	const work = async (signal: AbortSignal) => {
		const { packed, failed, isDone } = await packClosedMonths(connection, {
			signal,
			// The archive needs old months packed, too, before they may be dropped.
			keptMonths: archivePlace ? 0 : reportRetentionMonths,
		});
		if (packed.length > 0) {
			log.info({ months: packed }, "packed posture reports");
		}
		for (const { error: err, organizationId, deviceId, month } of failed) {
			log.error(
				{ err, organization: organizationId, device: deviceId, month },
				"the posture reports of a device could not be packed, so its month stays plain",
			);
		}
		return isDone ? DAY_MS : SOON_MS;
	};
	return startDailyWork(
		// Retention begins earlier. Usually it has finished before packing locks the same table.
		2 * dailyWorkAfterMs,
		work,
		"posture reports could not be packed",
		log,
	);
}
