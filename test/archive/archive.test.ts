import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { nameOf } from "../../src/archive/archive-files.ts";
import { archiveClosedMonths } from "../../src/archive/archive-months.ts";
import {
	type ArchiveStore,
	openArchiveStore,
} from "../../src/archive/archive-store.ts";
import {
	type ResultRow,
	readParquetFile,
} from "../../src/archive/parquet-file.ts";
import { readConfig } from "../../src/config/config.ts";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { makeLogger } from "../../src/log.ts";
import { deleteDueOrganizations } from "../../src/retention/delete-organizations.ts";
import { packClosedMonths } from "../../src/retention/pack-reports.ts";
import { keepReports } from "../../src/retention/retention.ts";
import { serve } from "../../src/serve.ts";
import {
	dateReports,
	monthAgo,
	sendReportAt,
	within,
} from "../support/closed-month.ts";
import { runCommand } from "../support/command.ts";
import { startFleet, type TestFleet } from "../support/devices.ts";
import { makeFolder } from "../support/folder.ts";
import { startS3Store } from "../support/s3-store.ts";
import type { TestDevice } from "../support/service.ts";

const MARCH = monthAgo(3);
const APRIL = monthAgo(2);

let fleet: TestFleet;
let folder: string;
let store: ArchiveStore;
beforeEach(async () => {
	fleet = await startFleet();
	folder = await makeFolder("assay-archive-");
	store = openArchiveStore({ folder });
});
afterEach(() => fleet.assay.close());

const connection = () => ({ connectionString: fleet.assay.database.url });
const archive = (to = store) =>
	archiveClosedMonths(connection(), to, { rest: 0, fileDevices: 2 });
const pack = () => packClosedMonths(connection(), { rest: 0 });

/** Three devices, each with two reports of each month. Their months are packed. */
async function makeHistory(): Promise<TestDevice[]> {
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
				{ status: "PASS", evidence: { text: 'a "quoted" \u{1f512}', n: 0.1 } },
				{ check_key: "FIREWALL_ENABLED", status: "FAIL", evidence: null },
			);
		}
	}
	await dateReports(fleet.assay.database, [MARCH, APRIL]);
	await pack();
	return devices;
}

async function filesIn(of: string): Promise<string[]> {
	const names = await readdir(of, { recursive: true });
	return names.filter((name) => /\.\w+$/.test(name)).sort();
}

async function rowsOf(month: string): Promise<ResultRow[]> {
	const rows: ResultRow[] = [];
	for (const part of [1, 2]) {
		const name = nameOf({
			organizationId: fleet.assay.organizationId,
			month,
			part,
		});
		for await (const row of readParquetFile(join(folder, name))) rows.push(row);
	}
	return rows;
}

const devicesIn = async (month: string) =>
	new Set((await rowsOf(month)).map((row) => row.device_id));

