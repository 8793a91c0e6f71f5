import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { startAssay } from "../support/program.ts";

let database: TestDatabase;
beforeAll(async () => {
	database = await createDatabase();
});
afterAll(() => database.drop());

test("entries that were committed but not sealed when the service is killed are sealed by the next start", async () => {
	const settings = { DATABASE_URL: database.url };
	const org = await runCommand(
		["org", "create", "--name", "Acme", "--json"],
		settings,
	);
	const { organization_id } = JSON.parse(org.stdout);
	const unsealed = async () => {
		const { rows } = await database.owner.query(
			"select entries::int from count_unsealed_entries($1)",
			[organization_id],
		);
		return rows[0].entries;
	};
	const first = await startAssay(settings);
	await expect.poll(unsealed).toBe(0);

	// Keeps the service from sealing, so that it is killed between commit and seal.
	const holder = new Client({ connectionString: database.url });
	await holder.connect();
	await holder.query("select pg_advisory_lock(4723121)");
	const device = await runCommand(
		["device", "create", "--org", organization_id, "--json"],
		settings,
	);
	const { enrollment_token: token } = JSON.parse(device.stdout);
	const enrolled = await fetch(`${first.url}/api/agent/v1/enroll`, {
		method: "POST",
		body: JSON.stringify({ token }),
	});
	expect(enrolled.status).toBe(200);
	await first.stop("SIGKILL");
	await holder.end();
	expect(await unsealed()).toBe(2);

	const second = await startAssay(settings);
	await expect.poll(unsealed).toBe(0);
	await second.stop("SIGTERM");
	const verified = await runCommand(["audit", "verify", "--json"], settings);
	expect(JSON.parse(verified.stdout)).toMatchObject({
		is_sound: true,
		organizations: [{ entries: 3, unsealed: 0 }],
	});
});
