import { execFile, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { makeOrganizationId } from "../../src/id.ts";
import { forgeHashes, makeLog, tamper } from "../support/audit-logs.ts";
import { runCommand } from "../support/command.ts";
import { createDatabase, type TestDatabase } from "../support/database.ts";
import { makeFolder } from "../support/folder.ts";
import { assay } from "../support/program.ts";

let database: TestDatabase;
let folder: string;
let settings: Record<string, string>;
/**
 * Two organizations. The log of the first one has five entries, and that of the second has three.
 */
let ours: string;
let theirs: string;
beforeAll(async () => {
	database = await createDatabase();
	folder = await makeFolder("assay-audit-");
	settings = { DATABASE_URL: database.url };
	ours = await makeLog(database, 5);
	theirs = await makeLog(database, 3);
});
afterAll(async () => {
	await database.drop();
	await rm(folder, { recursive: true });
});

const run = (...args: string[]) => runCommand(["audit", ...args], settings);

/** Returns the lines of an export of the log. */
async function exported(...args: string[]): Promise<string[]> {
	const { code, stdout, stderr } = await run("export", ...args);
	expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
	return stdout.split("\n").slice(0, -1);
}

test.for([
	[["audit"]],
	[["audit", "verify"]],
	[["audit", "export"]],
])("%j has a help text", async ([command]) => {
	const { code, stdout } = await runCommand([...(command ?? []), "--help"]);
	expect(code).toBe(0);
	expect(stdout).toContain(`Usage: assay ${command?.join(" ")}`);
});

test("verify of intact logs exits with 0 and prints each newest entry in the form that --expect accepts", async () => {
	const { code, stdout } = await run("verify", "--json");
	const { is_sound, organizations } = JSON.parse(stdout);
	expect({ code, is_sound }).toEqual({ code: 0, is_sound: true });
	const found = new Map<
		string,
		{ entries: number; head: { sequence: number; hash: string } }
	>(
		organizations.map((one: { organization_id: string }) => [
			one.organization_id,
			one,
		]),
	);
	expect(found.get(ours)).toMatchObject({ entries: 5, head: { sequence: 5 } });
	expect(found.get(theirs)).toMatchObject({
		entries: 3,
		head: { sequence: 3 },
	});
	const head = `${ours}:5:${found.get(ours)?.head.hash}`;

	const text = await run("verify");
	expect(text.stdout).toContain(`${head}  Acme (5 entries)`);
	expect(text.stdout).toContain("Keep these lines");
	expect(await run("verify", "--expect", head)).toMatchObject({ code: 0 });
	const only = await run("verify", "--org", theirs);
	expect(only.stdout).toContain(`${theirs}:3:`);
	expect(only.stdout).not.toContain(ours);
});

test("verify of a log that was tampered with exits with 1 and names the organization, the entry and the fault", async () => {
	const broken = await makeLog(database, 4);
	await tamper(
		database,
		"update audit_entries set record_name = 'Forged' where organization_id = $1 and id = #2",
		broken,
	);
	const { code, stdout } = await run("verify");
	expect(code).toBe(1);
	expect(stdout).toContain(`PROBLEM ${broken}: entry 2 was changed`);
	expect(stdout).toMatch(new RegExp(`^ok +${ours}:5:`, "m"));
	const { stdout: json } = await run("verify", "--json", "--org", broken);
	expect(JSON.parse(json)).toMatchObject({
		is_sound: false,
		organizations: [{ findings: [{ sequence: 2 }], finding_count: 1 }],
	});
	await forgeHashes(database, broken, 1);
	expect((await run("verify")).code).toBe(0);
});

test("verify exits with 1 if an expected entry differs or its log is missing", async () => {
	const other = `${ours}:5:${"0".repeat(64)}`;
	expect(await run("verify", "--expect", other)).toMatchObject({
		code: 1,
		stdout: expect.stringContaining(`PROBLEM ${ours}: entry 5 has the hash`),
	});
	const gone = makeOrganizationId();
	expect(
		await run("verify", "--expect", `${gone}:1:${"0".repeat(64)}`),
	).toMatchObject({
		code: 1,
		stdout: expect.stringContaining("the log ends at 0"),
	});
});

test("wrong usage exits with 2, and a missing organization with 1", async () => {
	for (const args of [
		["verify", "--expect", "nonsense"],
		["verify", "--expect", `${ours}:0:${"0".repeat(64)}`],
		["export", "--from", "yesterday"],
		["export", "--until", "2026-02-30T00:00:00Z"],
		["export", "--until", "2026-02-30"],
	]) {
		expect(await run(...args), args.join(" ")).toMatchObject({
			code: 2,
			stdout: "",
		});
	}
	const unknown = makeOrganizationId();
	for (const command of ["verify", "export"]) {
		const { code, stdout, stderr } = await run(command, "--org", unknown);
		expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
		expect(stderr).toMatch(/^assay: there is no organization/);
	}
});

test("export writes each entry as a line of JSON, oldest first, of all organizations or one", async () => {
	const lines = (await exported("--org", ours)).map((line) => JSON.parse(line));
	expect(lines.map(({ sequence }) => sequence)).toEqual([1, 2, 3, 4, 5]);
	expect(lines[2]).toMatchObject({
		organization_id: ours,
		actor_kind: "SYSTEM",
		actor_name: "command line",
		operation: "addRisk",
		record_name: "Risk 3",
		changes: { name: { after: "Risk 3" } },
		hash: expect.stringMatching(/^[0-9a-f]{64}$/),
	});
	const all = (await exported()).map(
		(line) => JSON.parse(line).organization_id,
	);
	expect(all.filter((id) => id === ours)).toHaveLength(5);
	expect(all.filter((id) => id === theirs)).toHaveLength(3);
});

test("export includes --from and excludes --until", async () => {
	const all = (await exported("--org", ours)).map((line) => JSON.parse(line));
	const [, second, , fourth] = all.map(({ at }) => at);
	const between = await exported(
		"--org",
		ours,
		"--from",
		second,
		"--until",
		fourth,
	);
	expect(between.map((line) => JSON.parse(line).sequence)).toEqual([2, 3]);
});

test("a date without a time means the whole day in UTC, and --json makes no difference", async () => {
	const id = await makeLog(database, 4);
	for (const [sequence, at] of [
		[1, "2026-01-30T23:59:59.999Z"],
		[2, "2026-01-31T00:00:00Z"],
		[3, "2026-01-31T23:59:59.999Z"],
		[4, "2026-02-01T00:00:00Z"],
	]) {
		await tamper(
			database,
			`update audit_entries set at = '${at}' where organization_id = $1 and id = #${sequence}`,
			id,
		);
	}
	await forgeHashes(database, id, 1);
	const day = "2026-01-31";
	const lines = await exported(
		...["--json", "--org", id, "--from", day, "--until", day],
	);
	expect(lines.map((line) => JSON.parse(line).sequence)).toEqual([2, 3]);
});

/** Runs the recipe from docs/audit-log.md on the lines. Returns its output. */
async function follow(lines: string[]): Promise<string> {
	const page = readFileSync(
		join(import.meta.dirname, "../../docs/audit-log.md"),
		"utf8",
	);
	const recipe = /```sh\n([\s\S]*?)```/.exec(page)?.[1];
	if (!recipe) throw new Error("the page has no recipe");
	await writeFile(
		join(folder, "audit.jsonl"),
		lines.map((line) => `${line}\n`).join(""),
	);
	return new Promise((resolve, reject) =>
		execFile("sh", ["-c", recipe], { cwd: folder }, (error, stdout, stderr) =>
			error || stderr ? reject(new Error(stderr)) : resolve(stdout),
		),
	);
}

test("the recipe in the documentation verifies an export without Assay", async () => {
	const odd = await makeLog(database, 1);
	await database.pool.query("select audit_append($1, $2)", [
		odd,
		JSON.stringify([
			{
				actor_kind: "SYSTEM",
				actor_name: 'a "quoted" \\ name, "hash": "00"} ü\n%s 🛡️',
				operation: "addRisk",
			},
		]),
	]);
	const other = await makeLog(database, 3);
	const sound = await exported("--org", odd);
	const lines = await exported("--org", other);
	expect(await follow([...sound, ...lines])).toBe("");
	const forged = lines.map((line) => line.replace('"Risk 3"', '"Risk 4"'));
	const gap = forged.filter((line) => !line.includes('"Risk 2"'));
	const found = await follow(gap);
	expect(found).toContain(`changed: ${other} 3\n`);
	expect(found).toContain(`gap before: ${other} 3\n`);
});

test("2,000 entries of 20 KB can be verified and exported with a heap that is smaller than the entries", async () => {
	const id = await makeLog(database, 0);
	const total = 2_000;
	for (let made = 0; made < total; made += 200) {
		await database.owner.query(
			`select audit_append($1, (
				select jsonb_agg(jsonb_build_object(
					'actor_kind', 'SYSTEM', 'actor_name', 'import', 'operation', 'updateRisk',
					'changes', jsonb_build_object('note', jsonb_build_object('before', repeat('b', 10000), 'after', repeat('a', 10000)))
				)) from generate_series(1, 200)
			))`,
			[id],
		);
	}
	// The entries have 40 MB of changes, and each is read twice. The program itself needs about 40 MB
	// of heap.
	const confined = { ...settings, NODE_OPTIONS: "--max-old-space-size=64" };
	const verified = await assay(
		["audit", "verify", "--org", id, "--json"],
		confined,
	);
	expect(verified.stderr).toBe("");
	expect(JSON.parse(verified.stdout).organizations).toMatchObject([
		{ entries: total, finding_count: 0 },
	]);
	const child = spawn(
		process.execPath,
		["bin/assay.js", "audit", "export", "--org", id],
		{
			cwd: join(import.meta.dirname, "../.."),
			env: { PATH: process.env.PATH, ...confined },
		},
	);
	let lines = 0;
	for await (const chunk of child.stdout) {
		for (const byte of chunk as Buffer) if (byte === 10) lines++;
	}
	expect(lines).toBe(total);
});

test("an export does not fail when its reader stops early", async () => {
	const child = spawn(
		"sh",
		[
			"-c",
			'"$0" "$1" audit export | head -n 1',
			process.execPath,
			"bin/assay.js",
		],
		{
			cwd: join(import.meta.dirname, "../.."),
			env: { PATH: process.env.PATH, ...settings },
		},
	);
	let output = "";
	let trouble = "";
	child.stdout.on("data", (text) => {
		output += text;
	});
	child.stderr.on("data", (text) => {
		trouble += text;
	});
	await new Promise((done) => child.on("close", done));
	expect(JSON.parse(output)).toMatchObject({ sequence: 1 });
	expect(trouble).toBe("");
});
