import cluster from "node:cluster";
import type { Logger } from "pino";
import { ensureConsole, findBuiltConsole } from "../../console/ensure-build.ts";
import { AppError } from "../errors.ts";
import { type ConsoleFiles, readConsoleFiles } from "../http/console-files.ts";

/**
 * Builds the console if necessary. Only one process does this for all workers. An error is logged
 * and does not stop the service, which can serve devices and AI clients without a console.
 */
export async function buildWebConsole(log: Logger): Promise<void> {
	// Progress goes to standard error. Standard output is for the command's result, which may be
	// JSON.
	const tell = (line: string) => process.stderr.write(`${line}\n`);
	await ensureConsole(tell).catch((err) =>
		log.error({ err }, "the web console could not be built"),
	);
}

/** Returns the console's files, or a message that says why there are none. */
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
