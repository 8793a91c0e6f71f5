import cluster from "node:cluster";
import type { Command } from "commander";
import { Client, type ClientConfig } from "pg";
import type { Logger } from "pino";
import { type Config, readConfig } from "../config/config.ts";
import { openServer } from "../db/database.ts";
import type { TellStep } from "../db/migrate.ts";
import { AppError } from "../errors.ts";
import { makeLogger } from "../log.ts";
import { makeSetupLink } from "../organizations/first-setup.ts";
import type { Service } from "../serve.ts";
import { SETUP_LINK_HOURS } from "../sign-in/link-hours.ts";
import { traceFields } from "../tracing/current.ts";
import { readTracing, type TracingSettings } from "../tracing/settings.ts";
import { COMMAND, VERSION } from "../version.ts";
import { parseWorkers } from "./choose-workers.ts";
import { configOfCopy } from "./copy.ts";
import { ignoreUserSignals, reloadLogLevel } from "./harmless-signals.ts";
import { collectGarbageWhenIdle } from "./idle-garbage.ts";
import { print } from "./output.ts";
import { reportStart } from "./progress.ts";
import { takeNotifySocket, tellReady, tellStatus } from "./readiness.ts";
import { whenNpmEnds } from "./started-by-npm.ts";
import { buildWebConsole, openWebConsole } from "./web-console.ts";
import { withDatabase } from "./with-database.ts";
import { startWorkers, type WorkerReady } from "./workers.ts";

const firstSteps = (setupUrl: string) => `
Nothing is set up yet. Open this link within ${SETUP_LINK_HOURS} hours to create the first user and organization.
It works once, and \`${COMMAND} setup-link\` prints a new one:

  ${setupUrl}

Or with commands, in another terminal:
  ${COMMAND} org create --name "My company"
  ${COMMAND} user create --name "Ada" --email ada@example.com --org <the id it printed> --role admin
  ${COMMAND} api-token create --user ada@example.com --name "My AI client"
and connect a client with that token (docs/mcp.md), or give a device an enrollment token:
  ${COMMAND} device create --org <id> --name my-laptop
`;

/** Longest time that closing may take after a crash. An orderly close takes less time. */
const CRASH_CLOSE_MS = 20_000;

interface StartOptions {
	workers: number;
	copy?: boolean;
	json?: boolean;
}

export function addStart(program: Command): void {
	program
		.command("start")
		.description(
			"Start the service; Ctrl-C or SIGTERM stops it after it has finished its work.",
		)
		.option(
			"--workers <count>",
			"number of processes that share the work of a large fleet, or auto: one for two cores, at most 4, if the memory is enough",
			parseWorkers,
			1,
		)
		.option(
			"--copy",
			"serve a restored backup beside the service, only for people on this machine: it sends no mail, webhook or message, writes no archive and serves no metrics",
		)
		.option("--json", "print the address as JSON when the service is ready")
		.action(async (options: StartOptions) => {
			const notifySocket = takeNotifySocket();
			const given = readConfig(process.env);
			const config = options.copy ? configOfCopy(given) : given;
			const traces = readTracing(process.env);
			const log = makeLogger(config.logLevel, traces && traceFields);
			ignoreUserSignals(log);
			reloadLogLevel(log);
			const stopped = waitForSignal();
			const progress = reportStart(
				log,
				notifySocket ? (text) => tellStatus(notifySocket, text) : undefined,
			);
			const service = await startService(
				config,
				log,
				options.workers,
				traces,
				progress.tell,
			).finally(progress.done);
			const { close, prepareClose, ...ready } = service;
			if (cluster.isWorker) process.send?.(ready);
			else await announce(options, config, ready, log);
			if (notifySocket) void tellReady(notifySocket, log);
			stopAfterCrash(log, close);
			collectGarbageWhenIdle();
			log.info({ signal: await stopped }, "stopping");
			await prepareClose();
			try {
				await close();
			} catch (error) {
				const cause =
					error instanceof AppError
						? { reason: error.message }
						: { err: error };
				log.fatal(cause, "Assay could not stop properly");
				process.exit(1);
			}
			log.info("stopped");
			// Something that is still open, such as a pipe of the log, would keep the process alive.
			process.exit(0);
		});
}

