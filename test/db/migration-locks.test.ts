import { Client } from "pg";
import { expect, onTestFinished, test, vi } from "vitest";
import { type Migration, migrate, type Step } from "../../src/db/migrate.ts";
import { createEmptyDatabase } from "../support/database.ts";

async function connect(url: string, program: string): Promise<Client> {
	const client = new Client({
		connectionString: url,
		application_name: program,
	});
	await client.connect();
	onTestFinished(() => client.end());
	return client;
}

function migration(version: number, sql: string): Migration {
	return { version, name: `000${version}_test.sql`, sql, checksum: sql };
}

test("a migration that waits for a backup lets others use the table, and says for whom it waits", async () => {
	const url = await createEmptyDatabase();
	const all = [
		migration(1, "create table devices (id int)"),
		migration(2, "alter table devices add name text"),
	];
	await migrate({ connectionString: url }, all.slice(0, 1));
	const backup = await connect(url, "assay backup");
	await backup.query("begin; select from devices");

	const steps: Step[] = [];
	const migrating = migrate({ connectionString: url }, all, "make", (step) =>
		steps.push(step),
	);
	const waits =
		/^migration 1 of 1, 0002_test\.sql, which waits for assay backup \(pid \d+\)$/;
	await vi.waitFor(
		() => expect(steps).toContainEqual(expect.stringMatching(waits)),
		{ timeout: 20_000 },
	);
	// As long as the backup runs, the migration holds no lock and does not ask for one.
	const service = await connect(url, "assay");
	await service.query("set lock_timeout = '1ms'");
	for (let time = 0; time < 20; time++) {
		await service.query("insert into devices values (1)");
		await new Promise((resolve) => setTimeout(resolve, 150));
	}

	await backup.query("commit");
	expect(await migrating).toEqual(["0002_test.sql"]);
	// It waits for nobody any more.
	expect(steps.at(-1)).toBe("migration 1 of 1, 0002_test.sql");
	await service.query("select name from devices");
});

test("a migration that waits for many transactions, one after the other, waits for each", async () => {
	const url = await createEmptyDatabase();
	const all = [
		migration(1, "create table devices (id int)"),
		migration(2, "alter table devices add name text"),
	];
	await migrate({ connectionString: url }, all.slice(0, 1));
	// More than the attempts after deadlocks.
	let left = 5;
	let backup = await connect(url, "assay backup");
	await backup.query("begin; select from devices");
	const next = async () => {
		const following = await connect(url, "assay backup");
		await following.query("begin; select from devices");
		await backup.query("commit");
		backup = following;
	};
	let waits = Promise.resolve();
	const migrating = migrate({ connectionString: url }, all, "make", (step) => {
		if (!String(step).includes("waits for assay backup")) return;
		waits = waits.then(() =>
			left-- > 0 ? next() : backup.query("commit").then(() => {}),
		);
	});
	expect(await migrating).toEqual(["0002_test.sql"]);
	await waits;
	expect(left).toBe(-1);
});
