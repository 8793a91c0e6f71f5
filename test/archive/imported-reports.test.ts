import { rm } from "node:fs/promises";
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
import type { ResultRow } from "../../src/archive/parquet-file.ts";
import { deleteDevice } from "../../src/devices/write-operations.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { withOperations } from "../support/devices.ts";
import { exportOf, importInto } from "../support/organization-files.ts";
import {
	APRIL,
	ArchivedFleet,
	type ArchivedHistory,
	MARCH,
	makeArchivedHistory,
} from "./archived-fleet.ts";

/** What the database of the other installation has, and its organization as a file. */
interface Other {
	organizationId: string;
	file: Buffer;
	rows: Record<string, ResultRow[]>;
}

let history: ArchivedHistory;
let other: Other;
let archived: ArchivedFleet;
beforeAll(async () => {
	history = await makeArchivedHistory();
	other = await makeOther();
});
afterAll(() => history.drop());
beforeEach(async () => {
	archived = await history.copy();
});
afterEach(() => archived.fleet.assay.close());

/** Makes an installation with a history, and exports its organization. */
async function makeOther(): Promise<Other> {
	const made = await makeArchivedHistory();
	const copy = await made.copy();
	const { organizationId, connection } = copy;
	const other = {
		organizationId,
		file: await exportOf(connection.connectionString, organizationId),
		rows: {
			[MARCH]: await copy.packedRows(MARCH),
			[APRIL]: await copy.packedRows(APRIL),
		},
	};
	await copy.fleet.assay.close();
	await made.drop();
	return other;
}

/** Returns this installation without devices, until the test ends. */
async function emptyFleet(): Promise<ArchivedFleet> {
	const { assay } = archived.fleet;
	const database = await createDatabaseForTest();
	return new ArchivedFleet(
		withOperations({ ...assay, database }),
		archived.folder,
	);
}

/** Moves the organization of the other installation into this one. */
const importOther = ({ connection } = archived) =>
	importInto(connection.connectionString, other.file);

test("imported reports of a month that is packed and archived are packed and archived before they are dropped", async () => {
	await archived.archive();
	await importOther();
	const own = await archived.rows(MARCH);
	expect(await archived.pack()).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
	});
	expect(await archived.drop()).toEqual([]);
	expect(await archived.archive()).toMatchObject({
		archived: [MARCH, APRIL],
		rewritten: 0,
		failures: [],
	});
	expect(await archived.rows(MARCH, [1, 2], other.organizationId)).toEqual(
		other.rows[MARCH],
	);
	expect(await archived.rows(MARCH)).toEqual(own);
	expect(await archived.drop()).toHaveLength(2);
});

test("imported reports of a month that was archived and dropped are archived, and the old files stay whole", async () => {
	const [first] = history.devices.map(({ id }) => id).sort();
	await archived.archive();
	await importOther();
	// The packed months of before go, and the plain reports of the import stay.
	expect(await archived.drop()).toHaveLength(2);
	const own = (await archived.rows(MARCH)).filter(
		(row) => row.device_id !== first,
	);
	expect(await archived.archive()).toMatchObject({ archived: [] });
	expect(await archived.pack()).toMatchObject({
		packed: [MARCH, APRIL],
		failed: [],
	});
	expect(await archived.drop()).toEqual([]);
	// The database has the months again, but not the reports of the other organization. So a file of
	// these that is missing is not written from it.
	const lost = archived.nameOf(APRIL, 1);
	await rm(join(archived.folder, lost));
	await archived.fleet.call(deleteDevice, { id: first as string });
	expect(await archived.archive()).toMatchObject({
		archived: [MARCH, APRIL],
		rewritten: 1,
		failures: [{ name: lost }],
	});
	expect(await archived.files()).not.toContain(lost);
	expect(await archived.rows(MARCH, [1, 2], other.organizationId)).toEqual(
		other.rows[MARCH],
	);
	expect(await archived.rows(MARCH)).toEqual(own);
	expect(await archived.drop()).toHaveLength(1);
});

test("reports that are moved into a month while it is archived are not forgotten", async () => {
	const devices = history.devices.map(({ id }) => id).sort();
	const { owner } = archived;
	const addLate = async (device: string) => {
		await owner.query("select make_posture_report_partition($1)", [MARCH]);
		await owner.query(
			`insert into posture_reports
			select organization_id, $1, 'r' || right(report_ids[1], 31), received_at[1],
				'[{"check_key": "LATE", "status": "PASS"}]'
			from packed_posture_reports where month = $2 limit 1`,
			[device, MARCH],
		);
		await archived.pack();
	};
	let puts = 0;
	const watched: ArchiveStore = {
		...archived.store,
		put: async (path, name) => {
			await archived.store.put(path, name);
			// The devices of this file are archived, and then one of them and a new one get reports.
			if (puts++ === 0) {
				await addLate(devices[0] as string);
				await addLate("-".repeat(32));
			}
		},
	};
	expect(await archived.archive(watched)).toMatchObject({ archived: [APRIL] });
	expect(await archived.archive()).toMatchObject({
		archived: [MARCH],
		rewritten: 1,
	});
	const rows = await archived.rows(MARCH, [3, 1, 2]);
	expect(rows.filter((row) => row.check_key === "LATE")).toHaveLength(2);
	expect(rows).toHaveLength(14);
});

test("reports that are imported while their month is packed are not dropped with the plain ones", async () => {
	const empty = await emptyFleet();
	const { owner } = empty;
	await owner.query("select make_posture_report_partition($1)", [MARCH]);
	await owner.query("select begin_packed_month($1)", [MARCH]);
	await importOther(empty);
	// As a packing that has compared its devices before the import was committed.
	const { rows } = await owner.query<{ isFinished: boolean }>(
		`select finish_packed_month($1) as "isFinished"`,
		[MARCH],
	);
	expect(rows).toEqual([{ isFinished: false }]);
	expect(await empty.pack()).toMatchObject({ packed: [MARCH, APRIL] });
	for (const month of [MARCH, APRIL]) {
		expect(await empty.packedRows(month)).toEqual(other.rows[month]);
	}
	const { rows: left } = await owner.query(
		"select from posture_report_changes",
	);
	expect(left).toEqual([]);
});
