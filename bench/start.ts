import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { get } from "node:http";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { parseArgs } from "node:util";
import { stopPostmaster } from "../src/db/postmaster.ts";
import { readStat } from "./measure.ts";
import { freePort } from "./own-service.ts";
import { describeMachine, toTable } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";

const USAGE = `Usage: npm run bench:start -- [options]

Measures the time from the start of the program until /health/ready answers 200, with an embedded
database that exists already and does not run.

  --other <folder>    checkout to compare with, in turn with this one
  --rounds <n>        starts of each checkout (15)
  --profile <folder>  folder for a .cpuprofile of each of this checkout's starts
  --help              print this text
`;

const READY_TIMEOUT_MS = 120_000;

const { values } = parseArgs({
	options: {
		other: { type: "string" },
		rounds: { type: "string", default: "15" },
		profile: { type: "string" },
		help: { type: "boolean", default: false },
	},
});

interface Side {
	name: string;
	root: string;
	dataDir: string;
	/** Milliseconds of each start, and processor milliseconds of its program until it was ready. */
	wall: number[];
	cpu: number[];
}

const undo: Undo[] = [];

function makeSide(name: string, root: string): Side {
	const folder = mkdtempSync(join(tmpdir(), "assay-bench-"));
	const dataDir = join(folder, "data");
	undo.push(() => rmSync(folder, { recursive: true, force: true }));
	undo.push(() => stopPostmaster(join(dataDir, "postgres")));
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);
	return { name, root, dataDir, wall: [], cpu: [] };
}

/** Starts the service, waits until it is ready, and stops it. */
async function start({ root, dataDir, wall, cpu }: Side, profile?: string) {
	const port = await freePort();
	const env = Object.fromEntries(
		Object.entries(process.env).filter(
			([name]) => !name.startsWith("ASSAY_") && name !== "DATABASE_URL",
		),
	);
	const begin = performance.now();
	const child = spawn(
		process.execPath,
		[
			...(profile ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : []),
			join(root, "bin/assay.js"),
			"start",
		],
		{
			cwd: root,
			env: {
				...env,
				ASSAY_PORT: String(port),
				ASSAY_DATA_DIR: dataDir,
				ASSAY_LOG_LEVEL: "warn",
			},
			stdio: ["ignore", "ignore", "inherit"],
		},
	);
	const exited = once(child, "exit");
	undo.push(() => void child.kill("SIGKILL"));
	while (!(await isReady(port))) {
		if (child.exitCode !== null) throw new Error("the service has ended");
		if (performance.now() - begin > READY_TIMEOUT_MS) {
			throw new Error("the service was not ready in time");
		}
		await sleep(2);
	}
	wall.push(performance.now() - begin);
	cpu.push((readStat(child.pid as number)?.own ?? NaN) * 1000);
	child.kill("SIGTERM");
	await exited;
}

function isReady(port: number): Promise<boolean> {
	return new Promise((done) => {
		get({ host: "127.0.0.1", port, path: "/health/ready" }, (answer) => {
			answer.resume();
			done(answer.statusCode === 200);
		}).on("error", () => done(false));
	});
}

const median = (all: readonly number[]) =>
	all.toSorted((a, b) => a - b)[Math.floor(all.length / 2)] ?? NaN;

async function run(): Promise<number> {
	const sides = [makeSide("this", join(import.meta.dirname, ".."))];
	if (values.other) sides.push(makeSide("other", resolve(values.other)));
	for (const side of sides) {
		say(`making the database of ${side.name}`);
		// The second start fills the cache of compiled code.
		for (let time = 0; time < 2; time++) await start(side);
		side.wall.length = side.cpu.length = 0;
	}
	for (let round = 0; round < Number(values.rounds); round++) {
		for (const side of round % 2 ? sides : sides.toReversed()) {
			await start(side, side.name === "this" ? values.profile : undefined);
		}
	}
	const rows = sides.map(({ name, wall, cpu }) => [
		name,
		...[median(wall), Math.min(...wall), Math.max(...wall), median(cpu)].map(
			Math.round,
		),
	]);
	const head = ["checkout", "median ms", "least", "most", "its processor ms"];
	process.stdout.write(
		`${describeMachine(undefined)}; ${values.rounds} starts\n\n${toTable(head, rows)}\n`,
	);
	return 0;
}

if (values.help) process.stdout.write(USAGE);
else await runAndUndo(run, undo);
