import type { Client } from "pg";
import {
	MAX_BEHIND_SECONDS,
	type Replica,
	readReplicas,
} from "../db/replicas.ts";
import { readReplicationSlots } from "../db/replication-slots.ts";
import type { Finding } from "./doctor.ts";
import { describeDuration } from "./duration.ts";

const MAX_BEHIND_BYTES = 1e9;

/** Says whether the server is the primary, and how far its replicas are behind. */
export async function examineReplication(client: Client): Promise<Finding> {
	const check = "replication";
	const { rows } = await client.query<{
		standby: boolean;
		commit: string;
		wanted: string;
		login: string;
	}>(`
		select
			pg_is_in_recovery() as standby,
			current_setting('synchronous_commit') as commit,
			current_setting('synchronous_standby_names') as wanted,
			quote_ident(session_user) as login`);
	const [row] = rows;
	if (row?.standby) {
		return {
			check,
			status: "problem",
			found: "the server is a standby, which is read-only",
			advice:
				"set DATABASE_URL to the primary, or to an address that always leads to it (docs/scaling.md); or promote this server",
		};
	}
	if (row?.commit === "off") {
		return {
			check,
			status: "problem",
			found: "synchronous_commit is off",
			advice:
				"set synchronous_commit = on; without it a crash loses acknowledged data",
		};
	}
	const replicas = await readReplicas(client);
	const hidden = replicas.filter(({ state }) => state === null).length;
	if (hidden > 0) {
		return {
			check,
			status: "warning",
			found: `${describeCount(replicas.length)} from this server, but PostgreSQL hides from the login how far ${hidden === 1 ? "it is" : "they are"} behind`,
			advice: `let an administrator of PostgreSQL run: grant pg_monitor to ${row?.login}`,
		};
	}
	const synchronous = replicas.filter(
		({ state, isSynchronous }) => state === "streaming" && isSynchronous,
	).length;
	if (row?.wanted && synchronous === 0) {
		return {
			check,
			status: "problem",
			found: `writes wait for a synchronous standby (${row.wanted}), but none is streaming`,
			advice:
				"start the standby, or remove it from synchronous_standby_names and reload",
		};
	}
	if (replicas.length === 0) {
		return {
			check,
			status: "ok",
			found:
				"no standby streams from this server; only backups protect the data",
		};
	}
	const late = replicas.filter(
		({ behindBytes, behindSeconds }) =>
			(behindSeconds ?? 0) > MAX_BEHIND_SECONDS ||
			(behindBytes ?? 0) > MAX_BEHIND_BYTES,
	);
	if (late.length > 0) {
		return {
			check,
			status: "warning",
			found: late.map(describeReplica).join("; "),
			advice:
				"look at the log, the disk and the network of the replica; until it has caught up, a failover to it loses data",
		};
	}
	return {
		check,
		status: "ok",
		found: `${describeCount(replicas.length)} from this server, ${synchronous} synchronously; ${replicas.map(describeReplica).join("; ")}`,
	};
}

const describeCount = (count: number) =>
	count === 1 ? "1 standby streams" : `${count} standbys stream`;

function describeReplica({
	name,
	behindBytes,
	behindSeconds,
}: Replica): string {
	const time = describeDuration((behindSeconds ?? 0) * 1000);
	const size = ((behindBytes ?? 0) / 1e6).toFixed(1);
	return `${name} is ${time} (${size} MB) behind`;
}

/** Reports replication slots that nobody reads. Returns no finding if the server has no slots. */
export async function examineSlots(client: Client): Promise<Finding[]> {
	const check = "replication slots";
	const slots = await readReplicationSlots(client);
	if (slots.length === 0) return [];
	const idle = slots.filter(({ isActive }) => !isActive);
	if (idle.length === 0) {
		const found =
			slots.length === 1 ? "1 is in use" : `${slots.length} are in use`;
		return [{ check, status: "ok", found }];
	}
	const kept = idle.map(
		({ name, keptBytes }) =>
			`nobody reads from ${name}, which keeps ${(keptBytes / 1e6).toFixed(1)} MB of the write-ahead log`,
	);
	return [
		{
			check,
			status: "warning",
			found: kept.join("; "),
			advice:
				"start the standby that reads from it; if there is none any more, let an administrator of PostgreSQL run: select pg_drop_replication_slot('NAME'); otherwise the log fills the disk and the database stops",
		},
	];
}
