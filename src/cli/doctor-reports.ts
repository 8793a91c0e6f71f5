import type { Client } from "pg";
import { setRole } from "../db/roles.ts";
import { readRetentionTimes } from "../retention/last-retention.ts";
import {
	DAYS_UNTIL_PACKED,
	findPlainMonths,
} from "../retention/plain-months.ts";
import { HOUR_MS } from "../units.ts";
import type { Finding } from "./doctor.ts";
import { counted } from "./output.ts";

/** The service removes old rows once a day, and retries every ten minutes. */
const LATE_HOURS = 26;
/** Days that the service has for packing a month. A month of a large fleet takes some hours. */
const DAYS_OF_PACKING = 3;

/** Says whether old rows are removed, and whether the next months of reports have their partitions. */
export async function examineRetention(
	client: Client,
	months: number,
): Promise<Finding> {
	const check = "retention";
	const { rows } = await client.query<{
		current: boolean;
		overdue: number;
		strays: boolean;
	}>(
		`
		select
			to_regclass('posture_reports_' || to_char(now() at time zone 'UTC', 'YYYY_MM')) is not null as current,
			pg_relation_size('posture_reports_default') > 0 as strays,
			(
				select count(*)::int from pg_inherits i join pg_class c on c.oid = i.inhrelid
				where i.inhparent in ('posture_reports'::regclass, 'packed_posture_reports'::regclass) and $1 > 0
					and c.relname ~ '^(packed_)?posture_reports_\\d{4}_\\d\\d$'
					-- One month more than the setting, because the service checks once a day.
					and to_date(right(c.relname, 7), 'YYYY_MM') < (date_trunc('month', now()) - ($1 + 1) * interval '1 month')::date
			) as overdue`,
		[months],
	);
	const { current = false, overdue = 0, strays = false } = rows[0] ?? {};
	const hours = await readHoursSinceRetention(client);
	const isLate = hours > LATE_HOURS;
	const kept = months > 0 ? `kept for ${months} months` : "kept forever";
	if (current && overdue === 0 && !strays && !isLate) {
		return { check, status: "ok", found: `raw posture reports are ${kept}` };
	}
	const found = [
		!current && "there is no partition for this month",
		overdue > 0 &&
			`raw reports of ${overdue} old month${overdue === 1 ? "" : "s"} are still there`,
		strays && "some reports belong to no month's partition",
		isLate &&
			`the daily removal of old rows was last complete ${counted(Math.floor(hours / 24), "day")} ago`,
	];
	return {
		check,
		status: "warning",
		found: found.filter(Boolean).join("; "),
		advice:
			'the service removes and creates partitions at its start and daily; start it, and if this finding remains, search its log for "old rows" and "posture reports"',
	};
}

async function readHoursSinceRetention(client: Client): Promise<number> {
	await client.query("begin read only");
	await client.query(setRole("app", "transaction"));
	const { nowMs, lastMs } = await readRetentionTimes(client);
	await client.query("rollback");
	return (nowMs - lastMs) / HOUR_MS;
}

/** Says which months of reports should have been packed. */
export async function examinePacking(client: Client): Promise<Finding> {
	const check = "packing";
	const months = await findPlainMonths(
		client,
		DAYS_UNTIL_PACKED + DAYS_OF_PACKING,
	);
	if (months.length === 0) {
		return { check, status: "ok", found: "all closed months are packed" };
	}
	const named = months.map(({ month }) => month.slice(0, 7)).join(", ");
	return {
		check,
		status: "warning",
		found: `the raw reports of ${named} are not packed completely, so they take up to thirty times the space, and no archive has all of them`,
		advice:
			'the service packs once a day, imported reports too; if this finding stays, search its log for "could not be packed"',
	};
}
