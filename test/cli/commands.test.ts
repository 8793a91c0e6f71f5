import { execFile, execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { rm } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { SETTING_NAMES } from "../../src/config/settings.ts";
import { makeOrganizationId } from "../../src/id.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { assay } from "../support/program.ts";

let database: TestDatabase;
let settings: Record<string, string>;
beforeAll(async () => {
	database = await createDatabase();
	settings = { DATABASE_URL: database.url };
});
afterAll(() => database.drop());

const COMMANDS = [
	[],
	["start"],
	["migrate"],
	["org"],
	["org", "create"],
	["device"],
	["device", "create"],
	["device", "list"],
	["device", "show"],
	["doctor"],
];

test.for(
	COMMANDS.map((command) => [command.join(" "), command] as const),
)("assay %s --help prints the help and exits with 0", async ([, command]) => {
	const { code, stdout, stderr } = await runCommand([...command, "--help"]);
	expect(code).toBe(0);
	expect(stdout).toContain(`Usage: assay ${command.join(" ")}`.trim());
	expect(stderr).toBe("");
});

test("assay --help explains every setting", async () => {
	const { stdout } = await runCommand(["--help"]);
	for (const name of SETTING_NAMES) {
		expect(stdout).toMatch(new RegExp(`^  ${name}  +\\S`, "m"));
	}
});

test.for([
	[["nonsense"]],
	[["start", "--nonsense"]],
	[["org", "create"]],
	[["org", "create", "--name", " "]],
	[["org", "create", "--name", "a\nb"]],
	[["device", "create"]],
	[["device", "create", "--org", "x", "--expires-in-days", "0"]],
	[["device", "create", "--org", "x", "--expires-in-days", "1.5"]],
])("wrong usage %j exits with 2 and says why on standard error", async ([
	command,
]) => {
	const { code, stdout, stderr } = await runCommand(
		command as string[],
		settings,
	);
	expect(code).toBe(2);
	expect(stdout).toBe("");
	expect(stderr).toMatch(/^error: /);
});

test("commands create an organization and a device and list the devices", async () => {
	const org = await runCommand(
		["org", "create", "--name", "Acme", "--json"],
		settings,
	);
	expect(org.code).toBe(0);
	const { organization_id } = JSON.parse(org.stdout);

	const created = await runCommand(
		[
			"device",
			"create",
			"--org",
			organization_id,
			"--name",
			"laptop",
			"--expires-in-days",
			"3",
			"--json",
		],
		{ ...settings, ASSAY_BASE_URL: "https://assay.example.com" },
	);
	expect(created.code).toBe(0);
	const device = JSON.parse(created.stdout);
	expect(device).toEqual({
		device_id: expect.stringMatching(/^[\w-]{32}$/),
		enrollment_token_id: expect.stringMatching(/^[\w-]{32}$/),
		enrollment_token: expect.stringMatching(/^asy_enr_\w{46}$/),
		expires_at: expect.any(String),
		server_url: "https://assay.example.com",
	});
	const days = (Date.parse(device.expires_at) - Date.now()) / 86_400_000;
	expect(days).toBeGreaterThan(2.9);
	expect(days).toBeLessThan(3.1);

	const { rows } = await database.owner.query(
		"select name from enrollment_tokens where token_hash = sha256(convert_to($1, 'UTF8'))",
		[device.enrollment_token],
	);
	expect(rows).toEqual([{ name: "laptop" }]);

	const list = await runCommand(
		["device", "list", "--org", organization_id],
		settings,
	);
	expect(list.stdout).toContain(device.device_id);
	expect(list.stdout).toMatch(/laptop +PENDING +NEVER/);
	expect(list.stdout).not.toContain("asy_enr_");

	const show = await runCommand(
		["device", "show", device.device_id, "--org", organization_id],
		settings,
	);
	expect(show.code, show.stderr).toBe(0);
	expect(show.stdout).toMatch(/^status +PENDING, NEVER$/m);
	expect(show.stdout).toContain("No posture reports yet.");
	const other = await runCommand(
		["device", "show", "nonsense", "--org", organization_id],
		settings,
	);
	expect(other.code).toBe(1);
	expect(other.stderr).toContain("no device nonsense");
});

test("an unknown or malformed organization id exits with 1 and prints a sentence", async () => {
	for (const id of [makeOrganizationId(), "nonsense"]) {
		const { code, stdout, stderr } = await runCommand(
			["device", "create", "--org", id, "--name", "x"],
			settings,
		);
		expect(code).toBe(1);
		expect(stdout).toBe("");
		expect(stderr).toMatch(/^assay: .*organization.*\n$/);
	}
});

test("a wrong or unknown setting stops the start, and the error names it", async () => {
	for (const [name, value] of [
		["ASSAY_PORT", "eighty"],
		["ASSAY_PROT", "8080"],
		["ASSAY_BASE_URL", "assay.example.com"],
		["ASSAY_LOG_LEVEL", "loud"],
		["DATABASE_URL", "mysql://user:s3cret@host/db"],
	]) {
		const { code, stderr } = await runCommand(["start"], {
			[name as string]: value as string,
		});
		expect(code).toBe(78);
		expect(stderr).toContain(name);
		expect(stderr).not.toContain("s3cret");
		expect(stderr).not.toContain("    at ");
	}
});

test("the error names a port that is in use and says what to do", async () => {
	const taken = createServer();
	await new Promise<void>((done) => taken.listen(0, "127.0.0.1", done));
	const { port } = taken.address() as { port: number };
	const { code, stderr } = await assay(["start"], {
		...settings,
		ASSAY_PORT: String(port),
	});
	taken.close();
	expect(code).toBe(1);
	expect(stderr).toContain(`127.0.0.1:${port}`);
	expect(stderr).toContain("ASSAY_PORT");
});

test("an unreachable database is reported without its password", async () => {
	const { code, stderr } = await runCommand(["migrate"], {
		DATABASE_URL: "postgres://someone:s3cret@127.0.0.1:1/nowhere",
	});
	expect(code).toBe(1);
	expect(stderr).toContain("cannot open its database");
	expect(stderr).not.toContain("s3cret");
});

test("doctor finds no problem in a good installation, as text and as JSON", async () => {
	// No service answers at this address, and it has no port of its own.
	const { code, stdout } = await runCommand(["doctor", "--json"], {
		...settings,
		ASSAY_PORT: "0",
		ASSAY_BASE_URL: "http://127.0.0.1:1",
	});
	const { findings } = JSON.parse(stdout);
	expect(findings.map((one: { check: string }) => one.check)).toEqual([
		"runtime",
		"configuration",
		"public address",
		"disk",
		"time synchronization",
		"database",
		"schema",
		"tenancy",
		"clock",
		"replication",
		"connections",
		"transactions",
		"vacuum",
		"indexes",
		"retention",
		"packing",
		"backup",
		"accounts",
		"second factors",
		"mails",
		"webhooks and chats",
		"maintenance",
		"device keys",
		"enrollment keys",
		"separation",
		"proxies",
	]);
	// The databases of the tests are copies of one, so they share roles.
	expect(
		findings.filter(
			(one: { check: string; status: string }) =>
				one.status !== "ok" &&
				// Nothing synchronizes the clock of some machines that run the tests.
				!["separation", "public address", "time synchronization"].includes(
					one.check,
				),
		),
	).toEqual([]);
	expect(code).toBe(0);
});

test("doctor names a problem, says what to do and exits with an error", async () => {
	const { code, stdout } = await runCommand(["doctor"], {
		DATABASE_URL: "postgres://someone:s3cret@127.0.0.1:1/nowhere",
	});
	expect(code).toBe(1);
	expect(stdout).toMatch(/^problem +database: /m);
	expect(stdout).toContain("→ start PostgreSQL, or correct the host and port");
	expect(stdout).not.toContain("s3cret");
});

test("doctor reports a folder without a database as a problem, and creates none", async () => {
	const folder = await makeFolder("assay-doctor-");
	const data = join(folder, "data");
	const { code, stdout } = await runCommand(["doctor"], {
		ASSAY_DATA_DIR: data,
	});
	expect(existsSync(data)).toBe(false);
	await rm(folder, { recursive: true });
	expect(code).toBe(1);
	expect(stdout).toMatch(/^problem +database: there is no database in/m);
});

test("a command whose output nobody reads ends without an error", async () => {
	const program = `"${process.execPath}" bin/assay.js --help`;
	const { stderr } = await promisify(execFile)("sh", [
		"-c",
		`{ ${program}; echo "ended with $?" >&2; } | true`,
	]);
	expect(stderr).toContain("ended with 0");
});

/** Returns a Node of the system that is too old to run the service, if there is one. */
function findOldNode(): string | undefined {
	for (const folder of (process.env.PATH ?? "").split(":")) {
		try {
			const node = join(folder, "node");
			const version = execFileSync(node, ["--version"], { encoding: "utf8" });
			if (Number(/^v(\d+)/.exec(version)?.[1]) < 24) return node;
		} catch {
			// There is no Node in this folder.
		}
	}
	return undefined;
}

const oldNode = findOldNode();
test.skipIf(!oldNode)(
	"a Node that is too old is rejected with one sentence",
	async () => {
		const { code, stdout, stderr } = await assay(["start"], {}, "", oldNode);
		expect(code).toBe(1);
		expect(stdout).toBe("");
		expect(stderr).toMatch(
			/^Assay needs Node 24 or newer and this is Node \S+\. .*\n$/,
		);
	},
);
