import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "pg";
import { CONNECTIONS_NEEDED, MAX_CONNECTIONS } from "../db/connections.ts";
import type { Finding } from "./doctor.ts";
import { examineReplication, examineSlots } from "./doctor-replication.ts";
import { examinePacking, examineRetention } from "./doctor-reports.ts";

const LONG_MINUTES = 10;
/**
 * The check reports a problem if the oldest rows are more transactions old than this. PostgreSQL
 * forces a vacuum from 200 million transactions on, and rejects writes at about 2,000 million.
 */
const MAX_TRANSACTION_AGE = 1_000_000_000;
const SCHEMA = join(import.meta.dirname, "../../sql/schema.sql");

/** Examines how the server stores its data, and whether something is about to cause trouble. */
export async function examineServer(
	client: Client,
	retentionMonths: number,
): Promise<Finding[]> {
	const replication = await examineReplication(client);
	return [
		replication,
		...(await examineSlots(client)),
		await examineConnections(client),
		await examineTransactions(client),
		await examineVacuum(client),
		await examineIndexes(client),
		await examineRetention(client, retentionMonths),
		await examinePacking(client),
	];
}

async function examineConnections(client: Client): Promise<Finding> {
	const { rows } = await client.query<{ most: number; used: number }>(`
		select
			current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int as most,
			(select count(*)::int from pg_stat_activity where backend_type = 'client backend') as used`);
	const { most = 0, used = 0 } = rows[0] ?? {};
	const found = `${used} of ${most} connections are used`;
	if (most >= CONNECTIONS_NEEDED && used < 0.9 * most) {
		return { check: "connections", status: "ok", found };
	}
	return {
		check: "connections",
		status: "warning",
		found,
		advice: `each process of the service may open ${MAX_CONNECTIONS}; raise max_connections, or start fewer workers`,
	};
}

async function examineTransactions(client: Client): Promise<Finding> {
	const { rows } = await client.query<{
		pid: number;
		name: string;
		minutes: number;
	}>(
		`
		select pid, coalesce(nullif(application_name, ''), usename::text, '?') as name,
			floor(extract(epoch from now() - xact_start) / 60)::int as minutes
		from pg_stat_activity
		where datname = current_database() and pid <> pg_backend_pid()
			and xact_start < now() - $1 * interval '1 minute'
		order by xact_start limit 3`,
		[LONG_MINUTES],
	);
	if (rows.length === 0) {
		return {
			check: "transactions",
			status: "ok",
			found: `none has been open for ${LONG_MINUTES} minutes or more`,
		};
	}
	const each = rows.map(
		({ pid, name, minutes }) => `${name} (pid ${pid}) for ${minutes} minutes`,
	);
	return {
		check: "transactions",
		status: "warning",
		found: `open: ${each.join(", ")}`,
		advice:
			"a backup may take that long; end any other one, if necessary with select pg_terminate_backend(pid), because it prevents the cleanup of old rows",
	};
}

async function examineVacuum(client: Client): Promise<Finding> {
	const check = "vacuum";
	const { rows } = await client.query<{
		autovacuum: string;
		age: number;
		dead: string[] | null;
	}>(`
		select
			current_setting('autovacuum') as autovacuum,
			(select age(datfrozenxid) from pg_database where datname = current_database()) as age,
			(
				select array_agg(relname::text order by n_dead_tup desc) from pg_stat_user_tables
				where n_dead_tup > 100000 and n_dead_tup > n_live_tup
			) as dead`);
	const { autovacuum = "", age = 0, dead = null } = rows[0] ?? {};
	if (autovacuum !== "on") {
		return {
			check,
			status: "problem",
			found: "autovacuum is off",
			advice:
				"set autovacuum = on; without it tables grow without end, and finally the server rejects writes",
		};
	}
	if (age > MAX_TRANSACTION_AGE) {
		return {
			check,
			status: "problem",
			found: `the oldest rows are ${Math.round(age / 1e6)} million transactions old`,
			advice:
				"end long transactions and unused replication slots, then run vacuum freeze; at 2,000 million the server rejects writes",
		};
	}
	if (dead) {
		return {
			check,
			status: "warning",
			found: `more dead rows than live ones in ${dead.join(", ")}`,
			advice:
				"vacuum does not keep up; end long transactions, or lower autovacuum_vacuum_cost_delay",
		};
	}
	return { check, status: "ok", found: "autovacuum keeps up" };
}

/** Checks that the database has all indexes of this version's schema and that they are valid. */
async function examineIndexes(client: Client): Promise<Finding> {
	const names = [
		...readFileSync(SCHEMA, "utf8").matchAll(
			/^create (?:unique )?index (\w+) on/gim,
		),
	].map(([, name]) => name);
	const { rows } = await client.query<{ name: string }>(
		`
		select name from unnest($1::text[]) as name
		where not exists (
			select from pg_index where indexrelid = to_regclass('public.' || quote_ident(name)) and indisvalid
		)`,
		[names],
	);
	if (rows.length === 0) {
		return {
			check: "indexes",
			status: "ok",
			found: `all ${names.length} exist and are valid`,
		};
	}
	return {
		check: "indexes",
		status: "problem",
		found: `missing or invalid: ${rows.map(({ name }) => name).join(", ")}`,
		advice:
			"create them again with their lines from sql/schema.sql (reindex index for an invalid one); without them the service is slow",
	};
}
