import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const PROGRAM = join(import.meta.dirname, "../../bin/assay.js");
const STOP_MS = 3_000;

/**
 * Enrolls this machine with the real agent, which then reports what it finds here. The agent stores
 * everything in `folder`. An error is only printed, because it must not stop the demonstration.
 */
export function enrollThisMachine(options: {
	url: string;
	token: string;
	folder: string;
	tell: (line: string) => void;
}): { stop: () => Promise<void> } {
	let child: ChildProcess | undefined;
	let isStopping = false;
	const start = async (args: string[], env: NodeJS.ProcessEnv = {}) => {
		child = spawn(process.execPath, [PROGRAM, "agent", ...args], {
			env: { ...withoutSettings(), ...env },
			stdio: ["ignore", "ignore", "pipe"],
		});
		let said = "";
		child.stderr?.setEncoding("utf8").on("data", (text) => {
			said = (said + text).slice(-500);
		});
		const [code] = await once(child, "exit");
		if (code !== 0 && !isStopping) throw new Error(said.trim());
	};
	const life = async () => {
		const dir = ["--dir", options.folder];
		await start(["install", "--server", options.url, "--no-service", ...dir], {
			ASSAY_ENROLLMENT_TOKEN: options.token,
		});
		if (!isStopping) await start(["run", ...dir]);
	};
	const ended = life().catch((error: Error) =>
		options.tell(`This machine does not report: ${error.message}`),
	);
	return {
		stop: async () => {
			isStopping = true;
			child?.kill("SIGTERM");
			const killing = setTimeout(() => child?.kill("SIGKILL"), STOP_MS);
			await ended;
			clearTimeout(killing);
		},
	};
}

/**
 * Returns the environment without Assay's settings, which are meant for the service. Proxies are
 * also left out, because they serve addresses outside this machine.
 */
function withoutSettings(): NodeJS.ProcessEnv {
	return Object.fromEntries(
		Object.entries(process.env).filter(
			([name]) => !name.startsWith("ASSAY_") && !/_proxy$/i.test(name),
		),
	);
}
