import { expect, test } from "vitest";
import { migrate, readMigrations } from "../../src/db/migrate.ts";
import { makeId, makeOrganizationId } from "../../src/id.ts";
import {
	allRows,
	backUp,
	catalogue,
	query,
	restore,
} from "../support/backups.ts";
import {
	createDatabaseForTest,
	createEmptyDatabase,
} from "../support/database.ts";

/**
 * Creates a database with some content in the state in which the version with this many migrations
 * left it.
 */
async function oldDatabase(version: number): Promise<string> {
	const url = await createEmptyDatabase();
	const connection = { connectionString: url };
	await migrate(connection, readMigrations().slice(0, version));
	const organization = makeOrganizationId();
	const device = makeId(organization, "device");
	await query(
		url,
		"insert into organizations (id, name) values ($1, 'Ältere')",
		[organization],
	);
	await query(
		url,
		"insert into devices (organization_id, id, name, hostname) values ($1, $2, 'Laptop', 'Höst')",
		[organization, device],
	);
	await query(
		url,
		`insert into device_conflicts (organization_id, device_id, kind, hardware_uuid, platform, hostname, os_version, agent_version)
		values ($1, $2, 'POSSIBLE_CLONE', 'u', 'LINUX', 'h', '1', '1')`,
		[organization, device],
	);
	await query(url, "select ensure_posture_report_partitions()");
	await query(
		url,
		`insert into posture_reports values ($1, $2, $3, now(), '[]'), ($1, $2, $3, '2026-01-05', '[]')`,
		[organization, device, makeId(organization, "device_posture_report")],
	);
	await query(
		url,
		"insert into risks (organization_id, id, name, category, treatment, inherent_likelihood, inherent_impact, residual_likelihood, residual_impact) values ($1, $2, 'Fire', 'IT', 'ACCEPTED', 2, 3, 1, 1)",
		[organization, makeId(organization, "risk")],
	);
	return url;
}

/** Returns all rows, without the moment since when versions are kept: that of the migration. */
async function allRowsButTimes(url: string): ReturnType<typeof allRows> {
	const { organizations = [], last_retention: _, ...rows } = await allRows(url);
	return Object.assign(rows, {
		organizations: organizations.map((row) =>
			row.replace(/"records_known_since": "[^"]+"/, ""),
		),
	});
}

test("a backup of schema 0005 restores to the same state as a migrated database", async () => {
	const old = await oldDatabase(5);
	const backup = await backUp(old);
	expect(backup.manifest.migrations).toHaveLength(5);
	const restored = await createEmptyDatabase();
	const { migrated } = await restore(restored, backup.file);
	expect(migrated).toEqual(
		readMigrations()
			.slice(5)
			.map(({ name }) => name),
	);

	await migrate({ connectionString: old });
	const { migrations: _a, ...expected } = await allRowsButTimes(old);
	const { migrations: _b, ...found } = await allRowsButTimes(restored);
	expect(found).toEqual(expected);
	expect(await catalogue(restored)).toEqual(await catalogue(old));
	// Migration 0006 derives these values from existing rows.
	expect(
		await query(restored, "select search_text, hostname_key from devices"),
	).toEqual([{ search_text: "laptop host", hostname_key: "host" }]);
	// The trigger on conflicts, which comes from 0006, must not run a second time.
	expect(found.audit_entries).toEqual([]);
});

test("backing up a database with an older schema does not change the schema", async () => {
	const old = await oldDatabase(6);
	const before = await catalogue(old);
	await backUp(old);
	expect(await catalogue(old)).toEqual(before);
});

test("a database of a newer schema rejects an older backup and says what to do", async () => {
	const backup = await backUp(await oldDatabase(5));
	const { url } = await createDatabaseForTest();
	await expect(restore(url, backup.file)).rejects.toThrow(
		/newer schema .* than the backup \(0005_records\.sql\).*set ASSAY_DATA_DIR to a new folder/,
	);
});
