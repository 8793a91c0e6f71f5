import type { Pool, PoolClient } from "pg";
import { withTenant } from "../db/pool.ts";
import {
	COUNTS,
	type CountRow,
	type FleetCounts,
	readCounts,
} from "./count-states.ts";
import { fleetStates } from "./fleet-states.ts";

/**
 * Devices that one statement counts. It takes about half a second of a core. On a machine whose
 * other work leaves little of the processor and the disk, 250,000 devices in one statement took more
 * than a minute, and all that time PostgreSQL could not clean up after the devices' reports.
 */
export const SLICE_DEVICES = 20_000;

/** A text that comes after each id. */
const AFTER_ALL_IDS = "~";

/** The part of the counts that is right when slices are added up. */
export type SlicedCounts = Pick<
	FleetCounts,
	"requiredChecks" | "ofCheck" | "compliance"
>;

export interface Slicing {
	/** Devices of a slice. */
	devices?: number | undefined;
	/** Called between two slices with the time that the last one took. The next one waits for it. */
	rest?: ((tookMs: number) => Promise<void>) | undefined;
}

/**
 * Counts the ACTIVE devices as `countFleet` does, now or at a time in the past, with a transaction for
 * each slice of the fleet. Each sees what was committed when it began. While the count rests, it
 * holds no lock of a table. A migration would wait for such a lock, and everybody else for the
 * migration.
 */
export async function countInSlices(
	pool: Pool,
	organizationId: string,
	{ devices = SLICE_DEVICES, rest }: Slicing = {},
	asOf?: string,
): Promise<SlicedCounts> {
	const sum: CountRow = {
		totals: [],
		statuses: [],
		states: [],
		compliance: [],
	};
	let after = "";
	while (after !== AFTER_ALL_IDS) {
		const beganMs = performance.now();
		const { rows, upTo } = await withTenant(pool, organizationId, (client) =>
			countSlice(client, organizationId, { after, devices, asOf }),
		);
		for (const row of rows) {
			sum.totals?.push(...(row.totals ?? []));
			sum.states?.push(...(row.states ?? []));
			sum.compliance?.push(...(row.compliance ?? []));
		}
		after = upTo;
		if (after !== AFTER_ALL_IDS) await rest?.(performance.now() - beganMs);
	}
	return readCounts(sum);
}

/** Counts the first `devices` devices after an id. Returns the counts and the id of the last one. */
async function countSlice(
	client: PoolClient,
	organizationId: string,
	slice: { after: string; devices: number; asOf: string | undefined },
): Promise<{ rows: CountRow[]; upTo: string }> {
	const { after, devices, asOf } = slice;
	// A new fleet has grown faster than the statistics of its tables, and a nested loop over two lists
	// that are longer than expected compares all with all.
	await client.query("set local enable_nestloop = off");
	const upTo = await endOfSlice(client, organizationId, after, devices);
	const at = asOf === undefined ? undefined : "$4::timestamptz";
	const { rows } = await client.query<CountRow>({
		name: `count_slice${at ? ".as_of" : ""}`,
		text: `with ${fleetStates(at, { after: "$2", upTo: "$3" })} select ${COUNTS}`,
		values: [organizationId, after, upTo, ...(at ? [asOf] : [])],
	});
	return { rows, upTo };
}

async function endOfSlice(
	client: PoolClient,
	organizationId: string,
	after: string,
	devices: number,
): Promise<string> {
	const { rows } = await client.query<{ id: string }>({
		name: "count_slice.end",
		text: `
			select t.id from devices t
			where t.organization_id = $1 and t.id > $2
			order by t.id offset $3 limit 1`,
		values: [organizationId, after, devices - 1],
	});
	return rows[0]?.id ?? AFTER_ALL_IDS;
}
