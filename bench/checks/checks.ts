import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { FIREWALL_CASES } from "../../test/agent/recordings/firewall-cases.ts";
import {
	countRows,
	describeRows,
	type Row,
	rowOf,
	type Verdict,
} from "./verdicts.ts";

// Runs every check of the device agent against every recording, and on Linux as root also against
// real rules and programs in a namespace. Prints a table. Exits with 1 if a verdict is wrong, or if
// there are fewer cases than promised.

const USAGE = `Usage: npm run bench:checks

Runs every check of the device agent against every recording and prints a table of the verdicts. On
Linux as root it also judges real rules of nft and iptables, sshd and chrony, in namespaces. Exits
with 1 if a verdict is wrong.
`;
const MIN_CASES = 300;
const ROOT = join(import.meta.dirname, "../..");

function judgeRecordings(): Row[] {
	const folder = mkdtempSync(join(tmpdir(), "checks-"));
	const file = join(folder, "verdicts.ndjson");
	try {
		const { status } = spawnSync(
			process.execPath,
			[
				join(ROOT, "node_modules/vitest/vitest.mjs"),
				"run",
				"--config",
				"bench/checks/vitest.config.ts",
			],
			{
				cwd: ROOT,
				env: { ...process.env, CHECK_VERDICTS: file },
				stdio: ["ignore", process.stderr, process.stderr],
			},
		);
		if (status !== 0) process.exitCode = 1;
		return parseLines<Verdict>(readFileSync(file, "utf8"))
			.map(rowOf)
			.filter((row) => row !== undefined);
	} finally {
		rmSync(folder, { recursive: true });
	}
}

/** Runs a program of this folder in namespaces of its own, which this machine may not allow. */
function runIsolated(program: string): string | undefined {
	const args = ["--net", "--mount", "--pid", "--fork", "--mount-proc"];
	try {
		return execFileSync(
			"unshare",
			[...args, process.execPath, join(import.meta.dirname, program)],
			{ encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] },
		);
	} catch {
		process.stderr.write(`${program} could not run in a namespace\n`);
		return undefined;
	}
}

function judgeRealFirewalls(): Row[] {
	const expected = new Map(FIREWALL_CASES.map((one) => [one.name, one.status]));
	return parseLines<{ name: string; status: string }>(
		runIsolated("firewall-in-namespace.ts") ?? "",
	).map(({ name, status }) => ({
		platform: "LINUX",
		check: "FIREWALL_ENABLED",
		source: "real",
		name,
		verdict: status,
		expected: expected.get(name) ?? "",
	}));
}

function judgeRealPrograms(): Row[] {
	return parseLines<Omit<Row, "platform" | "source">>(
		runIsolated("programs-in-namespace.ts") ?? "",
	).map((row) => ({ platform: "LINUX", source: "real", ...row }));
}

const parseLines = <T>(text: string): T[] =>
	text
		.split("\n")
		.filter((line) => line !== "")
		.map((line) => JSON.parse(line) as T);

function main(): void {
	const isRoot = process.platform === "linux" && process.getuid?.() === 0;
	const rows = [
		...judgeRecordings(),
		...(isRoot ? [...judgeRealFirewalls(), ...judgeRealPrograms()] : []),
	];
	const wrong = rows.filter(
		({ verdict, expected }) => expected !== "any" && verdict !== expected,
	);
	console.log(describeRows(rows));
	console.log(`\n${countRows(rows)}`);
	if (!isRoot) console.log("\nReal runs need Linux and root.");
	console.log(`\n${rows.length} cases, ${wrong.length} wrong verdicts`);
	if (wrong.length > 0) console.log(describeRows(wrong));
	if (wrong.length > 0 || rows.length < MIN_CASES) process.exitCode = 1;
}

if (process.argv.includes("--help")) console.log(USAGE);
else main();
