import { spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findGuestObstacle, judgeGuest } from "./guest.ts";
import { parseLines } from "./lines.ts";
import { judgeRealPrograms, type RealVerdicts } from "./real-runs.ts";
import {
	countRows,
	describeRows,
	findUntriedReasons,
	type Row,
	rowOf,
	type Verdict,
} from "./verdicts.ts";

// Runs every check of the device agent against every recording, and on Linux as root also against
// real rules and programs in a namespace. Prints a table. Exits with 1 if a verdict is wrong, or if
// there are fewer cases than promised. A real run whose program is not installed is skipped.

const USAGE = `Usage: npm run bench:checks [-- --guest]

Runs every check of the device agent against every recording and prints a table of the verdicts. On
Linux as root it also judges real rules of nft and iptables, firewalld, sshd and chrony, in
namespaces. It skips those that are not installed, and says so. Exits with 1 if a verdict is wrong,
if a failure has no reason in words or no advice, or if no case gives a reason that
docs/agent-checks.md names.

--guest  also starts a Debian in QEMU and runs the agent in it: LUKS, systemd and AppArmor. Needs
         mmdebstrap, cpio, qemu-system-x86, linux-image-amd64, root and the network for the
         packages of Debian. Takes about 5 minutes.
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

async function runGuest({ skipped }: RealVerdicts): Promise<Row[]> {
	const obstacle = findGuestObstacle();
	if (obstacle === undefined) return judgeGuest();
	skipped.push({
		platform: "LINUX",
		check: "all",
		source: "real",
		name: `a guest: ${obstacle}`,
		verdict: "not run",
		expected: "any",
	});
	return [];
}

async function main(): Promise<void> {
	const real = judgeRealPrograms();
	const guest = process.argv.includes("--guest") ? await runGuest(real) : [];
	const rows = [...judgeRecordings(), ...real.rows, ...guest];
	const wrong = rows.filter(
		({ verdict, expected }) => expected !== "any" && verdict !== expected,
	);
	console.log(describeRows([...rows, ...real.skipped]));
	console.log(`\n${countRows(rows)}`);
	for (const { name } of real.skipped) console.log(`not run: ${name}`);
	const untold = rows.filter(
		({ explanation }) =>
			explanation &&
			(explanation.reason === undefined ||
				explanation.remediation === undefined),
	);
	console.log(`\n${rows.length} cases, ${wrong.length} wrong verdicts`);
	if (wrong.length > 0) console.log(describeRows(wrong));
	if (untold.length > 0) {
		console.log("Failures without a reason or without advice:");
		console.log(describeRows(untold));
	}
	const untried = findUntriedReasons(rows);
	for (const reason of untried) console.log(`no case gives ${reason}`);
	for (const file of real.broken) console.log(`${file} failed`);
	if (
		wrong.length + untold.length + untried.length > 0 ||
		real.broken.length > 0 ||
		rows.length < MIN_CASES
	) {
		process.exitCode = 1;
	}
}

if (process.argv.includes("--help")) console.log(USAGE);
else await main();
