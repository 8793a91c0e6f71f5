import type { Command } from "commander";
import { NAMES_WITHOUT_EFFECT, readConfig } from "../config.ts";
import { makeLogger } from "../log.ts";
import { VERSION } from "../version.ts";
import { print } from "./output.ts";

const FIRST_STEPS = `
Nothing is set up yet. In another terminal:
  npx assay org create --name "My company"
  npx assay device create --org <the id it printed> --name my-laptop
and give the enrollment token to the agent on that device.
`;

export function addStart(program: Command): void {
	program
		.command("start")
		.description(
			"Start the service; Ctrl-C or SIGTERM stops it after it has finished its work.",
		)
		.option("--json", "print the address as JSON once it is ready")
		.action(async (options: { json?: boolean }) => {
			const config = readConfig(process.env);
			const log = makeLogger(config.logLevel);
			for (const name of NAMES_WITHOUT_EFFECT) {
				if (process.env[name])
					log.warn(`${name} has no effect in this version`);
			}
			const stopped = waitForSignal();
			// Only now: the other commands start twice as fast without the HTTP server's code.
			const { serve } = await import("../serve.ts");
			const service = await serve(config, log);
			const address = config.port === 0 ? service.url : config.baseUrl;
			print(
				options,
				{ url: address, listening: service.url, pid: process.pid },
				`Assay ${VERSION} is ready at ${address}
  listening on  ${service.url}
  database      ${service.database}
  agents use    ${address}/api/agent/v1
${service.isEmpty ? FIRST_STEPS : ""}`,
			);
			log.info({ signal: await stopped }, "stopping");
			await service.close();
			log.info("stopped");
			// What may still be open (a log pipe) must not hold the process.
			process.exit(0);
		});
}

/** Resolves with the first signal to stop; the second ends the process at once. */
function waitForSignal(): Promise<NodeJS.Signals> {
	return new Promise((resolve) => {
		let isStopping = false;
		for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) {
			process.on(signal, () => {
				if (isStopping) process.exit(1);
				isStopping = true;
				resolve(signal);
			});
		}
	});
}
