import type { PoolClient } from "pg";
import { z } from "zod";
import { badFields } from "../errors.ts";

export const DEFAULT_TIME_ZONE = "UTC";

/**
 * SQL for today's date in the organization of the transaction. It is evaluated once a statement.
 */
export const TODAY = "(select organization_today())";

const RULE =
	"must be the name of a time zone in the IANA database, such as Europe/Paris or UTC";

export const timeZoneSchema = () =>
	z
		.string()
		.max(64, { abort: true })
		.refine(isTimeZone, RULE)
		.describe("Time zone of its days, such as Europe/Paris");

/** Returns true if the text names a time zone. An offset such as +01:00 is no name. */
export function isTimeZone(text: string): boolean {
	if (!/^[A-Za-z][A-Za-z0-9_+/-]{0,63}$/.test(text)) return false;
	try {
		new Intl.DateTimeFormat("en", { timeZone: text });
		return true;
	} catch {
		return false;
	}
}

/** Names that PostgreSQL knows. It reads the file of each zone of its list to answer. */
const knownZones = new Set<string>();

/**
 * Throws bad_request unless PostgreSQL knows the time zone too, written exactly like this. Its list
 * may be older than the one of Node.
 */
export async function requireTimeZone(
	client: PoolClient,
	name: string,
): Promise<void> {
	if (knownZones.has(name)) return;
	const { rows } = await client.query<{ known: boolean }>(
		"select exists (select from pg_timezone_names where name = $1) as known",
		[name],
	);
	if (rows[0]?.known) {
		knownZones.add(name);
		return;
	}
	throw badFields([{ field: "time_zone", message: RULE }]);
}

/** Returns the day of a time in a time zone, as YYYY-MM-DD. */
export function dayIn(timeZone: string, time: string): string {
	// Sweden writes its dates like this.
	return new Intl.DateTimeFormat("sv-SE", { timeZone }).format(new Date(time));
}

/** Returns the date of a moment in the organization of the transaction. */
export async function readDay(
	client: PoolClient,
	moment: string,
): Promise<string> {
	const { rows } = await client.query<{ time_zone: string }>({
		name: "organization.time_zone",
		text: "select time_zone from organizations where id = current_setting('assay.organization_id', true)",
	});
	return dayIn(rows[0]?.time_zone ?? DEFAULT_TIME_ZONE, moment);
}

/** Returns today's date in the organization of the transaction. */
export async function readToday(client: PoolClient): Promise<string> {
	const { rows } = await client.query<{ today: string }>({
		name: "organization.today",
		text: `select ${TODAY}::text as today`,
	});
	return rows[0]?.today ?? new Date().toISOString().slice(0, 10);
}
