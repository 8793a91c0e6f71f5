import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	afterAll,
	afterEach,
	beforeAll,
	beforeEach,
	expect,
	test,
} from "vitest";
import { nameOf } from "../../src/archive/archive-files.ts";
import type { ArchiveStore } from "../../src/archive/archive-store.ts";
import type { ResultRow } from "../../src/archive/parquet-file.ts";
import { readConfig } from "../../src/config/config.ts";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { makeLogger } from "../../src/log.ts";
import { serve } from "../../src/serve.ts";
import { runCommand } from "../support/command.ts";
import { startS3Store } from "../support/s3-store.ts";
import type { TestDevice } from "../support/service.ts";
import {
	APRIL,
	type ArchivedFleet,
	type ArchivedHistory,
	MARCH,
	makeArchivedHistory,
} from "./archived-fleet.ts";

let history: ArchivedHistory;
let archived: ArchivedFleet;
beforeAll(async () => {
	history = await makeArchivedHistory();
});
afterAll(() => history.drop());
beforeEach(async () => {
	archived = await history.copy();
});
afterEach(() => archived.fleet.assay.close());

test("a file has every result of its devices, to the microsecond, and a second run changes nothing", async () => {
	expect(await archived.archive()).toEqual({
		archived: [MARCH, APRIL],
		rewritten: 0,
		removed: 0,
		failures: [],
		isDone: true,
	});
	const expected = await archived.packedRows(APRIL);
	expect(expected).toHaveLength(12);
	expect(await archived.rows(APRIL)).toEqual(expected);
	const of = `organization_id=${archived.organizationId}`;
	expect(await archived.files()).toEqual(
		[MARCH, APRIL].flatMap((month) =>
			[1, 2].map(
				(part) => `${of}/month=${month.slice(0, 7)}/part-0000${part}.parquet`,
			),
		),
	);
	expect(await archived.archive()).toMatchObject({
		archived: [],
		rewritten: 0,
	});
});

test("a month is dropped only after it was archived", async () => {
	expect(await archived.drop()).toEqual([]);
	await archived.archive();
	expect(await archived.drop()).toHaveLength(2);
	expect(await archived.rows(MARCH)).toHaveLength(12);
	// The files of months that are gone are left as they are.
	expect(await archived.archive()).toMatchObject({
		archived: [],
		rewritten: 0,
	});
	expect(await archived.rows(MARCH)).toHaveLength(12);
});

test("the rows of a deleted device leave the files, whether the month is still kept or not", async () => {
	const [first, second, third] = history.devices as [
		TestDevice,
		TestDevice,
		TestDevice,
	];
	await archived.archive();
	await archived.fleet.call(deleteDevice, { id: first.id });
	expect(await archived.archive()).toMatchObject({ rewritten: 2 });
	for (const month of [MARCH, APRIL]) {
		expect(await archived.devicesIn(month)).toEqual(
			new Set([second.id, third.id]),
		);
	}
	await archived.drop();
	await archived.fleet.call(deleteDevice, { id: second.id });
	await archived.archive();
	for (const month of [MARCH, APRIL]) {
		expect(await archived.devicesIn(month)).toEqual(new Set([third.id]));
	}
	expect(await archived.archive()).toMatchObject({ rewritten: 0 });
});

test("a change is remembered until its file is stored, and one that comes in between is not lost", async () => {
	const [first, second, third] = history.devices as [
		TestDevice,
		TestDevice,
		TestDevice,
	];
	await archived.archive();
	await archived.fleet.call(deleteDevice, { id: first.id });
	const noted: number[] = [];
	const watched: ArchiveStore = {
		...archived.store,
		put: async (path, name) => {
			const { rows } = await archived.owner.query(
				"select from archive_changes where device_id = $1",
				[first.id],
			);
			noted.push(rows.length);
			if (noted.length === 1) {
				await archived.fleet.call(deleteDevice, { id: second.id });
			}
			await archived.store.put(path, name);
		},
	};
	await archived.archive(watched);
	expect(noted[0]).toBe(2);
	for (const month of [MARCH, APRIL]) {
		expect(await archived.devicesIn(month)).toEqual(new Set([third.id]));
	}
	expect(await archived.archive()).toMatchObject({ rewritten: 0 });
});

