import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client } from "pg";
import { readConfig } from "../src/config/config.ts";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { makeLogins } from "../src/demo/accounts.ts";
import { type Seeded, seedDemo } from "../src/demo/seed.ts";
import type { ConsoleFiles } from "../src/http/console-files.ts";
import { makeLogger } from "../src/log.ts";
import { serve } from "../src/serve.ts";
import type { Undo } from "./run.ts";

export interface DemoService extends Seeded {
	url: string;
	/** API token of an administrator. */
	token: string;
	/** A connection of the database's owner, who sees all rows. */
	client: Client;
}

/**
 * Starts the service with the demonstration's data in a temporary folder. The devices do not report
 * meanwhile, so an answer stays right while it is compared.
 */
export async function startDemoService(
	devices: number,
	undo: Undo[],
	settings: Record<string, string> = {},
	webConsole: ConsoleFiles | string = "the benchmark has no console",
): Promise<DemoService> {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const config = readConfig({
		ASSAY_PORT: "0",
		ASSAY_DATA_DIR: join(folder, "data"),
		ASSAY_LOG_LEVEL: "warn",
		...settings,
	});
	const log = makeLogger(config.logLevel);
	const postgres = await openEmbeddedPostgres(config.dataDir);
	undo.push(() => postgres.close());
	const seeded = await seedDemo(
		{ config, log, connection: postgres.connection },
		{
			devices,
			logins: makeLogins(),
			signal: new AbortController().signal,
			tell: () => {},
		},
	);
	const service = await serve(config, log, webConsole);
	undo.push(() => service.close());
	const client = new Client(postgres.connection);
	await client.connect();
	undo.push(() => client.end());
	return { ...seeded, url: service.url, token: seeded.apiToken, client };
}
