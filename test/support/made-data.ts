import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { OwnPostgres } from "../../bench/own-postgres.ts";
import { openEmbeddedPostgres } from "../../src/db/embedded.ts";
import { migrate } from "../../src/db/migrate.ts";
import { withStartLock } from "../../src/db/start-lock.ts";

/**
 * Makes `to` a data folder in the state after one start and one stop of the service. The first call
 * of a run creates the original with initdb and all migrations. Each call copies it, which is a
 * tenth of that work.
 */
export async function copyDataFolder(to: string): Promise<void> {
	const folder = inject("runFolder");
	const made = join(folder, "made-data");
	await withStartLock(folder, async () => {
		if (existsSync(made)) return;
		const draft = `${made}.new`;
		const postgres = await openEmbeddedPostgres(draft);
		await migrate(postgres.connection);
		await postgres.close();
		await rename(draft, made);
	});
	await mkdir(dirname(to), { recursive: true });
	await promisify(execFile)("cp", ["-a", made, to]);
}

/** Starts a server of the test's own in `folder`, with a migrated database. */
export async function startMadePostgres(folder: string): Promise<OwnPostgres> {
	await copyDataFolder(folder);
	return OwnPostgres.open(folder);
}
