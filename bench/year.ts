import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { finished } from "node:stream/promises";
import type { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { machineOf } from "../simulator/machine.ts";
import { resultsOf } from "../simulator/posture.ts";
import { formatRfc3339 } from "../src/devices/rfc3339.ts";
import { ID_KINDS } from "../src/id.ts";
import { type Fleet, organizationOf } from "./fleet.ts";

const HOUR_MS = 3_600_000;
const SEED = 1;

/**
 * Stores what the fleet has reported hourly in these months (their first days, in UTC). Results and
 * evidence are those of the simulator. Every second device observes each of its checks at a moment
 * of its own, as probo-agent does; the others give one time for all. Returns the number of reports.
 */
export async function fillMonths(
	client: Client,
	fleet: Fleet,
	months: readonly string[],
): Promise<number> {
	for (const month of months) {
		await client.query("select make_posture_report_partition($1)", [month]);
	}
	const copy = client.query(
		copyFrom(
			"copy posture_reports (organization_id, device_id, report_id, received_at, results) from stdin",
		),
	);
	const done = finished(copy);
	const machines = fleet.ids.map((_, device) => machineOf(SEED, device));
	const begun = Date.parse(months.at(-1) as string);
	let count = 0;
	for (const month of months) {
		const end = endOf(month);
		for (let hour = Date.parse(month); hour < end; hour += HOUR_MS) {
			for (const [device, id] of fleet.ids.entries()) {
				const machine = machines[device] as (typeof machines)[number];
				// A device reports at its own minute of the hour, a few seconds earlier or later.
				const at =
					hour + ((device * 37_123) % (HOUR_MS - 10_000)) + jitter(8_000);
				const results = resultsOf(machine, { seed: SEED, at, begun, drift: 0 });
				const each = device % 2;
				const stored = results.map((result, check) => ({
					check_key: result.check_key,
					status: result.status,
					observed_at: formatRfc3339(
						at * 1000 + each * (check * 41_000 + jitter(30_000)),
					),
					evidence: result.evidence,
				}));
				const receivedAt = formatRfc3339((at + 600) * 1000 + jitter(90_000));
				const text = JSON.stringify(stored).replaceAll("\\", "\\\\");
				const row = `${organizationOf(fleet, device)}\t${id}\t${reportId(id, at + 500)}\t${receivedAt}\t${text}\n`;
				count++;
				if (!copy.write(row)) await once(copy, "drain");
			}
		}
	}
	copy.end();
	await done;
	return count;
}

/** Returns the first days of the last `count` months that have ended, oldest first. */
export function closedMonths(count: number, now = new Date()): string[] {
	return Array.from({ length: count }, (_, index) =>
		new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count + index))
			.toISOString()
			.slice(0, 10),
	);
}

function endOf(month: string): number {
	const begin = new Date(month);
	return Date.UTC(begin.getUTCFullYear(), begin.getUTCMonth() + 1);
}

/** Returns the id of a report that a device made at that time. */
function reportId(deviceId: string, atMs: number): string {
	const bytes = Buffer.from(deviceId, "base64url");
	bytes.writeUInt16BE(ID_KINDS.device_posture_report, 8);
	bytes.writeBigUInt64BE(BigInt(atMs), 10);
	randomBytes(6).copy(bytes, 18);
	return bytes.toString("base64url");
}

const jitter = (below: number) => Math.floor(Math.random() * below);
