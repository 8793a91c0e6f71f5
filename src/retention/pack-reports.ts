import { setTimeout as sleep } from "node:timers/promises";
import { Client, type ClientConfig } from "pg";
import { PACKING_LOCK } from "../db/advisory-locks.ts";
import { setRole } from "../db/roles.ts";
import { sessionOf } from "../db/session.ts";
import { isLockTimeout } from "../db/sqlstate.ts";

/** Days after the end of a month at which its reports are packed. Until then, devices may extend them. */
export const DAYS_UNTIL_PACKED = 14;

/** Number of reports that are packed in a transaction. That takes about half a second of a core. */
const STEP_SIZE = 3_000;
/** Number of devices whose reports are counted in a statement. */
const COMPARED_DEVICES = 500;

const SESSION = sessionOf("none", {
	lock_timeout: "1s",
	statement_timeout: "60s",
	timezone: "UTC",
});

export interface PackingOptions {
	signal?: AbortSignal;
	/** Reports of a transaction; for tests. */
	stepSize?: number;
	/** The rest after each step, as a multiple of its duration. */
	rest?: number;
}

export interface Packing {
	/** First days of the months that were packed completely. */
	packed: string[];
	/** False if another program held a lock, or the work was aborted. The caller should try again. */
	isDone: boolean;
}

interface Device {
	organizationId: string;
	deviceId: string;
}

const NONE: Device = { organizationId: "", deviceId: "" };

/**
 * Packs the raw reports of months that ended at least two weeks ago: one row for each device and
 * month, about a thirtieth of the bytes. Works in small transactions with a rest after each, so that
 * it never holds a lock for long and takes at most half a core. Interrupted work goes on where it
 * stopped. A month's partition is dropped in the transaction that shows its packed reports.
 */
export async function packClosedMonths(
	connection: ClientConfig,
	options: PackingOptions = {},
): Promise<Packing> {
	const client = new Client({
		...connection,
		application_name: "assay packing",
		connectionTimeoutMillis: 5_000,
		query_timeout: 65_000,
	});
	// The connection may be lost between two queries. Without a listener, this event would then end
	// the process.
	client.on("error", () => {});
	const result: Packing = { packed: [], isDone: false };
	try {
		await client.connect();
		await client.query(SESSION);
		const { rows } = await client.query<{ ours: boolean }>(
			"select pg_try_advisory_lock($1) as ours",
			[PACKING_LOCK],
		);
		if (!rows[0]?.ours) return { ...result, isDone: true };
		await dropUnfinished(client);
		for (const month of await findClosedMonths(client)) {
			if (!(await packMonth(client, month, options))) return result;
			result.packed.push(month);
		}
		result.isDone = true;
	} catch (error) {
		if (!isLockTimeout(error)) throw error;
	} finally {
		await client.end();
	}
	return result;
}

/** Returns the months whose reports can be packed, oldest first. */
async function findClosedMonths(client: Client): Promise<string[]> {
	const { rows } = await client.query<{ month: string }>(
		`
		select to_char(m.month, 'YYYY-MM-DD') as month
		from pg_inherits i
		join pg_class c on c.oid = i.inhrelid
		cross join lateral (select to_date(right(c.relname, 7), 'YYYY_MM') as month) m
		where i.inhparent = 'posture_reports'::regclass
			and c.relname ~ '^posture_reports_\\d{4}_\\d\\d$'
			and m.month + interval '1 month' + $1 * interval '1 day' <= now() at time zone 'UTC'
			and not exists (
				select from pg_inherits p
				where p.inhparent = 'packed_posture_reports'::regclass
					and p.inhrelid = to_regclass('packed_' || c.relname)
			)
		order by 1`,
		[DAYS_UNTIL_PACKED],
	);
	return rows.map(({ month }) => month);
}

/** Drops what was packed of months whose reports retention has dropped in the meantime. */
async function dropUnfinished(client: Client): Promise<void> {
	const { rows } = await client.query<{ name: string }>(`
		select c.relname::text as name from pg_class c
		where c.relnamespace = 'public'::regnamespace and c.relkind = 'r' and not c.relispartition
			and c.relname ~ '^packed_posture_reports_\\d{4}_\\d\\d$'
			and to_regclass(replace(c.relname, 'packed_', '')) is null`);
	for (const { name } of rows) await client.query(`drop table ${name}`);
}

/** Returns false if the work was aborted. */
async function packMonth(
	client: Client,
	month: string,
	options: PackingOptions,
): Promise<boolean> {
	await client.query("select begin_packed_month($1)", [month]);
	const { signal, stepSize = STEP_SIZE } = options;
	const [last] = await asAgent<Device>(
		client,
		`select last_organization as "organizationId", last_device as "deviceId"
		from last_packed_device($1)`,
		[month],
	);
	let after = last ?? NONE;
	for (;;) {
		if (signal?.aborted) return false;
		const begun = performance.now();
		const [step] = await asAgent<Device & { packed: number }>(
			client,
			`select last_organization as "organizationId", last_device as "deviceId", packed
			from pack_next_reports($1, $2, $3, $4)`,
			[month, after.organizationId, after.deviceId, stepSize],
		);
		if (!step?.packed) break;
		after = step;
		await rest(begun, options);
	}
	// Reports may be changed at any moment until the partition is locked.
	for (;;) {
		if (signal?.aborted) return false;
		if (!(await repairDifferences(client, month, options))) return false;
		const { rows } = await client.query<{ isFinished: boolean }>(
			`select finish_packed_month($1) as "isFinished"`,
			[month],
		);
		if (rows[0]?.isFinished) return true;
	}
}

/**
 * Packs the devices again whose reports changed after they were packed, and those whose numbers of
 * reports differ for any other reason. Returns false if the work was aborted.
 */
async function repairDifferences(
	client: Client,
	month: string,
	options: PackingOptions,
): Promise<boolean> {
	const packAgain = ({ organizationId, deviceId }: Device) =>
		asAgent(client, "select pack_device_reports($1, $2, $3)", [
			month,
			organizationId,
			deviceId,
		]);
	const changed = await asAgent<Device>(
		client,
		`select organization_id as "organizationId", device_id as "deviceId"
		from changed_since_packed($1)`,
		[month],
	);
	for (const device of changed) await packAgain(device);

	let after: Device | undefined = NONE;
	while (after) {
		if (options.signal?.aborted) return false;
		const begun = performance.now();
		const compared: (Device & { isEqual: boolean })[] = await asAgent(
			client,
			`select organization_id as "organizationId", device_id as "deviceId", is_equal as "isEqual"
			from compare_packed_reports($1, $2, $3, $4)`,
			[month, after.organizationId, after.deviceId, COMPARED_DEVICES],
		);
		for (const device of compared) {
			if (!device.isEqual) await packAgain(device);
		}
		const reached = compared.find(({ isEqual }) => isEqual);
		after = reached?.deviceId ? reached : undefined;
		await rest(begun, options);
	}
	return true;
}

/**
 * Runs a statement in a transaction of its own, as the role that sees the reports of all
 * organizations.
 */
async function asAgent<Row extends object>(
	client: Client,
	text: string,
	values: unknown[],
): Promise<Row[]> {
	await client.query("begin");
	try {
		await client.query(setRole("agent", "transaction"));
		const { rows } = await client.query<Row>(text, values);
		await client.query("commit");
		return rows;
	} catch (error) {
		await client.query("rollback").catch(() => {});
		throw error;
	}
}

async function rest(begun: number, { rest = 1, signal }: PackingOptions) {
	const ms = (performance.now() - begun) * rest;
	await sleep(ms, undefined, { signal }).catch(() => {});
}
