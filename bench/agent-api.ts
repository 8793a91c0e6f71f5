import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client } from "pg";
import { openEmbeddedPostgres } from "../src/db/embedded.ts";
import { stopPostmaster } from "../src/db/postmaster.ts";
import { makeFleet, readFleet, writeFleet } from "./fleet.ts";
import { readMemory, readUpdates } from "./measure.ts";
import { type Options, readOptions, USAGE } from "./options.ts";
import {
	CHANGE_MS,
	change,
	fill,
	runFirstReports,
	runHeartbeats,
	runMixed,
	runSteadyReports,
} from "./phases.ts";
import {
	LoadGenerator,
	startBareServer,
	startService,
	stopChildren,
} from "./processes.ts";
import { describeMachine, type Report, toMarkdown } from "./report.ts";
import { runAndUndo, say, type Undo } from "./run.ts";
import { seed, settle } from "./seed.ts";

const ORGANIZATIONS = 20;
/** Milliseconds between the service's start and the reading of its memory at rest. */
const REST_MS = 20_000;
/** Milliseconds between the last load and the last reading of its memory. */
const REST_AFTER_LOAD_MS = 60_000;
/**
 * Milliseconds allowed for everything besides the measurements: seeding, filling, warming up and
 * stopping.
 */
const EXTRA_MS = 600_000;
/** Milliseconds allowed for seeding a device with its spans. */
const SEED_MS = 0.5;

/** The steps that clean up at the end. The last one runs first. */
const undo: Undo[] = [];

async function bench(options: Options): Promise<Report> {
	const folder = options.keep ?? mkdtempSync(join(tmpdir(), "assay-bench-"));
	if (options.keep) mkdirSync(folder, { recursive: true });
	else undo.push(() => rmSync(folder, { recursive: true, force: true }));
	const dataDir = join(folder, "data");
	undo.push(() => stopPostmaster(join(dataDir, "postgres")), stopChildren);
	// If root runs this program, PostgreSQL runs as another user, who must be able to enter the
	// folder.
	chmodSync(folder, 0o711);

	const fleetFile = join(folder, "fleet.json");
	const filledFile = join(folder, "filled");
	const isKept = existsSync(filledFile);
	if (!isKept && existsSync(fleetFile)) {
		throw new Error(`${folder} was not filled to its end; remove it`);
	}
	const fleet = isKept
		? readFleet(fleetFile)
		: makeFleet(options.devices, ORGANIZATIONS);
	const numbers = `${options.devices} of ${options.stored} devices`;
	if (isKept && readFileSync(filledFile, "utf8") !== numbers) {
		throw new Error(
			`in ${folder}, ${readFileSync(filledFile, "utf8")} send requests; give the same numbers`,
		);
	}
	if (!isKept) writeFleet(fleetFile, fleet);
	const generator = new LoadGenerator(fleetFile);
	const report: Report = {
		machine: describeMachine(undefined),
		devices: options.stored,
		seconds: options.seconds,
		mixedSeconds: options.mixedSeconds,
		rows: [],
		mixed: [],
		memory: undefined,
		updates: [],
	};
	const does = (part: Options["parts"][number]) => options.parts.includes(part);

	if (does("heartbeats") || does("postures") || does("mixed")) {
		say("starting the service");
		const service = await startService(
			dataDir,
			options.workers,
			options.profile,
			options.service,
			options.node,
		);
		const postgres = await openEmbeddedPostgres(dataDir);
		undo.push(() => postgres.close());
		const client = new Client(postgres.connection);
		client.on("error", () => {});
		await client.connect();
		undo.push(() => client.end());
		await sleep(REST_MS);
		const atRest = readMemory(service.pid, postgres.pid);

		if (!isKept) {
			say(`seeding ${options.stored} devices`);
			await seed(client, fleet, options.stored, Math.max(1, options.changes));
		}
		const watched = {
			serverPid: service.pid,
			postmasterPid: postgres.pid,
			client,
		};
		const { port } = service;
		const stand = { options, generator, watched, port, prefix: "", say };
		if (does("heartbeats")) report.rows.push(...(await runHeartbeats(stand)));
		if (!isKept && does("postures")) {
			report.rows.push(...(await runFirstReports(stand)));
		}
		// Nobody has noted the last statuses of a kept database. So its devices report once more, and
		// the steady reports then change few of them.
		if (does("postures") || does("mixed") || options.keep) await fill(stand);
		if (!isKept) {
			if (options.changes > 0) await change(stand);
			if (options.keep) writeFileSync(filledFile, numbers);
		}
		if (does("postures") || does("mixed")) await settle(client);
		if (does("postures")) report.rows.push(...(await runSteadyReports(stand)));
		if (does("mixed")) report.mixed.push(...(await runMixed(stand)));

		const atTheEnd = readMemory(service.pid, postgres.pid);
		await sleep(REST_AFTER_LOAD_MS);
		const aMinuteLater = readMemory(service.pid, postgres.pid);
		report.memory = { atRest, atTheEnd, aMinuteLater };
		report.updates = await readUpdates(client);
		const { rows } = await client.query("show server_version");
		report.machine = describeMachine(rows[0].server_version);
		await client.end();
		await service.stop();
		await postgres.close();
	}

	if (does("bare")) {
		const bare = await startBareServer();
		const watched = { serverPid: bare.pid };
		const { port } = bare;
		const stand = { options, generator, watched, port, prefix: "bare: ", say };
		report.rows.push(...(await runHeartbeats(stand)));
		report.rows.push(...(await runSteadyReports(stand)));
		compareWithBare(report);
	}
	return report;
}

/**
 * Adds to each row its rate as a share of the bare server's rate, for the same kind of requests and
 * number of connections.
 */
function compareWithBare({ rows }: Report): void {
	const isBare = (load: string) => load.startsWith("bare: ");
	for (const row of rows) {
		const ceiling = rows.find(
			({ load, kind, connections }) =>
				isBare(load) && kind === row.kind && connections === row.connections,
		);
		if (ceiling && !isBare(row.load)) {
			row.ofBare = (row.perSecond / ceiling.perSecond) * 100;
		}
	}
}

/** Runs the benchmark. Gives up if it takes far longer than expected. */
async function run(): Promise<number> {
	const options = readOptions(process.argv.slice(2));
	if (options === "help") {
		process.stdout.write(USAGE);
		return 0;
	}
	const loads = options.connections.length * 6 * options.seconds;
	const limitMs =
		EXTRA_MS +
		(loads + options.mixedSeconds) * 1000 +
		options.stored * SEED_MS * (1 + options.changes) +
		options.devices * options.changes * CHANGE_MS;
	const tooLong = sleep(limitMs, undefined, { ref: false }).then(() => {
		throw new Error(`not done after ${limitMs / 1000} s`);
	});
	const report = await Promise.race([bench(options), tooLong]);
	process.stdout.write(
		options.isJson ? `${JSON.stringify(report)}\n` : toMarkdown(report),
	);
	return 0;
}

await runAndUndo(run, undo);
