import { rm } from "node:fs/promises";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { makeLogger } from "../../src/log.ts";
import { serve } from "../../src/serve.ts";
import { runCommand } from "../support/command.ts";
import { createDatabaseForTest } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { heartbeatBody, startService } from "../support/service.ts";

test("devices that enrolled after the backup keep their keys after a restore, and one command brings them back", async () => {
	const before = await startService();
	onTestFinished(() => before.close());
	const folder = await makeFolder("assay-backup-");
	onTestFinished(() => rm(folder, { recursive: true }));
	const file = join(folder, "a.backup");
	const old = await before.activateDevice();
	const reissued = await before.activateDevice();
	const made = await runCommand(["backup", file], {
		DATABASE_URL: before.database.url,
	});
	expect(made.code).toBe(0);
	// After the backup, one device is new, and another one got a new key.
	const added = await before.activateDevice();
	const key = (await before.enrollDevice()).key;
	const { url: DATABASE_URL } = await createDatabaseForTest();
	const run = (...command: string[]) => runCommand(command, { DATABASE_URL });
	const wrong = await run("restore", file, "--unknown-keys-wait", "2 days");
	expect([wrong.code, wrong.stderr]).toEqual([
		2,
		expect.stringContaining("such as 90m, 12h or 2d"),
	]);
	const restored = await run("restore", file, "--unknown-keys-wait", "2d");
	expect(restored.code, restored.stderr).toBe(0);
	expect(restored.stdout).toContain("answers these keys 503 for 2 days");
	expect(restored.stdout).not.toContain("agents forget them");

	const config = readConfig({ ASSAY_PORT: "0", DATABASE_URL });
	const service = await serve(
		{ ...config, dataDir: folder },
		makeLogger("silent"),
	);
	onTestFinished(() => service.close());
	const beat = async (secret: string, hardware_uuid: string) => {
		const answer = await fetch(`${service.url}/api/agent/v1/heartbeat`, {
			method: "POST",
			headers: { authorization: `Bearer ${secret}` },
			body: JSON.stringify(heartbeatBody({ hardware_uuid })),
		});
		return { status: answer.status, body: await answer.json() };
	};
	const beats = async () => [
		await beat(old.key, old.hardwareUuid),
		await beat(added.key, added.hardwareUuid),
		await beat(key, reissued.hardwareUuid),
	];
	expect((await beats()).map(({ status }) => status)).toEqual([200, 503, 503]);

	const { findings } = JSON.parse((await run("doctor", "--json")).stdout);
	expect(findings).toContainEqual({
		check: "device keys",
		status: "warning",
		found: expect.stringMatching(
			/^2 devices use unknown keys and get 503 until 2/,
		),
		advice: expect.stringContaining("assay device adopt"),
	});
	const listed = await run("device", "unknown-keys");
	expect(listed.stdout).toContain(reissued.hardwareUuid);

	const org = ["--org", before.organizationId];
	const unnamed = await run("device", "adopt", ...org);
	expect([unnamed.code, unnamed.stderr]).toEqual([
		1,
		expect.stringContaining("name the keys"),
	]);
	const adopted = await run("device", "adopt", "--all", ...org);
	expect(adopted.stdout).toContain("2 keys adopted");
	const after = await beats();
	expect(after.map(({ status }) => status)).toEqual([200, 200, 200]);
	// The key of known hardware belongs to the device that has the hardware, with its history.
	expect(after[2]?.body).toMatchObject({ device_id: reissued.id });
	const log = await run("audit", "export", ...org);
	expect(log.stdout.match(/"adoptDevice"/g)).toHaveLength(2);
	expect((await beat(reissued.key, reissued.hardwareUuid)).status).toBe(401);
	const ended = await run("device", "unknown-keys", "--reject");
	expect(ended.stdout).toContain("get 401");
});