/**
 * Closes the service and its embedded database after an error that nobody caught, and then ends the
 * process with exit code 1. If a second such error occurs, or if closing takes too long, the
 * process ends immediately.
 */
function stopAfterCrash(log: Logger, close: () => Promise<void>): void {
	let isClosing = false;
	process.on("uncaughtException", (err) => {
		log.fatal({ err }, "stopping after an unexpected error");
		if (isClosing) process.exit(1);
		isClosing = true;
		setTimeout(() => process.exit(1), CRASH_CLOSE_MS);
		close().finally(() => process.exit(1));
	});
}

async function startService(
	config: Config,
	log: Logger,
	workers: number,
	traces: TracingSettings | undefined,
	tell: TellStep,
): Promise<Service> {
	if (workers > 1 && cluster.isPrimary) {
		log.info({ workers }, "starting the processes of the service");
		await buildWebConsole(log);
		tell("waiting for the processes of the service");
		const service = await startWorkers(workers, log);
		if (config.metricsPort === undefined) return service;
		const { openWorkersMetrics } = await import("../metrics/open.ts");
		const metrics = await openWorkersMetrics(config, log);
		return {
			...service,
			metricsUrl: metrics.url,
			close: async () => {
				await metrics.close();
				await service.close();
			},
		};
	}
	// The embedded PostgreSQL starts in processes of its own while this one loads the rest. The
	// console comes first, because reading files lets the start of PostgreSQL continue, and loading
	// code does not. On a busy machine loading may take longer than a connection may, so nothing
	// connects to a database elsewhere yet.
	const opening = config.databaseUrl ? undefined : openServer(config, tell);
	// `serve` reports an error. Without a listener, it would end the process before that.
	opening?.then(
		() => tell("loading the program"),
		() => {},
	);
	const webConsole = await openWebConsole(log);
	// The import is late, because the other commands start twice as fast without the HTTP server's
	// code.
	const { serve } = await import("../serve.ts");
	return serve(config, log, webConsole, traces, opening, tell);
}

async function announce(
	options: { json?: boolean },
	config: Config,
	ready: WorkerReady,
	log: Logger,
): Promise<void> {
	const address = config.port === 0 ? ready.url : config.baseUrl;
	// The parent process makes the link. If every worker made one, each link would invalidate that of
	// the previous worker.
	const setupUrl = ready.isEmpty
		? await withDatabase(async ({ pool, ownerConnection }) => {
				await warnOfLoss(ownerConnection, config, log);
				return await makeSetupLink(pool, address);
			})
		: undefined;
	print(
		options,
		{
			url: address,
			listening: ready.url,
			pid: process.pid,
			...(ready.metricsUrl && { metrics_url: ready.metricsUrl }),
			...(setupUrl && { setup_url: setupUrl }),
		},
		`Assay ${VERSION} is ready at ${address}
  listening on  ${ready.url}
  database      ${ready.database}
  agents use    ${address}/api/agent/v1
${ready.metricsUrl ? `  metrics       ${ready.metricsUrl}\n` : ""}${setupUrl ? firstSteps(setupUrl) : ""}`,
	);
}

/** Warns if the last backup is that of a database that had organizations. */
async function warnOfLoss(
	connection: ClientConfig,
	config: Config,
	log: Logger,
): Promise<void> {
	const { backupPlaces, warnOfLostOrganizations } = await import(
		"./doctor-backup.ts"
	);
	const { BACKUP_FOLDER } = await import("../backup/file.ts");
	const client = new Client(connection);
	await client.connect();
	try {
		const places = backupPlaces(BACKUP_FOLDER, config);
		await warnOfLostOrganizations(client, places, log);
	} finally {
		await client.end();
	}
}

/**
 * Resolves with the name of the first signal to stop. A second signal ends the process immediately,
 * except in a worker. A worker may get two signals for one stop, from the terminal and from the
 * parent process.
 */
function waitForSignal(): Promise<string> {
	return new Promise((resolve) => {
		let isStopping = false;
		if (cluster.isPrimary) whenNpmEnds(() => resolve("the end of npm"));
		for (const signal of ["SIGTERM", "SIGINT"] as const) {
			process.on(signal, () => {
				if (isStopping && cluster.isPrimary) process.exit(1);
				isStopping = true;
				resolve(signal);
			});
		}
	});
}
