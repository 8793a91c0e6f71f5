import { expect, onTestFinished, test } from "vitest";
import { createDatabaseForTest } from "../support/database.ts";
import { openDatabaseProxy } from "../support/database-proxy.ts";
import { assay } from "../support/program.ts";
import { makeDataFolder } from "./data-folder.ts";
import { runDoctor } from "./run-doctor.ts";

test("doctor says that the embedded PostgreSQL hangs, although the service waits for it too", async () => {
	const { settings, serverPid, start } = await makeDataFolder();
	await start();
	const pid = serverPid();
	process.kill(pid, "SIGSTOP");
	// The service cannot stop otherwise.
	onTestFinished(() => void process.kill(pid, "SIGCONT"));
	const { findings, code } = await runDoctor(settings);
	process.kill(pid, "SIGCONT");
	expect(code).toBe(1);
	expect(findings.filter(({ check }) => check === "database")).toMatchObject([
		{
			status: "problem",
			found: expect.stringMatching(
				new RegExp(`\\(pid ${pid}\\) in .* runs, but does not answer`),
			),
			advice: expect.stringContaining(`kill -CONT ${pid}`),
		},
	]);
});

test("doctor and a start name the database of DATABASE_URL that hangs, without its password", async () => {
	const { url } = await createDatabaseForTest();
	const proxy = await openDatabaseProxy(url);
	proxy.hang();
	const { host, pathname, password } = new URL(proxy.url);
	const place = `the database ${pathname.slice(1)} at ${host}`;
	const settings = { DATABASE_URL: proxy.url };
	// Both wait for the database, so they wait at the same time.
	const [{ findings }, { stderr, code }] = await Promise.all([
		runDoctor(settings),
		assay(["start"], settings),
	]);
	const found = findings.find(({ check }) => check === "database");
	expect(found).toMatchObject({
		status: "problem",
		found: expect.stringContaining(`${place} does not answer`),
	});
	expect(code).toBe(1);
	// On a busy machine, it says so after 5 s or later.
	expect(stderr.replace(/after \d+ s/, "after 5 s")).toContain(
		`still starting after 5 s: connecting to ${place}`,
	);
	if (password) expect(stderr).not.toContain(password);
	await proxy.cut();
});
