import { createServer } from "node:net";
import { Client, type ClientConfig } from "pg";
import type { Logger } from "pino";
import { makeCounts } from "../../simulator/enroll.ts";
import { keepReporting } from "../../simulator/keep-reporting.ts";
import { Pace } from "../../simulator/pace.ts";
import { makeServiceClient } from "../../simulator/service-client.ts";
import { openWebConsole } from "../cli/web-console.ts";
import { readConfig } from "../config/config.ts";
import { openEmbeddedPostgres } from "../db/embedded.ts";
import { AppError } from "../errors.ts";
import { makeLogger } from "../log.ts";
import { serve } from "../serve.ts";
import { makeLogins } from "./accounts.ts";
import { makeDemoFolder, removeLeftovers } from "./folder.ts";
import {
	explainEnd,
	retryWhileBusy,
	TIME_LIMIT_FACTOR,
	tellWaiting,
} from "./retry.ts";
import { type Seeded, seedDemo } from "./seed.ts";
import { enrollThisMachine } from "./this-machine.ts";

const USUAL_PORT = 8080;
const REQUESTS_PER_SECOND = 50;

export interface Demo
	extends Pick<Seeded, "organizationId" | "logins" | "apiToken"> {
	/** The address that people open in a browser. */
	url: string;
	listening: string;
	devices: number;
	/** Stops everything and removes the database. Calling `close` twice is harmless. */
	close: () => Promise<void>;
}

/**
 * Starts the service on a database of its own. The database contains an organization whose devices
 * report, and this machine is one of them. If `signal` aborts, the start is given up. Throws the
 * same AppErrors as `serve`.
 */
export async function startDemo(options: {
	port: number | undefined;
	devices: number;
	signal: AbortSignal;
	tell: (line: string) => void;
}): Promise<Demo> {
	const { devices, signal, tell } = options;
	await removeLeftovers();
	const folder = makeDemoFolder();
	const undo: (() => Promise<unknown>)[] = [() => folder.remove()];
	let closing: Promise<void> | undefined;
	const close = () => {
		closing ??= undoAll(undo);
		return closing;
	};
	try {
		const config = await configure(options.port, folder.data);
		const log = makeLogger(config.logLevel);
		// Both of these take time and do not need the database, so they begin now.
		const webConsole = openWebConsole(log);
		const logins = makeLogins();
		// `seedDemo` awaits this promise. If it rejects earlier, the process must not end.
		logins.catch(() => {});
		tell("Starting a PostgreSQL server for the demonstration …");
		const postgres = await tellWaiting("PostgreSQL to start", tell, () =>
			openEmbeddedPostgres(folder.data, { timeLimitFactor: TIME_LIMIT_FACTOR }),
		);
		undo.push(() => postgres.close());
		await forgetDurability(postgres.connection);
		signal.throwIfAborted();
		const { connection } = postgres;
		const seeded = await seedDemo(
			{ config, log, connection },
			{ devices, logins, signal, tell },
		);
		const console = await webConsole;
		tell("Starting the service …");
		const service = await tellWaiting("the service to start", tell, () =>
			retryWhileBusy(() => serve(config, log, console)),
		);
		undo.push(() => service.close());
		signal.throwIfAborted();
		undo.push(live(seeded, service.url, folder.agent, log, tell));
		return {
			...seeded,
			url: config.baseUrl,
			listening: service.url,
			devices,
			close,
		};
	} catch (error) {
		await close();
		throw explainEnd(error);
	}
}

/**
 * Makes the simulated devices and this machine's agent report. Returns a function that stops them.
 */
function live(
	seeded: Seeded,
	url: string,
	agentFolder: string,
	log: Logger,
	tell: (line: string) => void,
): () => Promise<void> {
	const stop = new AbortController();
	const machine = enrollThisMachine({
		url,
		token: seeded.enrollmentToken,
		folder: agentFolder,
		tell,
	});
	const reporting = keepReporting(
		seeded.fleet,
		makeServiceClient(url, seeded.organizationId, seeded.apiToken),
		new Pace(REQUESTS_PER_SECOND),
		stop.signal,
		makeCounts(),
	).catch((err) => log.error({ err }, "the simulated devices stopped"));
	return async () => {
		stop.abort();
		await Promise.all([reporting, machine.stop()]);
	};
}

async function undoAll(undo: (() => Promise<unknown>)[]): Promise<void> {
	const problems: unknown[] = [];
	for (const step of undo.reverse()) {
		await step().catch((error) => problems.push(error));
	}
	if (problems.length > 0) throw problems[0];
}

/** Makes a configuration without the settings of a real installation, such as its database. */
async function configure(port: number | undefined, dataDir: string) {
	const { ASSAY_HOST, ASSAY_BASE_URL, ASSAY_LOG_LEVEL, ASSAY_PORT } =
		process.env;
	const given = readConfig({ ASSAY_HOST, ASSAY_PORT });
	const wanted = port ?? (ASSAY_PORT ? given.port : undefined);
	const chosen =
		(await findFree(wanted ?? USUAL_PORT, given.host)) ??
		(wanted === undefined ? await findFree(0, given.host) : undefined);
	if (chosen === undefined) {
		throw new AppError(
			"bad_request",
			`cannot listen on ${given.host}:${wanted}; another program may use it; give another port with --port`,
		);
	}
	return readConfig({
		ASSAY_HOST,
		ASSAY_BASE_URL,
		ASSAY_PORT: String(chosen),
		ASSAY_DATA_DIR: dataDir,
		ASSAY_LOG_LEVEL: ASSAY_LOG_LEVEL || "warn",
	});
}

/** Returns `port` if nothing listens on it. For port 0, returns any free port. */
function findFree(port: number, host: string): Promise<number | undefined> {
	return new Promise((done) => {
		const probe = createServer();
		probe.once("error", () => done(undefined));
		probe.listen(port, host, () => {
			const address = probe.address();
			const found = typeof address === "object" ? address?.port : undefined;
			probe.close(() => done(found));
		});
	});
}

/**
 * Turns PostgreSQL's durability off. The data is removed at the end anyway, and waiting for the
 * disk would take half of the time of the start.
 */
async function forgetDurability(connection: ClientConfig): Promise<void> {
	const client = new Client(connection);
	await client.connect();
	await client.query("alter system set fsync = off");
	await client.query("alter system set synchronous_commit = off");
	await client.query("select pg_reload_conf()");
	await client.end();
}
