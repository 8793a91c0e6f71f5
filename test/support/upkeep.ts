import { setTimeout as sleep } from "node:timers/promises";
import type { Pool } from "pg";
import { withTenant } from "../../src/db/pool.ts";
import { countChecks } from "../../src/devices/check-results/count-checks.ts";
import { keepDevices } from "../../src/devices/upkeep.ts";

/**
 * Does what is due for the devices of an organization. The service that a test runs may do so at
 * the same moment; this waits for it.
 */
export async function keepDevicesNow(
	pool: Pool,
	organizationId: string,
	sendsMail = false,
): Promise<void> {
	await withTenant(pool, organizationId, async (client) => {
		await client.query(
			"select pg_advisory_xact_lock(hashtextextended('device upkeep ' || $1, 0))",
			[organizationId],
		);
		await keepDevices(client, organizationId, sendsMail);
	});
}

/**
 * Counts the devices of an organization by check and state, as the service does in the background.
 */
export async function countChecksNow(
	pool: Pool,
	organizationId: string,
): Promise<void> {
	while (!(await countChecks(pool, organizationId))) await sleep(50);
}