/** Returns what the database has, in the form of the archive. */
async function packedRows(month: string): Promise<ResultRow[]> {
	const { rows } = await fleet.assay.database.owner.query(
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

test("a file has every result of its devices, to the microsecond, and a second run changes nothing", async () => {
	await makeHistory();
	expect(await archive()).toEqual({
		archived: [MARCH, APRIL],
		rewritten: 0,
		removed: 0,
		isDone: true,
	});
	const expected = await packedRows(APRIL);
	expect(expected).toHaveLength(12);
	expect(await rowsOf(APRIL)).toEqual(expected);
	const of = `organization_id=${fleet.assay.organizationId}`;
	expect(await filesIn(folder)).toEqual(
		[MARCH, APRIL].flatMap((month) =>
			[1, 2].map(
				(part) => `${of}/month=${month.slice(0, 7)}/part-0000${part}.parquet`,
			),
		),
	);
	expect(await archive()).toMatchObject({ archived: [], rewritten: 0 });
});

test("a month is dropped only after it was archived", async () => {
	await makeHistory();
	expect((await keepReports(connection(), 1, true)).dropped).toEqual([]);
	await archive();
	expect((await keepReports(connection(), 1, true)).dropped).toHaveLength(2);
	expect(await rowsOf(MARCH)).toHaveLength(12);
	// The files of months that are gone are left as they are.
	expect(await archive()).toMatchObject({ archived: [], rewritten: 0 });
	expect(await rowsOf(MARCH)).toHaveLength(12);
});

test("the rows of a deleted device leave the files, whether the month is still kept or not", async () => {
	const [first, second, third] = (await makeHistory()) as [
		TestDevice,
		TestDevice,
		TestDevice,
	];
	await archive();
	await fleet.call(deleteDevice, { id: first.id });
	expect(await archive()).toMatchObject({ rewritten: 2 });
	for (const month of [MARCH, APRIL]) {
		expect(await devicesIn(month)).toEqual(new Set([second.id, third.id]));
	}
	await keepReports(connection(), 1, true);
	await fleet.call(deleteDevice, { id: second.id });
	await archive();
	for (const month of [MARCH, APRIL]) {
		expect(await devicesIn(month)).toEqual(new Set([third.id]));
	}
	expect(await archive()).toMatchObject({ rewritten: 0 });
});

test("a change is remembered until its file is stored, and one that comes in between is not lost", async () => {
	const [first, second, third] = (await makeHistory()) as [
		TestDevice,
		TestDevice,
		TestDevice,
	];
	await archive();
	await fleet.call(deleteDevice, { id: first.id });
	const noted: number[] = [];
	const watched: ArchiveStore = {
		...store,
		put: async (path, name) => {
			const { rows } = await fleet.assay.database.owner.query(
				"select from archive_changes where device_id = $1",
				[first.id],
			);
			noted.push(rows.length);
			if (noted.length === 1) {
				await fleet.call(deleteDevice, { id: second.id });
			}
			await store.put(path, name);
		},
	};
	await archive(watched);
	expect(noted[0]).toBe(2);
	for (const month of [MARCH, APRIL]) {
		expect(await devicesIn(month)).toEqual(new Set([third.id]));
	}
	expect(await archive()).toMatchObject({ rewritten: 0 });
});

test("a report that a device extends is archived again, and until then its month is not dropped", async () => {
	const [device] = (await makeHistory()) as [TestDevice];
	await archive();
	const { owner } = fleet.assay.database;
	const { rows } = await owner.query<{ report: string; at: string }>(
		`select p.report_ids[1] as report, to_char(p.received_at[1] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at
		from packed_posture_reports p where p.device_id = $1 and p.month = $2`,
		[device.id, APRIL],
	);
	await owner.query("select agent_extend_packed_report($1, $2, $3, $4, $5)", [
		fleet.assay.organizationId,
		device.id,
		APRIL,
		rows[0]?.report,
		JSON.stringify([
			{
				check_key: "SCREEN_LOCK",
				status: "FAIL",
				observed_at: rows[0]?.at.replace("Z", ".000001Z"),
			},
		]),
	]);
	expect((await keepReports(connection(), 1, true)).dropped).toHaveLength(1);
	expect(await archive()).toMatchObject({ rewritten: 1 });
	const expected = await packedRows(APRIL);
	expect(expected).toHaveLength(13);
	const key = (row: ResultRow) => `${row.report_id} ${row.check_key}`;
	const sorted = (rows: ResultRow[]) =>
		rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
	expect(sorted(await rowsOf(APRIL))).toEqual(sorted(expected));
	expect((await keepReports(connection(), 1, true)).dropped).toHaveLength(1);
});

test("the files of a deleted organization are deleted", async () => {
	await makeHistory();
	await archive();
	expect(await filesIn(folder)).toHaveLength(4);
	await fleet.assay.database.owner.query(
		"insert into organization_closures values ($1, 'DELETION', 'the end', now() - interval '15 days', now() - interval '1 second')",
		[fleet.assay.organizationId],
	);
	// An organization is deleted only when the entries of its audit log are sealed.
	await expect
		.poll(async () => {
			await deleteDueOrganizations(connection(), makeLogger("silent"));
			const { rows } = await fleet.assay.database.owner.query(
				"select from organizations",
			);
			return rows.length;
		})
		.toBe(0);
	expect(await archive()).toMatchObject({ removed: 4, rewritten: 0 });
	expect(await filesIn(folder)).toEqual([]);
	expect(await archive()).toMatchObject({ removed: 0 });
});

test("a store that changes a file is noticed, and the month counts as archived only when it is right", async () => {
	await makeHistory();
	const lossy: ArchiveStore = {
		...store,
		put: async (path, name) => {
			await store.put(path, name);
			if (name.includes("part-00002")) {
				await store.put(join(folder, name.replace("00002", "00001")), name);
			}
		},
	};
	await expect(archive(lossy)).rejects.toThrow(
		/part-00002\.parquet in the archive differs/,
	);
	expect((await keepReports(connection(), 1, true)).dropped).toEqual([]);
	expect(await archive()).toMatchObject({ archived: [MARCH, APRIL] });
	expect(await rowsOf(MARCH)).toEqual(await packedRows(MARCH));
});

test("assay archive lists the files, and verify names one that is missing and one that was changed", async () => {
	await makeHistory();
	const settings = {
		DATABASE_URL: fleet.assay.database.url,
		ASSAY_ARCHIVE_URL: `file://${folder}`,
	};
	const none = await runCommand(["archive", "list"], settings);
	expect(none.stdout).toContain("The archive has no files yet.");
	await archive();
	const list = await runCommand(["archive", "list", "--json"], settings);
	const { files } = JSON.parse(list.stdout);
	expect(files).toHaveLength(4);
	expect(files[0]).toMatchObject({
		organization_id: fleet.assay.organizationId,
		month: MARCH.slice(0, 7),
		results: 8,
		changed_devices: 0,
	});
	const sound = await runCommand(["archive", "verify"], settings);
	expect(sound).toMatchObject({ code: 0 });
	expect(sound.stdout).toContain("4 files of the archive");
	await rm(join(folder, files[0].name));
	const bytes = await readFile(join(folder, files[1].name));
	await writeFile(join(folder, files[1].name), bytes.subarray(1));
	const broken = await runCommand(["archive", "verify", "--json"], settings);
	expect(broken.code).toBe(1);
	expect(JSON.parse(broken.stdout).faults).toEqual([
		{ name: files[0].name, fault: "missing" },
		{ name: files[1].name, fault: "different" },
	]);
});

test("the service archives into a bucket by itself, and stops while it does", async () => {
	await makeHistory();
	const bucket = await startS3Store();
	const start = () =>
		serve(
			readConfig({
				ASSAY_PORT: "0",
				DATABASE_URL: fleet.assay.database.url,
				ASSAY_SECRET: "what the sessions of the tests are signed with",
				ASSAY_ARCHIVE_URL: `${bucket.origin}/bucket/old%20reports`,
				ASSAY_ARCHIVE_S3_KEY: "id:secret",
			}),
			makeLogger("silent"),
		);
	await (await start()).close();
	const service = await start();
	const { organizationId } = fleet.assay;
	await expect
		.poll(() => [...bucket.stored.keys()].sort(), { timeout: 60_000 })
		.toEqual(
			[MARCH, APRIL].map(
				(month) => `old reports/${nameOf({ organizationId, month, part: 1 })}`,
			),
		);
	await service.close();
	bucket.close();
});

test("assay archive verify says that the bucket is missing, and not that its files are", async () => {
	await makeHistory();
	const bucket = await startS3Store();
	const verify = (name: string) =>
		runCommand(["archive", "verify", "--json"], {
			DATABASE_URL: fleet.assay.database.url,
			ASSAY_ARCHIVE_URL: `${bucket.origin}/${name}/reports`,
			ASSAY_ARCHIVE_S3_KEY: "id:secret",
		});
	await archive();
	const emptied = await verify("bucket");
	expect(emptied.code).toBe(1);
	expect(JSON.parse(emptied.stdout).faults).toHaveLength(4);
	const gone = await verify("gone");
	expect(gone).toMatchObject({ code: 1, stdout: "" });
	expect(gone.stderr).toContain(
		`the store at ${bucket.origin} answered NoSuchBucket: create the bucket that ASSAY_ARCHIVE_URL names`,
	);
	bucket.close();
});
