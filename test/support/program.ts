import { type ChildProcess, execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { firstLine } from "./child.ts";

const ROOT = join(import.meta.dirname, "../..");
export const PROGRAM = join(ROOT, "bin/assay.js");

export interface Ended {
	code: number | null;
	stdout: string;
	stderr: string;
}

/** Returns `settings` and the environment without any other settings of Assay. */
export function withSettings(settings: Record<string, string>) {
	const inherited = Object.entries(process.env).filter(
		([name]) => !name.startsWith("ASSAY_") && name !== "DATABASE_URL",
	);
	return {
		...Object.fromEntries(inherited),
		// Without this setting, the program would generate a secret and store it in the checkout.
		ASSAY_SECRET: "what the sessions of the tests are signed with",
		...settings,
	};
}

/** Runs the real program to its end, with `input` as its standard input. */
export function assay(
	args: string[],
	settings: Record<string, string> = {},
	input = "",
	node: string = process.execPath,
): Promise<Ended> {
	return new Promise((resolve) => {
		const child = execFile(
			node,
			[PROGRAM, ...args],
			{ env: withSettings(settings), cwd: ROOT },
			(_, stdout, stderr) => resolve({ code: child.exitCode, stdout, stderr }),
		);
		child.stdin?.end(input);
	});
}

export interface Started {
	url: string;
	/** The program prints it only while nobody has an account. */
	setupUrl: string | undefined;
	/** The program prints it only if ASSAY_METRICS_PORT is set. */
	metricsUrl: string | undefined;
	process: ChildProcess;
	/** The process id of the service itself, even if npm has started it. */
	pid: number;
	stderr: () => string;
	/** Sends the signal to the service. Returns the exit code of the program that was started. */
	stop: (signal: NodeJS.Signals) => Promise<number | null>;
}

/**
 * Starts the real service on a free port. With `npm`, the command is `npm start`. It runs in its
 * own process group, which receives signals as from a terminal.
 */
export async function startAssay(
	settings: Record<string, string>,
	how: { npm?: boolean; workers?: number; copy?: boolean } = {},
): Promise<Started> {
	const [command, args] = how.npm
		? ["npm", ["start", "--silent", "--", "--json"]]
		: [
				process.execPath,
				[
					...[PROGRAM, "start", "--json", `--workers=${how.workers ?? 1}`],
					...(how.copy ? ["--copy"] : []),
				],
			];
	const child = spawn(command as string, args as string[], {
		env: withSettings({ ASSAY_PORT: "0", ...settings }),
		cwd: ROOT,
		detached: how.npm ?? false,
		stdio: ["ignore", "pipe", "pipe"],
	});
	let stderr = "";
	child.stderr.setEncoding("utf8").on("data", (text) => {
		stderr += text;
	});
	const exit = once(child, "exit");
	const line = await firstLine(child);
	const { url, pid, setup_url, metrics_url } = JSON.parse(line) as {
		url: string;
		pid: number;
		setup_url?: string;
		metrics_url?: string;
	};
	return {
		url,
		setupUrl: setup_url,
		metricsUrl: metrics_url,
		pid,
		process: child,
		stderr: () => stderr,
		stop: async (signal) => {
			process.kill(how.npm ? -(child.pid as number) : pid, signal);
			const [code] = await exit;
			return code;
		},
	};
}