test("a report that a device extends is archived again, and until then its month is not dropped", async () => {
	const [device] = history.devices as [TestDevice];
	await archived.archive();
	const { owner } = archived;
	const { rows } = await owner.query<{ report: string; at: string }>(
		`select p.report_ids[1] as report, to_char(p.received_at[1] at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at
		from packed_posture_reports p where p.device_id = $1 and p.month = $2`,
		[device.id, APRIL],
	);
	await owner.query("select agent_extend_packed_report($1, $2, $3, $4, $5)", [
		archived.organizationId,
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
	expect(await archived.drop()).toHaveLength(1);
	expect(await archived.archive()).toMatchObject({ rewritten: 1 });
	const expected = await archived.packedRows(APRIL);
	expect(expected).toHaveLength(13);
	const key = (row: ResultRow) => `${row.report_id} ${row.check_key}`;
	const sorted = (rows: ResultRow[]) =>
		rows.toSorted((a, b) => (key(a) < key(b) ? -1 : 1));
	expect(sorted(await archived.rows(APRIL))).toEqual(sorted(expected));
	expect(await archived.drop()).toHaveLength(1);
});

test("the files of a deleted organization are deleted", async () => {
	await archived.archive();
	expect(await archived.files()).toHaveLength(4);
	await archived.deleteOrganization();
	expect(await archived.archive()).toMatchObject({ removed: 4, rewritten: 0 });
	expect(await archived.files()).toEqual([]);
	expect(await archived.archive()).toMatchObject({ removed: 0 });
});

test("a store that changes a file is noticed, and the month counts as archived only when it is right", async () => {
	const lossy: ArchiveStore = {
		...archived.store,
		put: async (path, name) => {
			await archived.store.put(path, name);
			if (name.includes("part-00002")) {
				await archived.store.put(
					join(archived.folder, name.replace("00002", "00001")),
					name,
				);
			}
		},
	};
	expect(await archived.archive(lossy)).toMatchObject({
		archived: [],
		failures: [MARCH, APRIL].map((month) => ({
			name: month.slice(0, 7),
			reason: expect.stringMatching(
				/part-00002\.parquet in the archive differs/,
			),
		})),
	});
	expect(await archived.drop()).toEqual([]);
	expect(await archived.archive()).toMatchObject({ archived: [MARCH, APRIL] });
	expect(await archived.rows(MARCH)).toEqual(await archived.packedRows(MARCH));
});

test("assay archive lists the files, and verify names one that is missing and one that was changed", async () => {
	const settings = {
		DATABASE_URL: archived.connection.connectionString,
		ASSAY_ARCHIVE_URL: `file://${archived.folder}`,
	};
	const none = await runCommand(["archive", "list"], settings);
	expect(none.stdout).toContain("The archive has no files yet.");
	await archived.archive();
	const list = await runCommand(["archive", "list", "--json"], settings);
	const { files } = JSON.parse(list.stdout);
	expect(files).toHaveLength(4);
	expect(files[0]).toMatchObject({
		organization_id: archived.organizationId,
		month: MARCH.slice(0, 7),
		results: 8,
		changed_devices: 0,
	});
	const sound = await runCommand(["archive", "verify"], settings);
	expect(sound).toMatchObject({ code: 0 });
	expect(sound.stdout).toContain("4 files of the archive");
	await rm(join(archived.folder, files[0].name));
	const bytes = await readFile(join(archived.folder, files[1].name));
	await writeFile(join(archived.folder, files[1].name), bytes.subarray(1));
	const broken = await runCommand(["archive", "verify", "--json"], settings);
	expect(broken.code).toBe(1);
	expect(JSON.parse(broken.stdout).faults).toEqual([
		{ name: files[0].name, fault: "missing" },
		{ name: files[1].name, fault: "different" },
	]);
});

test("the service archives into a bucket by itself, and stops while it does", async () => {
	const bucket = await startS3Store();
	const start = () =>
		serve(
			readConfig({
				ASSAY_PORT: "0",
				DATABASE_URL: archived.connection.connectionString,
				ASSAY_SECRET: "what the sessions of the tests are signed with",
				ASSAY_ARCHIVE_URL: `${bucket.origin}/bucket/old%20reports`,
				ASSAY_ARCHIVE_S3_KEY: "id:secret",
			}),
			makeLogger("silent"),
		);
	await (await start()).close();
	const service = await start();
	const { organizationId } = archived;
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
	const bucket = await startS3Store();
	const verify = (name: string) =>
		runCommand(["archive", "verify", "--json"], {
			DATABASE_URL: archived.connection.connectionString,
			ASSAY_ARCHIVE_URL: `${bucket.origin}/${name}/reports`,
			ASSAY_ARCHIVE_S3_KEY: "id:secret",
		});
	await archived.archive();
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
