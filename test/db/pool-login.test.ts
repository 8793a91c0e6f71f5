import { Client } from "pg";
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { openDatabase } from "../../src/db/database.ts";
import { embeddedFolder } from "../support/embedded.ts";

const folder = embeddedFolder();

const open = () =>
	openDatabase(
		readConfig({
			ASSAY_DATA_DIR: folder.dataDir,
			ASSAY_SECRET: "what the sessions of the tests are signed with",
		}),
	);

test("on the embedded server no pool can become a superuser or read what its roles may not", async () => {
	await folder.fillDataDir();
	// The second time the login exists already.
	await (await open()).close();
	const database = await open();
	try {
		const { pool, devicePool, identityPool, auditPool } = database;
		for (const each of [pool, devicePool, identityPool, auditPool]) {
			const client = await each.connect();
			await client.query("reset role");
			const { rows } = await client.query(
				"select current_user::text as login, rolsuper, rolcreaterole, rolbypassrls from pg_roles where rolname = current_user",
			);
			expect(rows).toEqual([
				{
					login: "assay_service",
					rolsuper: false,
					rolcreaterole: false,
					rolbypassrls: false,
				},
			]);
			for (const sql of [
				"set role assay",
				"set role assay_backup_assay",
				"set role assay_privacy_assay",
				"select from pg_authid",
				"alter table users disable row level security",
				"alter role assay_service superuser",
			]) {
				await expect(client.query(sql), sql).rejects.toMatchObject({
					code: "42501",
				});
			}
			client.release(true);
		}
		const owner = new Client(database.ownerConnection);
		await owner.connect();
		expect((await owner.query("show is_superuser")).rows).toEqual([
			{ is_superuser: "on" },
		]);
		await owner.end();
	} finally {
		await database.close();
	}
});
