import type { Command } from "commander";
import type { Demo } from "../demo/start.ts";
import { makeLogger } from "../log.ts";
import { ignoreUserSignals } from "./harmless-signals.ts";
import { print } from "./output.ts";
import { wholeNumber } from "./simulate.ts";
import { whenInterrupted } from "./until-signal.ts";

const DEVICES = 200;
const MAX_DEVICES = 2_000;

interface Options {
	port?: number;
	devices: number;
	json?: boolean;
}

export function addDemo(program: Command): void {
	program
		.command("demo")
		.description(
			"Start the service with an example organization, simulated devices and this machine as a real device, on a database that is deleted at the end.",
		)
		.option(
			"--port <port>",
			"port to listen on (default: 8080, or a free port if that is taken)",
			wholeNumber(0, 65_535),
		)
		.option(
			"--devices <count>",
			"number of simulated devices",
			wholeNumber(1, MAX_DEVICES),
			DEVICES,
		)
		.option("--json", "print the address, users and API token as JSON")
		.action(async (options: Options) => {
			const stop = whenInterrupted();
			ignoreUserSignals(makeLogger("info"));
			const begun = performance.now();
			const tell = (line: string) => process.stderr.write(`${line}\n`);
			const { startDemo } = await import("../demo/start.ts");
			const demo = await startDemo({
				port: options.port,
				devices: options.devices,
				signal: stop,
				tell,
			}).catch((error) => {
				if (stop.aborted) process.exit(0);
				throw error;
			});
			const seconds = (performance.now() - begun) / 1000;
			print(options, describeJson(demo), describe(demo, seconds));
			await new Promise<void>((resolve) => {
				if (stop.aborted) resolve();
				stop.addEventListener("abort", () => resolve(), { once: true });
			});
			tell("Stopping and removing the demonstration's database …");
			await demo.close();
			process.exit(0);
		});
}

function mcpConfiguration({ url, apiToken }: Demo) {
	return {
		mcpServers: {
			assay: {
				type: "http",
				url: `${url}/api/mcp/v1`,
				headers: { Authorization: `Bearer ${apiToken}` },
			},
		},
	};
}

function describeJson(demo: Demo) {
	return {
		url: demo.url,
		listening: demo.listening,
		pid: process.pid,
		organization_id: demo.organizationId,
		devices: demo.devices,
		logins: demo.logins,
		api_token: demo.apiToken,
		mcp_configuration: mcpConfiguration(demo),
	};
}

function describe(demo: Demo, seconds: number): string {
	const logins = demo.logins.map(
		({ role, email, password }) =>
			`  ${role.padEnd(7)} ${email.padEnd(32)} ${password}`,
	);
	return `
Assay demo, ready after ${seconds.toFixed(1)} s. Everything in it is invented, and it is deleted
when you stop the demo with Ctrl-C.

  Open  ${demo.url}

Sign in as
${logins.join("\n")}

What to try
  - Home: which checks fail, since when, and what is overdue. It changes while you look:
    ${demo.devices} simulated devices send heartbeats each minute and reports every five.
  - Devices: filter by a failing check; open one and see its history of months. The one
    called "This machine" is this computer: a real agent checks it.
  - Devices, filter Conflict: two machines with one hardware id, and a key that was copied.
  - Risks, the matrix, the framework's coverage, and what is linked to what.
  - Sign in as the viewer: everything can be read, nothing changed.
  - Settings, Audit log: who did what, and the chain that shows tampering.

An AI client with the administrator's rights
  claude mcp add --transport http assay ${demo.url}/api/mcp/v1 --header "Authorization: Bearer ${demo.apiToken}"
or in its configuration
${JSON.stringify(mcpConfiguration(demo), null, 2).replace(/^/gm, "  ")}
and ask it: Which devices fail disk encryption, and who owns them?

The same by hand
  export ASSAY_TOKEN=${demo.apiToken}
  curl -H "Authorization: Bearer $ASSAY_TOKEN" ${demo.url}/api/mcp/tools/listOrganizations
`;
}
