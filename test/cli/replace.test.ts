import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, existsSync, readdirSync, readFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { Client } from "pg";
import {
	afterAll,
	afterEach,
	beforeAll,
	beforeEach,
	expect,
	test,
	vi,
} from "vitest";
import {
	type EmbeddedPostgres,
	openEmbeddedPostgres,
} from "../../src/db/embedded.ts";
import { findFormerDatabases } from "../../src/db/replace-embedded.ts";
import { runCommand } from "../support/command.ts";
import { makeFolder } from "../support/folder.ts";
import { copyDataFolder } from "../support/made-data.ts";
import { assay, PROGRAM, withSettings } from "../support/program.ts";

let folder: string;
let data: string;
let file: string;
let settings: Record<string, string>;

function use(path: string): void {
	folder = path;
	data = join(folder, "data");
	file = join(folder, "before.backup");
	settings = { ASSAY_DATA_DIR: data };
}

/** A data folder with the organization "Before", and its backup. Each test has a copy of both. */
let made: string;
beforeAll(async () => {
	made = await makeFolder("assay-replace-");
	use(made);
	await copyDataFolder(data);
	await withServer(async () => {
		await addOrganization("Before");
		expect((await run("backup", file)).code).toBe(0);
	});
});
afterAll(() => rm(made, { recursive: true, force: true }));

beforeEach(async () => {
	use(await makeFolder("assay-replace-"));
	await promisify(execFile)("cp", ["-a", `${made}/.`, folder]);
});
// The initdb of a killed restore may still write for a moment.
afterEach(() => rm(folder, { recursive: true, force: true, maxRetries: 20 }));

const run = (...args: string[]) => runCommand(args, settings);

/** Runs commands that use the same server. Each would start and stop one of its own otherwise. */
async function withServer(
	work: (postgres: EmbeddedPostgres) => Promise<void>,
): Promise<void> {
	const postgres = await openEmbeddedPostgres(data);
	try {
		await work(postgres);
	} finally {
		await postgres.close();
	}
}

async function addOrganization(name: string): Promise<void> {
	const { code, stderr } = await run("org", "create", "--name", name);
	expect(code, stderr).toBe(0);
}

/** Does what the migration of a newer version does. */
async function migrateToNewer({ connection }: EmbeddedPostgres): Promise<void> {
	const client = new Client(connection);
	await client.connect();
	await client.query(
		"insert into migrations (version, name, checksum) values (9999, '9999_newer.sql', 'x')",
	);
	await client.end();
}

test("an older version refuses the database of a newer one with exit code 78, and restore --replace goes back", async () => {
	await withServer(async (postgres) => {
		await addOrganization("After");
		await migrateToNewer(postgres);
	});
	appendFileSync(join(data, "secret"), "s".repeat(40));

	const refused = await assay(["start"], settings);
	expect(refused.code).toBe(78);
	expect(refused.stderr).toContain("migrated by a newer version");
	expect(refused.stderr).toContain("restore --replace FILE");
	// systemd must not try again with workers either.
	const workers = await assay(["start", "--workers=2"], settings);
	expect(workers.code).toBe(78);
	expect(workers.stderr).toContain("migrated by a newer version");

	const { code, stdout, stderr } = await run("restore", "--replace", file);
	expect(code, stderr).toBe(0);
	expect(stdout).toContain("The secret of this installation stays.");
	expect(stdout).toContain("device unknown-keys --wait 2d");
	const [, kept = "", list = ""] = /rm -r (\S+) (\S+)/.exec(stdout) ?? [];
	expect(existsSync(join(kept, "PG_VERSION"))).toBe(true);
	expect(JSON.parse(await readFile(list, "utf8"))).toHaveProperty("password");
	const [former] = findFormerDatabases(data);
	expect(former).toMatchObject({ directory: kept, file: list });
	const age = Date.now() - (former?.keptAt.getTime() ?? 0);
	expect(age).toBeGreaterThan(-1000);
	expect(age).toBeLessThan(3_600_000);
	expect(readFileSync(join(data, "secret"), "utf8")).toBe("s".repeat(40));
	await withServer(async () => {
		expect((await run("doctor")).stdout).toContain(`rm -r ${kept} ${list}`);
		const organizations = await run("org", "list");
		expect(organizations.stdout).toContain("Before");
		expect(organizations.stdout).not.toContain("After");
	});
	expect(readdirSync(data).filter((name) => /restoring/.test(name))).toEqual(
		[],
	);
});

test("restore --replace changes nothing while the database is in use or if the file is damaged", async () => {
	await withServer(async () => {
		const used = await run("restore", "--replace", file);
		expect(used).toMatchObject({ code: 1, stdout: "" });
		expect(used.stderr).toContain("is in use; stop the service");
	});

	appendFileSync(file, "more");
	const damaged = await run("restore", "--replace", file);
	expect(damaged).toMatchObject({ code: 1, stdout: "" });
	expect(damaged.stderr).toContain("damaged");
	expect((await run("org", "list")).stdout).toContain("Before");
	expect(readdirSync(data).sort()).toEqual(["postgres", "postgres.json"]);
});

const drafts = () =>
	readdirSync(data).filter((name) => name.startsWith("restoring-"));

/**
 * Starts a restore that waits for a backup on its standard input. It has a server of its own
 * meanwhile.
 */
async function beginRestore() {
	const child = spawn(
		process.execPath,
		[PROGRAM, "restore", "--replace", "-"],
		{ env: withSettings(settings), stdio: ["pipe", "pipe", "pipe"] },
	);
	await vi.waitFor(
		() => {
			const [draft = ""] = drafts();
			expect(existsSync(join(data, draft, "postgres.json"))).toBe(true);
			expect(draft).not.toBe("");
		},
		{ timeout: 60_000, interval: 100 },
	);
	return child;
}

test.each([
	"SIGHUP",
	"SIGTERM",
] as const)("restore --replace that %s interrupts leaves nothing behind", async (signal) => {
	const interrupted = await beginRestore();
	const words = text(interrupted.stderr);
	interrupted.kill(signal);
	const [code] = await once(interrupted, "exit");
	expect(code).toBe(1);
	expect(await words).toContain("the database is what it was before");
	expect(drafts()).toEqual([]);
	expect((await run("org", "list")).stdout).toContain("Before");
});

test("restore --replace that is killed leaves a folder that doctor names", async () => {
	const killed = await beginRestore();
	killed.kill("SIGKILL");
	await once(killed, "exit");
	const [left = ""] = drafts();
	expect((await run("doctor")).stdout).toContain(`rm -r ${join(data, left)}`);
});

test("restore --replace works if the file with the database's place and password is lost", async () => {
	await rm(join(data, "postgres.json"));
	const { code, stdout, stderr } = await run("restore", "--replace", file);
	expect(code, stderr).toBe(0);
	const [, kept = ""] = /rm -r (\S+)\n/.exec(stdout) ?? [];
	expect(existsSync(join(kept, "PG_VERSION"))).toBe(true);
	expect((await run("org", "list")).stdout).toContain("Before");
});

test("restore --replace fills an empty folder, and leaves a database of DATABASE_URL alone", async () => {
	await rm(data, { recursive: true });
	const { code, stdout } = await run("restore", "--replace", file);
	expect(code).toBe(0);
	expect(stdout).not.toContain("former database");
	expect((await run("org", "list")).stdout).toContain("Before");

	const elsewhere = await runCommand(["restore", "--replace", file], {
		DATABASE_URL: "postgres://localhost:1/none",
	});
	expect(elsewhere.code).toBe(1);
	expect(elsewhere.stderr).toContain("--replace works only with the embedded");
});
