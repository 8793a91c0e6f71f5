import cluster from "node:cluster";
import type { Logger } from "pino";
import { ensureConsole, findBuiltConsole } from "../../console/ensure-build.ts";
import { AppError } from "../errors.ts";
import { type ConsoleFiles, readConsoleFiles } from "../http/console-files.ts";

/**
 * Builds the console if necessary, in one process for all workers. A failure is logged and does not
 * stop the service, which serves devices and AI clients without a console.
 */
export async function buildWebConsole(log: Logger): Promise<void> {
	// Standard output is for the result, which may be JSON.
	const tell = (line: string) => process.stderr.write(`${line}\n`);
	await ensureConsole(tell).catch((err) =>
		log.error({ err }, "the web console could not be built"),
	);
}

/** Returns the console to serve, or a sentence that says why there is none. */
export async function openWebConsole(
	log: Logger,
): Promise<ConsoleFiles | string> {
	try {
		if (cluster.isPrimary) await buildWebConsole(log);
		return await readConsoleFiles(await findBuiltConsole());
	} catch (error) {
		log.error({ err: error }, "the service has no web console");
		return error instanceof AppError
			? error.message
			: "the web console cannot be read; the service's log says why";
	}
}
