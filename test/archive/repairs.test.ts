import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import {
	afterAll,
	afterEach,
	beforeAll,
	beforeEach,
	expect,
	test,
} from "vitest";
import type { ArchiveStore } from "../../src/archive/archive-store.ts";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
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

test("a file that cannot be deleted keeps neither the others nor the months, and counts as missing work", async () => {
	await archived.archive();
	const locked = archived.nameOf(MARCH, 1);
	await archived.deleteOrganization();
	const withLock: ArchiveStore = {
		...archived.store,
		remove: async (name) => {
			if (name === locked) throw new Error("the object is locked");
			await archived.store.remove(name);
		},
	};
	expect(await archived.archive(withLock)).toMatchObject({
		removed: 3,
		failures: [{ name: locked, reason: "the object is locked" }],
	});
	expect(await archived.files()).toEqual([locked]);
	expect(await archived.state()).toEqual({ months: 0, devices: 0, files: 1 });
	expect(await archived.archive()).toMatchObject({ removed: 1, failures: [] });
	expect(await archived.state()).toEqual({ months: 0, devices: 0, files: 0 });
});

test("a file that is written again is not deleted for an earlier one with its name", async () => {
	const { owner } = archived;
	await owner.query("insert into archive_leftovers values ($1)", [
		archived.nameOf(MARCH, 1),
	]);
	const refusing: ArchiveStore = {
		...archived.store,
		remove: async () => {
			throw new Error("the object is locked");
		},
	};
	expect(await archived.archive(refusing)).toMatchObject({
		archived: [MARCH, APRIL],
	});
	expect(await archived.archive()).toMatchObject({ removed: 0, failures: [] });
	expect(await archived.rows(MARCH)).toEqual(await archived.packedRows(MARCH));
});

test("a missing or changed file is written from the database, while that has the month", async () => {
	const ids = history.devices.map(({ id }) => id).sort();
	await archived.archive();
	await rm(join(archived.folder, archived.nameOf(MARCH, 1)));
	await writeFile(
		join(archived.folder, archived.nameOf(APRIL, 1)),
		"no Parquet",
	);
	await archived.fleet.call(deleteDevice, { id: ids[0] as string });
	expect(await archived.archive()).toMatchObject({
		rewritten: 2,
		failures: [],
	});
	for (const month of [MARCH, APRIL]) {
		expect(await archived.devicesIn(month)).toEqual(new Set(ids.slice(1)));
		expect(await archived.rows(month)).toEqual(
			await archived.packedRows(month),
		);
	}
});

test("a lost file of a dropped month keeps no other file, until the operator lets it be forgotten", async () => {
	const ids = history.devices.map(({ id }) => id).sort();
	await archived.archive();
	await archived.drop();
	const lost = archived.nameOf(MARCH, 1);
	await rm(join(archived.folder, lost));
	await archived.fleet.call(deleteDevice, { id: ids[0] as string });
	expect(await archived.archive()).toMatchObject({
		rewritten: 1,
		failures: [
			{ name: lost, reason: expect.stringContaining("--forget-missing") },
		],
	});
	expect(await archived.state()).toEqual({ months: 0, devices: 1, files: 0 });
	const settings = {
		DATABASE_URL: archived.connection.connectionString,
		ASSAY_ARCHIVE_URL: `file://${archived.folder}`,
	};
	const verify = (...options: string[]) =>
		runCommand(["archive", "verify", "--json", ...options], settings);
	expect((await verify()).code).toBe(1);
	const elsewhere = await runCommand(
		["archive", "verify", "--forget-missing"],
		{
			...settings,
			ASSAY_ARCHIVE_URL: `file://${await makeFolder("assay-empty-")}`,
		},
	);
	expect(elsewhere.code).toBe(1);
	expect(elsewhere.stderr).toContain("has none of the 4 files");
	const forgotten = await verify("--forget-missing");
	expect(forgotten).toMatchObject({ code: 0 });
	expect(JSON.parse(forgotten.stdout)).toMatchObject({
		files: 4,
		forgotten: [lost],
	});
	expect(await archived.archive()).toMatchObject({
		rewritten: 0,
		failures: [],
	});
	expect(await archived.state()).toEqual({ months: 0, devices: 0, files: 0 });
	expect((await verify()).code).toBe(0);
});

test("a file that was forgotten is written again if the database has its month", async () => {
	await archived.archive();
	await rm(join(archived.folder, archived.nameOf(MARCH, 1)));
	const verified = await runCommand(["archive", "verify", "--forget-missing"], {
		DATABASE_URL: archived.connection.connectionString,
		ASSAY_ARCHIVE_URL: `file://${archived.folder}`,
	});
	expect(verified).toMatchObject({ code: 0 });
	expect(verified.stdout).toContain("missing, forgotten");
	expect(await archived.drop()).toHaveLength(1);
	expect(await archived.archive()).toMatchObject({
		archived: [MARCH],
		rewritten: 0,
	});
	expect(await archived.rows(MARCH, [3, 2])).toEqual(
		await archived.packedRows(MARCH),
	);
});
