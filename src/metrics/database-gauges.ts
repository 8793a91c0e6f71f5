import type { Pool } from "pg";
import { Gauge, type Registry } from "prom-client";
import { type LastBackup, readLastBackup } from "../backup/last-backup.ts";
import { type Replica, readReplicas } from "../db/replicas.ts";
import { readReplicationSlots } from "../db/replication-slots.ts";
import {
	type RetentionTimes,
	readRetentionTimes,
} from "../retention/last-retention.ts";
import { findPlainMonths } from "../retention/plain-months.ts";
import type { DatabaseReads } from "./database-reads.ts";

/**
 * Adds the size of the database, its last backup, its replicas and replication slots. What cannot be
 * read has no value: `remove` takes the value of a gauge without labels away, and `reset` would make
 * it 0.
 */
export function addDatabaseGauges(
	reads: DatabaseReads,
	hasArchive: boolean,
	registers: Registry[],
): void {
	new Gauge({
		name: "assay_database_bytes",
		help: "Size of the database on disk, without the write-ahead log.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await reads.read("database_size", readDatabaseSize);
			this.remove();
			if (found !== undefined) this.set(found);
		},
	});
	new Gauge({
		name: "assay_posture_report_bytes",
		help: "Size on disk of the raw posture reports, as rows of their own (plain) and packed by device and month (packed).",
		labelNames: ["form"],
		aggregator: "max",
		registers,
		async collect() {
			const found = await reads.read("posture_reports", readReportSizes);
			this.reset();
			for (const { form, bytes } of found ?? []) this.set({ form }, bytes);
		},
	});
	new Gauge({
		name: "assay_archive_backlog",
		help: "What the archive of raw reports still lacks: packed months (no value without an archive), devices that were deleted or whose reports were extended, and files of deleted organizations that have to be deleted.",
		labelNames: ["of"],
		aggregator: "max",
		registers,
		async collect() {
			const found = await reads.read("archive", readArchiveBacklog);
			this.reset();
			if (!found) return;
			if (hasArchive) this.set({ of: "months" }, found.months);
			this.set({ of: "devices" }, found.devices);
			this.set({ of: "files" }, found.files);
		},
	});
	new Gauge({
		name: "assay_unpacked_months",
		help: "Months of raw posture reports that ended at least two weeks ago and are not packed completely.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await reads.read("unpacked_months", findPlainMonths);
			this.remove();
			if (found) this.set(found.length);
		},
	});
	addRetention(reads, registers);
	addLastBackup(reads, registers);
	addReplicas(reads, registers);
	addReplicationSlots(reads, registers);
}

async function readDatabaseSize(pool: Pool): Promise<number> {
	const { rows } = await pool.query<{ bytes: number }>(
		"select pg_database_size(current_database())::float8 as bytes",
	);
	if (!rows[0]) throw new Error("the size of the database has no row");
	return rows[0].bytes;
}

async function readReportSizes(
	pool: Pool,
): Promise<{ form: string; bytes: number }[]> {
	const { rows } = await pool.query<{ form: string; bytes: number }>(`
		select f.form, coalesce(sum(pg_total_relation_size(i.inhrelid)), 0)::float8 as bytes
		from (values ('plain', 'posture_reports'), ('packed', 'packed_posture_reports')) f (form, name)
		left join pg_inherits i on i.inhparent = to_regclass(f.name)
		group by f.form`);
	return rows;
}

interface ArchiveBacklog {
	months: number;
	devices: number;
	files: number;
}

async function readArchiveBacklog(
	pool: Pool,
): Promise<ArchiveBacklog | undefined> {
	const { rows } = await pool.query<ArchiveBacklog>(
		"select months::float8 as months, devices::float8 as devices, files::float8 as files from read_archive_state()",
	);
	return rows[0];
}

function addRetention(reads: DatabaseReads, registers: Registry[]): void {
	let times: Promise<RetentionTimes | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_retention_timestamp_seconds",
		help: "Time at which a process last finished its daily removal of old rows, in seconds since 1970. Until then, the time at which the database was made or upgraded.",
		aggregator: "max",
		registers,
		async collect() {
			times = reads.read("retention", readRetentionTimes);
			const found = await times;
			this.remove();
			if (found) this.set(found.lastMs / 1000);
		},
	});
	new Gauge({
		name: "assay_database_clock_timestamp_seconds",
		help: "Time of the database's clock, in seconds since 1970.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await times;
			this.remove();
			if (found) this.set(found.nowMs / 1000);
		},
	});
}

function addLastBackup(reads: DatabaseReads, registers: Registry[]): void {
	let last: Promise<LastBackup | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_last_backup_timestamp_seconds",
		help: "Moment that the last backup shows, in seconds since 1970. Before the first backup, the time at which the first organization was created.",
		aggregator: "max",
		registers,
		async collect() {
			last = reads.read("backup", readLastBackup);
			const found = await last;
			this.remove();
			const time = found?.made_at ?? found?.in_use_since;
			if (time) this.set(time.getTime() / 1000);
		},
	});
	new Gauge({
		name: "assay_has_organizations",
		help: "1 if the database has an organization, 0 if it has none.",
		aggregator: "max",
		registers,
		async collect() {
			const found = await last;
			this.remove();
			if (found) this.set(found.in_use_since ? 1 : 0);
		},
	});
	new Gauge({
		name: "assay_last_backup_audit_logs_sound",
		help: "1 if the audit logs in the last backup are sound, 0 if one is broken.",
		aggregator: "min",
		registers,
		async collect() {
			const found = await last;
			this.remove();
			const isSound = found?.has_sound_logs ?? null;
			if (isSound !== null) this.set(isSound ? 1 : 0);
		},
	});
}

function addReplicas(reads: DatabaseReads, registers: Registry[]): void {
	let replicas: Promise<Replica[] | undefined> = Promise.resolve(undefined);
	new Gauge({
		name: "assay_replicas",
		help: "Replicas that receive the write-ahead log from the database server.",
		aggregator: "max",
		registers,
		async collect() {
			replicas = reads.read("replicas", readReplicas);
			const found = await replicas;
			this.remove();
			if (found) this.set(found.length);
		},
	});
	const gauge = (
		name: string,
		help: string,
		read: "behindBytes" | "behindSeconds",
	) =>
		new Gauge({
			name,
			help,
			labelNames: ["replica"],
			aggregator: "max",
			registers,
			async collect() {
				const found = await replicas;
				this.reset();
				const most = new Map<string, number>();
				for (const replica of found ?? []) {
					const behind = replica[read];
					if (behind === null) continue;
					// Several replicas may have one name. The worst of them counts.
					most.set(replica.name, Math.max(behind, most.get(replica.name) ?? 0));
				}
				for (const [replica, behind] of most) this.set({ replica }, behind);
			},
		});
	gauge(
		"assay_replica_behind_bytes",
		"Write-ahead log that a replica has not replayed yet.",
		"behindBytes",
	);
	gauge(
		"assay_replica_behind_seconds",
		"Time by which a replica is behind.",
		"behindSeconds",
	);
}

function addReplicationSlots(
	reads: DatabaseReads,
	registers: Registry[],
): void {
	new Gauge({
		name: "assay_replication_slot_kept_bytes",
		help: "Write-ahead log that a replication slot keeps on the disk of the database server.",
		labelNames: ["slot", "active"],
		aggregator: "max",
		registers,
		async collect() {
			const found = await reads.read("replication_slots", readReplicationSlots);
			this.reset();
			for (const { name: slot, isActive, keptBytes } of found ?? []) {
				this.set({ slot, active: isActive ? "yes" : "no" }, keptBytes);
			}
		},
	});
}
