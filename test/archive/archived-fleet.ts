import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect } from "vitest";
import { nameOf } from "../../src/archive/archive-files.ts";
import {
	type Archiving,
	archiveClosedMonths,
} from "../../src/archive/archive-months.ts";
import {
	type ArchiveStore,
	openArchiveStore,
} from "../../src/archive/archive-store.ts";
import {
	type ResultRow,
	readParquetFile,
} from "../../src/archive/parquet-file.ts";
import { sealAll } from "../../src/audit/sealer.ts";
import { makeLogger } from "../../src/log.ts";
import { deleteDueOrganizations } from "../../src/retention/delete-organizations.ts";
import {
	type Packing,
	packClosedMonths,
} from "../../src/retention/pack-reports.ts";
import { keepReports } from "../../src/retention/retention.ts";
import {
	dateReports,
	monthAgo,
	sendReportAt,
	within,
} from "../support/closed-month.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { keepFilled } from "../support/filled-fleet.ts";
import { makeFolder } from "../support/folder.ts";
import type { TestDevice } from "../support/service.ts";

export const MARCH = monthAgo(3);
export const APRIL = monthAgo(2);

/** A fleet, and a folder for the archive of its reports. A file has at most two devices. */
export class ArchivedFleet {
	readonly fleet: TestFleet;
	readonly folder: string;
	readonly store: ArchiveStore;

	constructor(fleet: TestFleet, folder: string) {
		this.fleet = fleet;
		this.folder = folder;
		this.store = openArchiveStore({ folder });
	}

	get connection() {
		return { connectionString: this.fleet.assay.database.url };
	}

	get organizationId(): string {
		return this.fleet.assay.organizationId;
	}

	get owner() {
		return this.fleet.assay.database.owner;
	}

	archive(to = this.store): Promise<Archiving> {
		return archiveClosedMonths(this.connection, to, {
			rest: 0,
			fileDevices: 2,
		});
	}

	pack(): Promise<Packing> {
		return packClosedMonths(this.connection, { rest: 0 });
	}

	/** Lets retention drop both months, if they are archived. Returns the names of what was dropped. */
	async drop(): Promise<string[]> {
		return (await keepReports(this.connection, 1, true)).dropped;
	}

	/** Makes three devices, each with two reports of each month, and packs the months. */
	async makeHistory(): Promise<TestDevice[]> {
		const { fleet } = this;
		const devices = [
			await fleet.assay.activateDevice(),
			await fleet.assay.activateDevice(),
			await fleet.assay.activateDevice(),
		];
		for (const device of devices) {
			for (const at of [
				within(MARCH, 5),
				within(MARCH, 6),
				within(APRIL, 7.25),
				within(APRIL, 8),
			]) {
				await sendReportAt(
					fleet,
					device,
					at,
					{
						status: "PASS",
						evidence: { text: 'a "quoted" \u{1f512}', n: 0.1 },
					},
					{ check_key: "FIREWALL_ENABLED", status: "FAIL", evidence: null },
				);
			}
		}
		await dateReports(fleet.assay.database, [MARCH, APRIL]);
		await this.pack();
		return devices;
	}

	async files(): Promise<string[]> {
		const names = await readdir(this.folder, { recursive: true });
		return names.filter((name) => /\.\w+$/.test(name)).sort();
	}

	nameOf(month: string, part: number): string {
		return nameOf({ organizationId: this.organizationId, month, part });
	}

	async rows(
		month: string,
		parts = [1, 2],
		organizationId = this.organizationId,
	): Promise<ResultRow[]> {
		const rows: ResultRow[] = [];
		for (const part of parts) {
			const path = join(this.folder, nameOf({ organizationId, month, part }));
			for await (const row of readParquetFile(path)) rows.push(row);
		}
		return rows;
	}

	async devicesIn(month: string): Promise<Set<string>> {
		return new Set((await this.rows(month)).map((row) => row.device_id));
	}

	/** Returns what the database has, in the form of the archive. */
	async packedRows(month: string): Promise<ResultRow[]> {
		const { rows } = await this.owner.query(
			`select p.device_id, u.report_id,
				(extract(epoch from u.received_at) * 1000000)::bigint as received_at,
				e.result ->> 'check_key' as check_key, e.result ->> 'status' as status,
				(extract(epoch from (e.result ->> 'observed_at')::timestamptz) * 1000000)::bigint as observed_at,
				e.result -> 'evidence' as evidence
			from packed_posture_reports p
			cross join lateral unpack_reports(
				p.report_ids, p.received_at, p.report_of, p.variant_of, p.observed_at, p.variants
			) u
			cross join lateral jsonb_array_elements(u.results::jsonb) with ordinality e (result, n)
			where p.month = $1 order by p.device_id, u.received_at, e.n`,
			[month],
		);
		return rows.map((row) => ({
			...row,
			received_at: BigInt(row.received_at),
			observed_at: BigInt(row.observed_at),
			evidence: row.evidence && JSON.stringify(row.evidence),
		}));
	}

	/** Returns what the archive still lacks. */
	async state() {
		const { rows } = await this.owner.query(
			"select months::integer, devices::integer, files::integer from read_archive_state()",
		);
		return rows[0];
	}

	async deleteOrganization(): Promise<void> {
		await this.owner.query(
			"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - interval '1 second')",
			[this.organizationId],
		);
		// An organization is deleted only when the entries of its audit log are sealed.
		await sealAll(this.owner);
		await expect
			.poll(async () => {
				await deleteDueOrganizations(this.connection, makeLogger("silent"));
				const { rows } = await this.owner.query("select from organizations");
				return rows.length;
			})
			.toBe(0);
	}
}

async function startArchivedFleet(): Promise<ArchivedFleet> {
	return new ArchivedFleet(
		await startFleet(),
		await makeFolder("assay-archive-"),
	);
}

/** A database with a history, which the tests of a file copy. */
export interface ArchivedHistory {
	devices: TestDevice[];
	/** Returns a copy with a folder of its own. No service runs on it. */
	copy: () => Promise<ArchivedFleet>;
	drop: () => Promise<void>;
}

export async function makeArchivedHistory(): Promise<ArchivedHistory> {
	const made = await startArchivedFleet();
	const devices = await made.makeHistory();
	const { copy, drop } = await keepFilled(made.fleet);
	return {
		devices,
		copy: async () =>
			new ArchivedFleet(await copy(), await makeFolder("assay-archive-")),
		drop,
	};
}
